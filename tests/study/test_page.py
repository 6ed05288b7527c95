"""The page: everything once, links that lead somewhere, and words that follow from the numbers."""

import json
import re

import pytest

from study_results import SETTINGS, changed, made_up
from understudy.errors import BadInput
from understudy.study import illustration
from understudy.study.arms import Results
from understudy.study.catalogue import FIGURES
from understudy.study.figures import draw
from understudy.study.page import write_index, write_outputs


def test_links_of_the_page_lead_to_files_beside_it(written):
    page = (written / "index.html").read_text(encoding="utf-8")
    links = set(re.findall(r'(?:href|src)="([^"#][^"]*)"', page))
    assert links
    for link in links:
        assert (written / link).is_file(), link


def test_anchors_of_the_page_lead_somewhere(written):
    page = (written / "index.html").read_text(encoding="utf-8")
    targets = re.findall(r' id="([^"]+)"', page)
    assert len(targets) == len(set(targets))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(targets)


def test_the_page_says_what_was_run(written):
    page = (written / "index.html").read_text(encoding="utf-8")
    assert "<dt>Replicates</dt><dd>100</dd>" in page
    assert "<dt>Sampler</dt><dd>quadrature</dd>" in page
    assert json.loads((written / "study.json").read_text()) == SETTINGS


def test_the_page_says_differs_where_the_numbers_do(frame, written, tmp_path):
    far = changed(
        frame, lambda v: v + 0.5, mechanism="censor-w", epsilon=4.0, statistic="lipschitz_bound"
    )
    for name in ("study.json", "illustration.csv"):
        (tmp_path / name).write_bytes((written / name).read_bytes())
    far.frame.to_parquet(tmp_path / "results.parquet")
    write_index(tmp_path)
    differs = r"<b>Differs:</b> The bounds of Censor_w and Censor_uw exceed ε/2 by up to 0\.500"
    assert re.search(differs, (tmp_path / "index.html").read_text(encoding="utf-8"))
    assert not re.search(differs, (written / "index.html").read_text(encoding="utf-8"))


def test_the_application_is_included_once_it_has_been_run(written):
    write_index(written)
    page = (written / "index.html").read_text(encoding="utf-8")
    assert "<code>understudy study application</code>" in page
    folder = written / "application"
    folder.mkdir()
    (folder / "section.html").write_text(
        '<section id="application"><p>Done &amp; dusted</p></section>'
    )
    try:
        write_index(written)
        page = (written / "index.html").read_text(encoding="utf-8")
        assert "<p>Done &amp; dusted</p>" in page
        assert "<code>understudy study application</code>" not in page
    finally:
        (folder / "section.html").unlink()
        folder.rmdir()
        write_index(written)


def test_the_application_alone_makes_a_page_that_asks_for_the_simulation(tmp_path):
    (tmp_path / "application").mkdir()
    (tmp_path / "application" / "section.html").write_text("<section>Done</section>")
    write_index(tmp_path)
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "<section>Done</section>" in page
    assert "<code>understudy study</code>" in page
    assert "<img" not in page


@pytest.mark.parametrize("replicates", [1, 3])
def test_few_replicates_are_enough_for_a_page_and_are_drawn_as_points(
    written, tmp_path, replicates
):
    frame = made_up(replicates)
    frame.to_parquet(tmp_path / "results.parquet")
    (tmp_path / "illustration.csv").write_bytes((written / "illustration.csv").read_bytes())
    write_index(tmp_path)
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "<b>Open:</b>" in page
    assert not re.search(r"\bnan\b", page)
    for figure in FIGURES.values():
        for axes in draw(figure, Results(frame)).axes:
            drawn = [line for line in axes.lines if not line.is_dashed()]
            assert len(drawn) == len(figure.mechanisms + figure.beyond)
            assert not axes.collections


def test_settings_that_are_not_json_are_refused(tmp_path):
    (tmp_path / "study.json").write_text("{")
    with pytest.raises(BadInput, match="is not JSON"):
        write_index(tmp_path)


def test_a_single_replicate_makes_every_file(tmp_path, monkeypatch, curves):
    monkeypatch.setattr(illustration, "compute", lambda: curves)
    few = {name: FIGURES[name] for name in ("lipschitz", "downscaling-q15")}
    monkeypatch.setattr("understudy.study.figures.FIGURES", few)
    write_outputs(made_up(1), {**SETTINGS, "replicates": 1}, tmp_path)
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    tables = {"table-1.csv", "table-supplement.csv", "utility.csv", "illustration.csv"}
    pictures = {f"figures/{n}.{end}" for n in (*few, illustration.NAME) for end in ("png", "svg")}
    assert found == {"index.html", "results.parquet", "study.json", *tables, *pictures}


def test_no_file_mentions_where_it_was_made(written):
    for path in written.rglob("*"):
        if path.is_file():
            assert str(written.parent).encode() not in path.read_bytes(), path.name
    assert "file:" not in (written / "index.html").read_text(encoding="utf-8")
