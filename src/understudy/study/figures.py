"""Every figure of the study, as PNG and SVG."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from understudy.study import figure_style, violins
from understudy.study.arms import ANALYSES, LABELS, STATISTICS, Results, true_value
from understudy.study.catalogue import DOWNSCALING, EPSILONS, FIGURES, Panel, ViolinFigure

_ROW = 0.33
"""Inches for each row of a panel; margins and gaps are in inches, too."""
_LABELS, _RIGHT, _BESIDE = 1.62, 0.16, 0.19
_TITLE, _AXIS = 0.32, 0.52
_ACROSS = figure_style.WIDTH - _LABELS - _RIGHT
_WRAPPED = {
    "unweighted": "Unweighted\n(no privacy)",
    "ph-sqrt": "PH, √n bins\n(DP)",
    "anchored-history": "Anchored,\nhistory (DP)",
    "anchored-ladder": "Anchored,\nladder (DP)",
}
"""Names of what is not in the paper, which would leave no room for the violins on one line."""


def write_figures(results: Results, directory: Path) -> None:
    """Write every figure of violins into the directory."""
    with figure_style.style():
        for figure in FIGURES.values():
            figure_style.save(draw(figure, results), directory, figure.name, figure.title)


def draw(figure: ViolinFigure, results: Results) -> Figure:
    """Return a figure with a panel for each ε side by side, or one for each c₁ one below another.

    All panels share their scale.
    """
    panels = figure.layout.panels
    rows = [_violins(figure, panel, results) for panel in panels]
    lines = [_line(figure, panel) for panel in panels]
    positions = violins.Positions.of(rows[0])
    limits = violins.limits(rows, lines)
    canvas, all_axes = _axes(figure, positions)
    for index, axes in enumerate(all_axes):
        violins.panel(axes, rows[index], positions, line=lines[index], limits=limits)
        axes.set_title(panels[index].title, loc="left", pad=5)
        if index == 0 or figure.layout is DOWNSCALING:
            violins.name_rows(axes, rows[index], positions)
        else:
            violins.leave_names_to_the_left(axes)
        _ticks(axes, limits, beside=figure.layout is EPSILONS)
    if figure.layout is DOWNSCALING:
        all_axes[0].tick_params(labelbottom=False)
    label = STATISTICS[figure.statistic]
    if "ecdf" in figure.statistic:
        label += " (smaller is better)"
    middle = (_LABELS + _ACROSS / 2) / figure_style.WIDTH
    canvas.text(middle, 0.06 / canvas.get_size_inches()[1], label, ha="center")
    return canvas


def _violins(figure: ViolinFigure, panel: Panel, results: Results) -> list[violins.Violin]:
    labels = {mechanism: LABELS[mechanism] for mechanism in figure.mechanisms}
    labels |= {mechanism: _WRAPPED[mechanism] for mechanism in figure.beyond}
    return [
        violins.Violin(
            label=label,
            colour=figure_style.COLOURS[mechanism],
            beyond=mechanism in figure.beyond,
            values=results.values(mechanism, figure.statistic, epsilon=panel.epsilon, c1=panel.c1),
        )
        for mechanism, label in labels.items()
    ]


def _line(figure: ViolinFigure, panel: Panel) -> float | None:
    if figure.statistic == "lipschitz_bound":
        return panel.epsilon / 2
    return true_value(figure.statistic) if figure.statistic in ANALYSES else None


def _axes(figure: ViolinFigure, positions: violins.Positions) -> tuple[Figure, list[Axes]]:
    """Return axes of equal size at measured places, which no layout engine has to search for."""
    count = len(figure.layout.panels)
    height = _ROW * (positions.depth + 0.5)
    width, across, below = _ACROSS, 0.0, _TITLE + height
    if figure.layout is not DOWNSCALING:
        width = (_ACROSS - (count - 1) * _BESIDE) / count
        across, below = width + _BESIDE, 0.0
    canvas = figure_style.blank((count if below else 1) * (_TITLE + height) + _AXIS)
    return canvas, [
        figure_style.place(
            canvas,
            left=_LABELS + k * across,
            bottom=_AXIS + (count - 1 - k) * below,
            width=width,
            height=height,
        )
        for k in range(count)
    ]


def _ticks(axes: Axes, limits: tuple[float, float], *, beside: bool) -> None:
    """Set a few round ticks; beside another panel none so far right that its label would touch."""
    low, high = limits
    last = high - 0.08 * (high - low) if beside else high
    ticks = MaxNLocator(4 if beside else 7, steps=[1, 2, 5, 10]).tick_values(low, high)
    axes.set_xticks([tick for tick in ticks if low <= tick <= last])
