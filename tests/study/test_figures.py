"""Every figure shows its rows, its panels and every value, and no label touches another."""

import itertools
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from scipy import stats

from study_results import R
from understudy.study import figure_style, illustration
from understudy.study.arms import ANALYSES, LABELS, true_value
from understudy.study.catalogue import FIGURES
from understudy.study.figures import (
    Violin,
    density,
    depth,
    draw,
    first_beyond,
    has_density,
    limits,
    violins,
)


def test_every_figure_is_there_in_both_formats(written):
    names = {*FIGURES, illustration.NAME}
    for ending in ("png", "svg"):
        assert {path.stem for path in (written / "figures").glob(f"*.{ending}")} == names


def texts(path):
    root = ElementTree.parse(path).getroot()
    return {"".join(node.itertext()).strip() for node in root.iter() if node.tag.endswith("}text")}


@pytest.mark.parametrize("figure", FIGURES.values(), ids=FIGURES)
def test_a_figure_names_its_rows_and_panels_in_text_that_stays_text(written, figure):
    found = texts(written / "figures" / f"{figure.name}.svg")
    assert {LABELS[mechanism] for mechanism in figure.mechanisms} <= found
    assert {panel.title for panel in figure.layout.panels} <= found
    assert ("Not in the paper:" in found) == bool(figure.beyond)


@pytest.mark.parametrize("figure", FIGURES.values(), ids=FIGURES)
def test_a_figure_shows_every_value_and_the_dashed_line_of_its_caption(results, figure):
    canvas = draw(figure, results)
    for axes, panel in zip(canvas.axes, figure.layout.panels, strict=True):
        dashed = [line.get_xdata()[0] for line in axes.lines if line.is_dashed()]
        if figure.statistic == "lipschitz_bound":
            assert dashed == [panel.epsilon / 2]
        elif figure.statistic in ANALYSES:
            assert dashed == [pytest.approx(true_value(figure.statistic))]
        else:
            assert dashed == []
        assert bool(dashed) == ("Dashed" in figure.caption(R))
        low, high = axes.get_xlim()
        for mechanism in (*figure.mechanisms, *figure.beyond):
            values = results.values(mechanism, figure.statistic, epsilon=panel.epsilon, c1=panel.c1)
            assert low < values.min() <= values.max() < high


@pytest.mark.parametrize("name", ["avg-ecdf", "mean", "q15", "downscaling-q15"])
def test_no_label_touches_another_or_is_cut_off(results, name):
    with figure_style.style():
        figure = draw(FIGURES[name], results)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
    renderer = canvas.get_renderer()
    labels = [
        text.get_window_extent(renderer)
        for axes in figure.axes
        for text in (*axes.get_xticklabels(), *axes.get_yticklabels(), axes.title, *axes.texts)
        if text.get_text() and text.get_visible()
    ]
    width, height = figure.bbox.size
    assert all(box.x0 >= 0 and box.x1 <= width for box in labels)
    assert all(box.y0 >= 0 and box.y1 <= height for box in labels)
    assert not any(one.overlaps(other) for one, other in itertools.combinations(labels, 2))


def test_a_violin_is_the_kernel_density_of_its_values():
    values = np.random.default_rng(1).normal(size=200)
    grid, heights = density(values)
    bandwidth = 0.9 * min(values.std(ddof=1), stats.iqr(values) / 1.34) * 200**-0.2
    expected = [stats.norm.pdf(at, values, bandwidth).mean() for at in grid]
    np.testing.assert_allclose(heights, expected)
    assert (grid[0], grid[-1]) == (values.min(), values.max())


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.full(100, 2.5), False),
        (np.array([1.0]), False),
        (np.array([1.0, 2.0, 3.0]), False),
        (np.linspace(1, 2, 50), True),
        (np.r_[np.full(75, 2.0), np.linspace(1, 2, 25)], True),
    ],
)
def test_only_values_that_spread_have_a_density(values, expected):
    assert has_density(values, span=2.0) == expected
    if expected:
        assert np.isfinite(density(values)[1]).all()


def violin(*values):
    return Violin(at=0.0, label="", colour="", beyond=False, values=np.array(values))


def test_rows_stand_from_the_top_down_with_a_gap_before_those_not_in_the_paper(results):
    figure = FIGURES["max-ecdf"]
    rows = violins(figure, figure.layout.panels[0], results)
    at, last = [row.at for row in rows], len(figure.mechanisms) - 1
    assert at[1] - at[0] == 1
    assert at[last + 1] - at[last] > 1
    assert at[last] < first_beyond(rows) < at[last + 1] < at[-1] < depth(rows)
    assert first_beyond(rows[: last + 1]) is None
    assert [row.label for row in rows if row.beyond][:2] == [
        "Unweighted\n(no privacy)",
        "PH, √n bins\n(DP)",
    ]


def test_limits_leave_room_around_every_value_and_line():
    low, high = limits([[violin(1.0, 2.0)], [violin(4.0)]], [5.0, None])
    assert low < 1
    assert high > 5
    low, high = limits([[violin(0.0)]], [None])
    assert low < 0 < high
