"""The picture names every curve, in text."""

from xml.etree import ElementTree

from study_applications import of_the_paper
from understudy.study.application import BEYOND, PAPER
from understudy.study.application_figure import write_densities


def test_the_picture_names_every_curve_in_text(tmp_path):
    write_densities(of_the_paper(), tmp_path)
    picture = ElementTree.parse(tmp_path / "densities.svg")
    texts = {
        "".join(element.itertext()).strip() for element in picture.iter() if "text" in element.tag
    }
    assert {each.label for each in (*PAPER, *BEYOND)} <= texts
    assert {"As in the paper", "Beyond the paper", "Data", "Salary, dollars a year"} <= texts
    assert (tmp_path / "densities.png").read_bytes().startswith(b"\x89PNG")
