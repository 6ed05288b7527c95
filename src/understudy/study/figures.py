"""Every figure of the study, as PNG and SVG."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from understudy.study import figure_style, violins
from understudy.study.arms import ANALYSES, LABELS, STATISTICS, Results, true_value
from understudy.study.catalogue import FIGURES, Layout, Panel, ViolinFigure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_ROW = 0.33
"""Inches for each row of a panel; margins and gaps are in inches, too."""
_LABELS, _RIGHT, _BESIDE = 1.62, 0.16, 0.19
_TITLE, _AXIS = 0.32, 0.52
_WRAPPED = {
    "unweighted": "Unweighted\n(no privacy)",
    "ph-sqrt": "PH, √n bins\n(DP)",
    "anchored-history": "Anchored,\nhistory (DP)",
    "anchored-ladder": "Anchored,\nladder (DP)",
}
"""Names that would not leave room for the violins on one line."""


def write_figures(results: Results, directory: Path) -> None:
    """Write every figure of violins into the directory."""
    with figure_style.style():
        for figure in FIGURES.values():
            figure_style.save(draw(figure, results), directory, figure.name, figure.title)


def draw(figure: ViolinFigure, results: Results) -> Canvas:
    """Return a figure with a panel for each ε side by side, or one for each c₁ one below another.

    All panels share their scale.
    """
    rows = [_rows(figure, panel, results) for panel in figure.panels]
    lines = [_line(figure, panel) for panel in figure.panels]
    beyond = [row.beyond for row in rows[0]]
    positions = violins.Positions.of(beyond)
    limits = violins.limits(rows, lines)
    canvas, all_axes = _axes(figure, positions)
    for index, axes in enumerate(all_axes):
        violins.panel(axes, rows[index], positions, line=lines[index], limits=limits)
        axes.set_title(figure.panels[index].title, loc="left", pad=5)
        if index == 0 or figure.layout is Layout.DOWNSCALING:
            violins.name_rows(axes, rows[index], positions)
        else:
            violins.no_names(axes)
            violins.rule(axes)
        _ticks(axes, limits, beside=figure.layout is Layout.EPSILONS)
    if figure.layout is Layout.DOWNSCALING:
        all_axes[0].tick_params(labelbottom=False)
    middle = (_LABELS + (figure_style.WIDTH - _LABELS - _RIGHT) / 2) / figure_style.WIDTH
    canvas.text(middle, 0.06 / canvas.get_size_inches()[1], _label(figure), ha="center")
    return canvas


def _rows(figure: ViolinFigure, panel: Panel, results: Results) -> list[violins.Violin]:
    return [
        violins.Violin(
            label=_WRAPPED.get(mechanism, LABELS[mechanism])
            if mechanism in figure.beyond
            else LABELS[mechanism],
            colour=figure_style.COLOURS[mechanism],
            beyond=mechanism in figure.beyond,
            values=results.values(mechanism, figure.statistic, epsilon=panel.epsilon, c1=panel.c1),
        )
        for mechanism in (*figure.mechanisms, *figure.beyond)
    ]


def _line(figure: ViolinFigure, panel: Panel) -> float | None:
    if figure.statistic == "lipschitz_bound":
        return panel.epsilon / 2
    return true_value(figure.statistic) if figure.statistic in ANALYSES else None


def _axes(figure: ViolinFigure, positions: violins.Positions) -> tuple[Canvas, list[Axes]]:
    """Return axes of equal size at measured places, which no layout engine has to search for."""
    count = len(figure.panels)
    height = _ROW * (positions.depth + 0.5)
    across = figure_style.WIDTH - _LABELS - _RIGHT
    if figure.layout is not Layout.DOWNSCALING:
        width = (across - (count - 1) * _BESIDE) / count
        canvas = figure_style.blank(_TITLE + height + _AXIS)
        return canvas, [
            figure_style.place(
                canvas,
                left=_LABELS + k * (width + _BESIDE),
                bottom=_AXIS,
                width=width,
                height=height,
            )
            for k in range(count)
        ]
    canvas = figure_style.blank(count * (_TITLE + height) + _AXIS)
    return canvas, [
        figure_style.place(
            canvas, left=_LABELS, bottom=_AXIS + k * (_TITLE + height), width=across, height=height
        )
        for k in reversed(range(count))
    ]


def _ticks(axes: Axes, limits: tuple[float, float], *, beside: bool) -> None:
    """Set a few round ticks; beside another panel none so far right that its label would touch."""
    from matplotlib.ticker import MaxNLocator

    low, high = limits
    last = high - 0.08 * (high - low) if beside else high
    ticks = MaxNLocator(4 if beside else 7, steps=[1, 2, 5, 10]).tick_values(low, high)
    axes.set_xticks([tick for tick in ticks if low <= tick <= last])


def _label(figure: ViolinFigure) -> str:
    name = STATISTICS[figure.statistic]
    return f"{name} (smaller is better)" if "ecdf" in figure.statistic else name
