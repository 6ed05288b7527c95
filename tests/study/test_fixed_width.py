"""Columns of fixed-width text are where a layout beside it says, or nowhere."""

import pytest

from study_doctorates import LAYOUTS, PLACES, check, published, refusal
from understudy.study.doctorates import read_doctorates
from understudy.study.fixed_width import Place, find_places


@pytest.mark.parametrize("layout", LAYOUTS)
def test_fixed_width_text_is_read_by_the_layout_beside_it(tmp_path, layout):
    check(read_doctorates(published(tmp_path, layout)))


def test_layouts_that_agree_may_lie_together_with_other_files_of_the_download(tmp_path):
    path = published(tmp_path)
    for name, text in LAYOUTS.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "Fpsd17.sas").write_text("FORMAT EDTP $CODES_R2_.;\nFORMAT AGEGRP AGES_3_.;")
    (tmp_path / "README.TXT").write_text("EDTP, NDGMENGP and 3 others.")
    check(read_doctorates(path))


def test_fixed_width_text_without_its_layout_is_refused(tmp_path):
    sentence = refusal(published(tmp_path, layout=None))
    assert "no file beside it says where its columns are" in sentence
    incomplete = "\n".join(LAYOUTS["LAYOUT.TXT"].splitlines()[:-1])
    (tmp_path / "LAYOUT.TXT").write_text(incomplete)
    assert "no file beside it says" in refusal(tmp_path / "EPSD17.DAT")


def test_layouts_that_disagree_are_refused_unless_one_is_named_like_the_data(tmp_path):
    path = published(tmp_path)
    other = LAYOUTS["load.sps"].replace("00002    - 00002", "00005    - 00005")
    (tmp_path / "load.sps").write_text(other)
    sentence = refusal(path)
    assert "LAYOUT.TXT and load.sps give different columns" in sentence
    (tmp_path / "epsd17.txt").write_text(LAYOUTS["LAYOUT.TXT"])
    check(read_doctorates(path))


def test_a_layout_that_places_a_variable_twice_says_nothing():
    names = list(PLACES)
    for text in LAYOUTS.values():
        assert find_places(text, names) == {name: Place(*PLACES[name]) for name in names}
    twice = LAYOUTS["LAYOUT.TXT"] + LAYOUTS["LAYOUT.TXT"].replace(
        "00002    00002", "00005    00005"
    )
    assert find_places(twice, names) is None
    assert find_places(LAYOUTS["load.sps"].replace("00001", "00000"), names) is None


def test_data_and_layout_of_different_lengths_do_not_belong_together(tmp_path):
    path = published(tmp_path)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], lines[1][:15], *lines[2:]]))
    sentence = refusal(path)
    assert "row 2 of" in sentence
    assert "do not belong together" in sentence
    path.write_text("\n\x1a")
    assert "has no records" in refusal(path)
