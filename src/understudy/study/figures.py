"""Every figure of the study, as PNG and SVG: the distribution of a statistic over the replicates.

The rows run down a panel, one for each arm, so that the names can be read and the panels of
different ε compared row by row. A violin is a Gaussian kernel density between the smallest and the
largest value, each with its own height; a bar spans the quartiles and a dot marks the median. Too
few values, or values that cannot be told apart, have no density and are drawn as points.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from understudy.report.svg import FAINT, INK
from understudy.study import figure_style
from understudy.study.arms import ANALYSES, LABELS, STATISTICS, Results, Values, true_value
from understudy.study.catalogue import DOWNSCALING, EPSILONS, FIGURES, Panel, ViolinFigure
from understudy.study.figure_style import GROUND, SOFT

_ROW = 0.33
"""Inches for each row of a panel; margins and gaps are in inches, too."""
_LABELS, _RIGHT, _BESIDE = 1.62, 0.16, 0.19
_TITLE, _AXIS = 0.32, 0.52
_ACROSS = figure_style.WIDTH - _LABELS - _RIGHT
_WRAPPED = 12
"""Characters to a line in names of what is not in the paper, which leaves room for the violins."""
FEWEST_FOR_A_DENSITY = 10
_HALF_HEIGHT = 0.4
_POINTS = 96
_THINNEST = 0.03
"""Violins narrower than this share of their panel would be hidden behind their own median."""
_HEADING = 0.75
"""Rows that the heading above what is not in the paper takes."""
_DOTS: dict[str, Any] = {"linestyle": "none", "marker": "o", "markeredgecolor": INK}


class Violin(NamedTuple):
    """One row of a panel."""

    at: float
    """Its place, in rows from the top down, with a gap before those not in the paper."""
    label: str
    colour: str
    beyond: bool
    """Whether the paper's figure does not have it."""
    values: Values


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
    rows = [violins(figure, panel, results) for panel in panels]
    lines = [_line(figure, panel) for panel in panels]
    scale = limits(rows, lines)
    canvas, all_axes = _axes(figure, depth(rows[0]))
    for index, axes in enumerate(all_axes):
        _panel(axes, rows[index], lines[index], scale)
        axes.set_title(panels[index].title, loc="left", pad=5)
        if index == 0 or figure.layout is DOWNSCALING:
            _name_rows(axes, rows[index])
        else:
            # A rule between a panel and the one on its left, which names the rows.
            axes.set_yticks([])
            axes.spines["left"].set_visible(True)
            axes.spines["left"].set_color(FAINT)
        _ticks(axes, scale, beside=figure.layout is EPSILONS)
    if figure.layout is DOWNSCALING:
        all_axes[0].tick_params(labelbottom=False)
    label = STATISTICS[figure.statistic]
    if "ecdf" in figure.statistic:
        label += " (smaller is better)"
    middle = (_LABELS + _ACROSS / 2) / figure_style.WIDTH
    canvas.text(middle, 0.06 / canvas.get_size_inches()[1], label, ha="center")
    return canvas


def violins(figure: ViolinFigure, panel: Panel, results: Results) -> list[Violin]:
    """Return the rows of a panel, those that the paper has first."""
    labels = {mechanism: LABELS[mechanism] for mechanism in figure.mechanisms}
    for mechanism in figure.beyond:
        name = LABELS[mechanism] + (" (no privacy)" if mechanism == "unweighted" else "")
        labels[mechanism] = textwrap.fill(name, _WRAPPED)
    return [
        Violin(
            at=row + (_HEADING if mechanism in figure.beyond else 0.0),
            label=label,
            colour=figure_style.COLOURS[mechanism],
            beyond=mechanism in figure.beyond,
            values=results.values(mechanism, figure.statistic, epsilon=panel.epsilon, c1=panel.c1),
        )
        for row, (mechanism, label) in enumerate(labels.items())
    ]


def _line(figure: ViolinFigure, panel: Panel) -> float | None:
    if figure.statistic == "lipschitz_bound":
        return panel.epsilon / 2
    return true_value(figure.statistic) if figure.statistic in ANALYSES else None


def _axes(figure: ViolinFigure, rows: float) -> tuple[Figure, list[Axes]]:
    """Return axes of equal size at measured places, which no layout engine has to search for."""
    count = len(figure.layout.panels)
    height = _ROW * (rows + 0.5)
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


def depth(rows: Sequence[Violin]) -> float:
    """Return the lower edge of the last row."""
    return rows[-1].at + 0.5


def first_beyond(rows: Sequence[Violin]) -> float | None:
    """Return the upper edge of the part that is set apart."""
    return next((violin.at - _HEADING - 0.5 for violin in rows if violin.beyond), None)


def limits(
    panels: Sequence[Sequence[Violin]], lines: Sequence[float | None]
) -> tuple[float, float]:
    """Return a range that shows every value and every line of all panels."""
    values = [violin.values for rows in panels for violin in rows]
    everything = np.concatenate([*values, [line for line in lines if line is not None]])
    low, high = float(everything.min()), float(everything.max())
    margin = 0.04 * (high - low) or 0.05 * abs(high) or 1.0
    return low - margin, high + margin


def has_density(values: Values, span: float) -> bool:
    """Whether a violin could be seen in a panel that spans so much."""
    return values.size >= FEWEST_FOR_A_DENSITY and bool(np.ptp(values) > _THINNEST * span)


def density(values: Values) -> tuple[Values, Values]:
    """Return a grid from the smallest to the largest value and the kernel density on it.

    The bandwidth is Silverman's, with the standard deviation alone where the quartiles coincide.
    """
    quarter, three_quarters = np.quantile(values, [0.25, 0.75])
    spreads = (float(values.std(ddof=1)), float(three_quarters - quarter) / 1.34)
    bandwidth = 0.9 * min(s for s in spreads if s > 0) * values.size**-0.2
    grid = np.linspace(values.min(), values.max(), _POINTS)
    distances = (grid[:, None] - values[None, :]) / bandwidth
    heights = np.exp(-(distances**2) / 2).sum(axis=1)
    return grid, heights / (values.size * bandwidth * np.sqrt(2 * np.pi))


def _panel(
    axes: Axes, rows: Sequence[Violin], line: float | None, scale: tuple[float, float]
) -> None:
    """Draw the rows, and a dashed line at a value to compare them with."""
    span = scale[1] - scale[0]
    axes.set_xlim(scale)
    axes.set_ylim(depth(rows), -0.5)
    axes.tick_params(axis="y", length=0, left=False)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")
    if (edge := first_beyond(rows)) is not None:
        axes.axhspan(edge, depth(rows), color=GROUND, zorder=0, linewidth=0)
    if line is not None:
        axes.axvline(line, color=INK, linewidth=1.1, dashes=(5, 3), zorder=2)
    dense = [violin for violin in rows if has_density(violin.values, span)]
    for violin in rows:
        if not has_density(violin.values, span):
            _points(axes, violin, span)
    if dense:
        _densities(axes, dense)


def _points(axes: Axes, violin: Violin, span: float) -> None:
    """Draw every value, or one lozenge at the median for values that cannot be told apart."""
    values = violin.values
    together = values.size > 1 and np.ptp(values) <= _THINNEST * span
    shown = np.array([np.median(values)]) if together else values
    style = _DOTS | {"color": violin.colour, "markersize": 5.5, "markeredgewidth": 0.6, "zorder": 4}
    style |= {"marker": "D"} if together else {"alpha": 0.7}
    axes.plot(shown, np.full(shown.size, violin.at), **style)


def _densities(axes: Axes, dense: Sequence[Violin]) -> None:
    """Draw every violin, with its quartiles and its median, in one go."""
    collection = PolyCollection(
        [_outline(violin) for violin in dense],
        facecolors=[(violin.colour, 0.3 if violin.beyond else 0.85) for violin in dense],
        edgecolors=[violin.colour if violin.beyond else INK for violin in dense],
        linewidths=[1.4 if violin.beyond else 0.5 for violin in dense],
        zorder=3,
    )
    # The limits are known; searching for them along every outline takes longer than drawing it.
    axes.add_collection(collection, autolim=False)
    at = [violin.at for violin in dense]
    quartiles = [np.quantile(violin.values, [0.25, 0.5, 0.75]) for violin in dense]
    low, middle, high = np.transpose(quartiles)
    axes.hlines(at, low, high, color=INK, linewidth=2.2, zorder=4)
    style = {"color": "white", "markersize": 4.2, "markeredgewidth": 0.9, "zorder": 5}
    axes.plot(middle, at, **(_DOTS | style))


def _outline(violin: Violin) -> Values:
    grid, heights = density(violin.values)
    half = _HALF_HEIGHT * heights / heights.max()
    edges = np.concatenate([violin.at - half, (violin.at + half)[::-1]])
    return np.column_stack([np.concatenate([grid, grid[::-1]]), edges])


def _name_rows(axes: Axes, rows: Sequence[Violin]) -> None:
    """Write the names of the rows to the left of a panel."""
    axes.set_yticks([violin.at for violin in rows], [violin.label for violin in rows])
    axes.tick_params(axis="y", labelleft=True, pad=3)
    for text, violin in zip(axes.get_yticklabels(), rows, strict=True):
        text.set_linespacing(0.95)
        if violin.beyond:
            text.set(color=SOFT, fontsize=9.5)
    if (edge := first_beyond(rows)) is not None:
        axes.annotate(
            "Not in the paper:",
            xy=(0, edge + _HEADING * 0.55),
            xycoords=("axes fraction", "data"),
            xytext=(-6, 0),
            textcoords="offset points",
            ha="right",
            va="center",
            fontsize=9,
            style="italic",
            color=SOFT,
            annotation_clip=False,
        )
