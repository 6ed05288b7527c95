"""A panel of violins: the distribution of a statistic over the replicates, one row for each arm.

The rows run down the panel, so that the names can be read and the panels of different ε compared
row by row. A violin is a Gaussian kernel density between the smallest and the largest value, each
with its own height; a bar spans the quartiles and a dot marks the median. Too few values, or values
that cannot be told apart, have no density and are drawn as points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection

from understudy.report.svg import FAINT, INK
from understudy.study.arms import Values
from understudy.study.figure_style import GROUND, SOFT

FEWEST_FOR_A_DENSITY = 10
_HALF_HEIGHT = 0.4
_POINTS = 96
_THINNEST = 0.03
"""Violins narrower than this share of their panel would be hidden behind their own median."""
_HEADING = 0.75
"""Rows that the heading above what is not in the paper takes."""
_DOTS: dict[str, Any] = {"linestyle": "none", "marker": "o", "markeredgecolor": INK}


@dataclass(frozen=True)
class Violin:
    """One row of a panel."""

    label: str
    colour: str
    beyond: bool
    """Whether the paper's figure does not have it."""
    values: Values


@dataclass(frozen=True, eq=False)
class Positions:
    """Where the rows stand, from the top down, with a gap before those not in the paper."""

    rows: Values
    first_beyond: float | None
    """The upper edge of the part that is set apart."""
    depth: float

    @classmethod
    def of(cls, violins: Sequence[Violin]) -> Positions:
        """Place the rows."""
        beyond = [violin.beyond for violin in violins]
        rows = np.arange(len(beyond), dtype=float)
        if not any(beyond):
            return cls(rows, None, len(beyond) - 0.5)
        first = beyond.index(True)
        rows[first:] += _HEADING
        return cls(rows, first - 0.5, len(beyond) - 0.5 + _HEADING)


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


def panel(
    axes: Axes,
    violins: Sequence[Violin],
    positions: Positions,
    *,
    line: float | None,
    limits: tuple[float, float],
) -> None:
    """Draw the rows, and a dashed line at a value to compare them with."""
    span = limits[1] - limits[0]
    axes.set_xlim(limits)
    axes.set_ylim(positions.depth, -0.5)
    axes.tick_params(axis="y", length=0, left=False)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")
    if positions.first_beyond is not None:
        axes.axhspan(positions.first_beyond, positions.depth, color=GROUND, zorder=0, linewidth=0)
    if line is not None:
        axes.axvline(line, color=INK, linewidth=1.1, dashes=(5, 3), zorder=2)
    dense = []
    for violin, at in zip(violins, positions.rows.tolist(), strict=True):
        if has_density(violin.values, span):
            dense.append((violin, at))
        else:
            _points(axes, violin, at, span)
    if dense:
        _violins(axes, dense)
        _summaries(axes, dense)


def _points(axes: Axes, violin: Violin, at: float, span: float) -> None:
    """Draw every value, or one lozenge at the median for values that cannot be told apart."""
    values = violin.values
    together = values.size > 1 and np.ptp(values) <= _THINNEST * span
    shown = np.array([np.median(values)]) if together else values
    style = _DOTS | {"color": violin.colour, "markersize": 5.5, "markeredgewidth": 0.6, "zorder": 4}
    style |= {"marker": "D"} if together else {"alpha": 0.7}
    axes.plot(shown, np.full(shown.size, at), **style)


def _violins(axes: Axes, dense: Sequence[tuple[Violin, float]]) -> None:
    collection = PolyCollection(
        [_outline(violin.values, at) for violin, at in dense],
        facecolors=[(violin.colour, 0.3 if violin.beyond else 0.85) for violin, _ in dense],
        edgecolors=[violin.colour if violin.beyond else INK for violin, _ in dense],
        linewidths=[1.4 if violin.beyond else 0.5 for violin, _ in dense],
        zorder=3,
    )
    # The limits are known; searching for them along every outline takes longer than drawing it.
    axes.add_collection(collection, autolim=False)


def _outline(values: Values, at: float) -> Values:
    grid, heights = density(values)
    half = _HALF_HEIGHT * heights / heights.max()
    return np.column_stack(
        [np.concatenate([grid, grid[::-1]]), np.concatenate([at - half, (at + half)[::-1]])]
    )


def _summaries(axes: Axes, dense: Sequence[tuple[Violin, float]]) -> None:
    """Draw the quartiles and the median of every violin, in one go."""
    at = [position for _, position in dense]
    low, middle, high = np.transpose(
        [np.quantile(violin.values, [0.25, 0.5, 0.75]) for violin, _ in dense]
    )
    axes.hlines(at, low, high, color=INK, linewidth=2.2, zorder=4)
    style = {"color": "white", "markersize": 4.2, "markeredgewidth": 0.9, "zorder": 5}
    axes.plot(middle, at, **(_DOTS | style))


def name_rows(axes: Axes, violins: Sequence[Violin], positions: Positions) -> None:
    """Write the names of the rows to the left of a panel."""
    axes.set_yticks(positions.rows, [violin.label for violin in violins])
    axes.tick_params(axis="y", labelleft=True, pad=3)
    for text, violin in zip(axes.get_yticklabels(), violins, strict=True):
        text.set_linespacing(0.95)
        if violin.beyond:
            text.set(color=SOFT, fontsize=9.5)
    if positions.first_beyond is not None:
        axes.annotate(
            "Not in the paper:",
            xy=(0, positions.first_beyond + _HEADING * 0.55),
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


def leave_names_to_the_left(axes: Axes) -> None:
    """Draw a rule between a panel and the one on its left, which names the rows."""
    axes.set_yticks([])
    axes.spines["left"].set_visible(True)
    axes.spines["left"].set_color(FAINT)


def limits(
    panels: Sequence[Sequence[Violin]], lines: Sequence[float | None]
) -> tuple[float, float]:
    """Return a range that shows every value and every line of all panels."""
    values = [violin.values for violins in panels for violin in violins]
    everything = np.concatenate([*values, [line for line in lines if line is not None]])
    low, high = float(everything.min()), float(everything.max())
    margin = 0.04 * (high - low) or 0.05 * abs(high) or 1.0
    return low - margin, high + margin
