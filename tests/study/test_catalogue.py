"""The catalogue names each figure of the paper once, with the panels that it has there."""

from understudy.study import illustration
from understudy.study.arms import ANALYSES
from understudy.study.catalogue import (
    AFTER_APPLICATION,
    BEFORE_APPLICATION,
    DOWNSCALING,
    EPSILONS,
    FIGURES,
)


def test_downscaled_figures_have_the_confidential_data_only_where_it_has_a_value():
    for figure in FIGURES.values():
        assert ("data" in figure.mechanisms) == (figure.statistic in ANALYSES)
        if figure.layout is DOWNSCALING:
            assert [panel.c1 for panel in figure.layout.panels] == [1.0, 0.8]


def test_every_figure_of_the_paper_is_there_in_its_order():
    numbers = [figure.number for figure in FIGURES.values() if figure.number is not None]
    assert numbers == [*(str(k) for k in range(2, 9)), *(f"S{k}" for k in range(1, 11))]
    assert [name for name, figure in FIGURES.items() if figure.number is None] == ["mean"]


def test_titles_and_captions_say_what_is_drawn():
    assert FIGURES["lipschitz-unweighted"].title == "Lipschitz bound, Unweighted included"
    assert FIGURES["q90-at-5"].title == "90th percentile at ε = 5"
    assert FIGURES["median-at-5"].caption(1) == (
        "Median over one replicate at ε = 5. Dashed: the value of Beta(0.5, 3), from which the "
        "tables are drawn."
    )
    assert FIGURES["downscaling-max-ecdf"].caption(7) == (
        "max-ECDF over 7 replicates at ε = 4, with the weights as they are (top) and multiplied by "
        "c₁ = 0.8 (bottom). Smaller is better."
    )
    assert [panel.title for panel in EPSILONS.panels] == ["ε = 5", "ε = 4", "ε = 3"]


def test_the_page_shows_every_figure_and_table_once(written):
    page = (written / "index.html").read_text(encoding="utf-8")
    parts = BEFORE_APPLICATION | AFTER_APPLICATION
    shown = [name for shows in parts.values() for name in shows]
    assert len(shown) == len(set(shown))
    assert {*FIGURES, illustration.NAME, "table-1", "table-supplement", "utility"} == set(shown)
    for name in (*FIGURES, illustration.NAME):
        assert page.count(f'<img src="figures/{name}.svg" alt="') == 1
