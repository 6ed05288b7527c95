"""The sections show every figure and table, each once."""

from understudy.study import illustration
from understudy.study.catalogue import FIGURES
from understudy.study.sections import AFTER_APPLICATION, BEFORE_APPLICATION


def test_the_page_shows_every_figure_and_table_once(written):
    page = (written / "index.html").read_text(encoding="utf-8")
    shown = [name for part in (*BEFORE_APPLICATION, *AFTER_APPLICATION) for name in part.shows]
    assert len(shown) == len(set(shown))
    assert {*FIGURES, illustration.NAME, "table-1", "table-supplement", "utility"} == set(shown)
    for name in (*FIGURES, illustration.NAME):
        assert page.count(f'<img src="figures/{name}.svg" alt="') == 1
