"""Figures come out the same every time, whatever the user's own settings are."""

import matplotlib

from understudy.report.svg import FONTS
from understudy.study import figure_style
from understudy.study.arms import LABELS
from understudy.study.catalogue import FIGURES
from understudy.study.figures import draw
from understudy.study.tables import write_tables


def test_the_same_results_give_the_same_files(written, results, tmp_path):
    write_tables(results, tmp_path)
    with figure_style.style():
        for name in ("lipschitz", "downscaling-mean"):
            figure = FIGURES[name]
            figure_style.save(draw(figure, results), tmp_path, name, figure.title)
    files = list(tmp_path.iterdir())
    assert len(files) == 7
    for path in files:
        first = next(written.rglob(path.name))
        assert path.read_bytes() == first.read_bytes(), path.name


def test_the_style_ends_with_its_block_and_ignores_the_user_s_own():
    with matplotlib.rc_context({"font.size": 3.0}):
        with figure_style.style():
            assert matplotlib.rcParams["font.size"] == 10.5
        assert matplotlib.rcParams["font.size"] == 3.0


def test_places_are_in_inches():
    figure = figure_style.blank(3.2)
    axes = figure_style.place(figure, left=1.6, bottom=0.8, width=3.2, height=1.6)
    assert axes.get_position().bounds == (0.25, 0.25, 0.5, 0.5)


def test_every_mechanism_has_a_colour_and_a_saved_text_the_reader_s_font(tmp_path):
    assert set(figure_style.COLOURS) == set(LABELS)
    with figure_style.style():
        figure = figure_style.blank(1.0)
        figure.text(0.5, 0.5, "a word")
        figure_style.save(figure, tmp_path, "word", "A title")
    text = (tmp_path / "word.svg").read_text(encoding="utf-8")
    assert "a word" in text
    assert FONTS in text
    assert "DejaVu" not in text
