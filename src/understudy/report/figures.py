"""The pictures of the report, each as the text of one inline SVG. All of them are confidential.

Colours are two of Okabe and Ito's, which people with any kind of colour vision can tell apart; the
synthetic table is dashed or hatched as well, so that no picture depends on colour. Text stays text,
in the fonts of the reader's own system, so that it can be searched, enlarged and read aloud.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from understudy.report.curves import bin_edges, evenly, reflected_kde, steps, widest_gap
from understudy.report.svg import (
    INK,
    inline_svg,
    legend_above,
    numbers_along,
    printable,
    shortened,
)
from understudy.report.wording import bounded, readable
from understudy.utility.marginal import level_shares, max_ecdf

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CONFIDENTIAL = "#0072B2"
SYNTHETIC = "#D55E00"

Picture = dict[str, str]
"""A picture's SVG with its caption."""
Both = tuple[ArrayLike, ArrayLike]
"""The values of a column in the confidential and in the synthetic table."""
Bounds = tuple[float, float]
TABLES = ("Confidential", "Synthetic")

LARGEST_SCATTER = 2000
QUANTILES = 200
_RECORDS = {"Weight α": "Weight", "Largest |score|": "Largest score"}
"""What is drawn of records, as axes name it and as words do."""
_DOTS: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 3, "markeredgewidth": 0}


def density(both: Both, label: str, bounds: Bounds, *, whole: bool = False) -> str:
    """Draw both densities: bars over shared bins of the declared bounds, and a smooth curve each.

    `whole` says that the column holds whole numbers. Every bin then holds equally many of them, as
    the bars would otherwise show a comb that is not in the data; and where each number has a bin
    of its own, the bars are the distribution itself and a smooth curve would only blur it.
    """
    edges = bin_edges(bounds, whole=whole)
    width = edges[1] - edges[0]
    smooth = not whole or width > 1

    def draw(axes: Axes) -> None:
        for name, values, colour, dashes in _tables(both):
            sample = np.asarray(values, dtype=np.float64)
            filled = name == "Confidential"
            axes.stairs(
                np.histogram(sample, edges)[0] / sample.size,
                edges,
                fill=filled,
                facecolor=colour if filled else "none",
                edgecolor=colour,
                alpha=0.25 if filled else 0.75,
                linewidth=0 if filled else 0.9,
                linestyle="-" if smooth else dashes,
                label=None if smooth else name,
            )
            if smooth:
                at, curve = reflected_kde(sample, (edges[0], edges[-1]))
                axes.plot(at, curve * width, color=colour, linestyle=dashes, label=name)
        axes.set_xlim(edges[0], edges[-1])
        axes.set_ylim(bottom=0)
        records = f"Share of records per {readable(width)}" if smooth else "Share of records"
        _label(axes, label, records, percent=True)
        legend_above(axes)

    return inline_svg(draw, f"Density of {label} in the confidential and the synthetic table")


def ecdf(both: Both, label: str, bounds: Bounds, names: tuple[str, str] = TABLES) -> str:
    """Draw both empirical distribution functions and mark where they are furthest apart.

    `names` are those of the two tables, where they are not a confidential and a synthetic one.
    """

    def draw(axes: Axes) -> None:
        for name, values, colour, dashes in _tables(both, names):
            at, height = steps(values, bounds)
            axes.step(at, height, where="post", color=colour, linestyle=dashes, label=name)
        _mark_gap(axes, both, bounds)
        axes.set_xlim(*bounds)
        axes.set_ylim(0, 1.02)
        _label(axes, label, "Share of records up to this value", percent=True)
        legend_above(axes)

    return inline_svg(draw, f"Distribution functions of {label} in {_named(names)}")


def qq(both: Both, label: str) -> str:
    """Draw the quantiles of both tables against each other; on the diagonal they agree."""
    at = (np.arange(QUANTILES) + 0.5) / QUANTILES
    across, up = (np.quantile(np.asarray(values, dtype=np.float64), at) for values in both)
    ends = min(across[0], up[0]), max(across[-1], up[-1])
    margin = 0.03 * (ends[1] - ends[0]) or 1.0

    def draw(axes: Axes) -> None:
        axes.plot(ends, ends, color=INK, linestyle="--", linewidth=1.2, label="Equal quantiles")
        axes.plot(across, up, color=SYNTHETIC, label="Quantiles", **_DOTS)
        axes.set_xlim(ends[0] - margin, ends[1] + margin)
        axes.set_ylim(ends[0] - margin, ends[1] + margin)
        _label(axes, f"{label}, confidential", f"{label}, synthetic")
        legend_above(axes)

    return inline_svg(
        draw, f"Quantiles of {label} in the synthetic table against those in the confidential one"
    )


def _mark_gap(axes: Axes, both: Both, bounds: Bounds) -> None:
    """Mark the largest gap, with its size in the corner that a rising curve leaves free."""
    where, low, high = widest_gap(*both)
    axes.vlines(where, low, high, color=INK, linewidth=2.6, zorder=3)
    left = where < (bounds[0] + bounds[1]) / 2
    axes.annotate(
        f"largest gap {readable(max_ecdf(*both), digits=3)}",
        (where, low if left else high),
        xytext=(9, -3) if left else (-9, 3),
        textcoords="offset points",
        horizontalalignment="left" if left else "right",
        verticalalignment="top" if left else "bottom",
    )


def records(
    heights: ArrayLike,
    values: ArrayLike,
    across: str,
    up: str,
    *,
    limits: tuple[float, float | None],
    bound: float | None = None,
) -> str:
    """Draw a point for each record against its outcome value, and the bound if there is one.

    Of many records 2000 are drawn, spread evenly over the values; an infinite height cannot be.
    """
    at, height = (np.asarray(each, dtype=np.float64) for each in (values, heights))
    at, height = at[np.isfinite(height)], height[np.isfinite(height)]
    order = np.argsort(at, kind="stable")
    kept = order[evenly(order.size, LARGEST_SCATTER)]

    def draw(axes: Axes) -> None:
        axes.plot(at[kept], height[kept], color=CONFIDENTIAL, alpha=0.45, **_DOTS)
        if bound is not None and np.isfinite(bound):
            line = f"Bound B = {bounded(bound)}"
            axes.axhline(bound, color=INK, linestyle="--", linewidth=1.4, label=line)
            legend_above(axes)
        axes.set_ylim(*limits)
        _label(axes, across, up)

    return inline_svg(draw, f"{_RECORDS[up]} of each record against its {across}")


def levels(
    both: tuple[Iterable[object], Iterable[object]],
    label: str,
    level_names: Sequence[str],
    names: tuple[str, str] = TABLES,
) -> str:
    """Draw the share of every declared level in both tables as a pair of bars."""
    filled = list(level_shares(both[0], level_names, "confidential").values())
    hatched = list(level_shares(both[1], level_names, "synthetic").values())
    rows = np.arange(len(level_names))

    def draw(axes: Axes) -> None:
        axes.barh(rows - 0.2, filled, 0.4, color=CONFIDENTIAL, label=printable(names[0]))
        axes.barh(
            rows + 0.2,
            hatched,
            0.4,
            facecolor="white",
            edgecolor=SYNTHETIC,
            hatch="////",
            label=printable(names[1]),
        )
        axes.set_yticks(rows, [shortened(name) for name in level_names])
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
        axes.set_xlabel("Share of records")
        numbers_along(axes.xaxis, percent=True)
        legend_above(axes)

    height = 1.2 + 0.36 * len(level_names)
    return inline_svg(draw, f"Share of each level of {label} in {_named(names)}", height)


def _label(axes: Axes, across: str, up: str, *, percent: bool = False) -> None:
    """Name both axes and number them, the one that goes up perhaps in per cent."""
    axes.set_xlabel(printable(across))
    axes.set_ylabel(printable(up))
    numbers_along(axes.xaxis)
    numbers_along(axes.yaxis, percent=percent)


def _named(names: tuple[str, str]) -> str:
    return "the confidential and the synthetic table" if names == TABLES else " and ".join(names)


def _tables(
    both: Both, names: tuple[str, str] = TABLES
) -> tuple[tuple[str, ArrayLike, str, str], ...]:
    """Return name, values, colour and line style of both tables, the same in every picture."""
    return (
        (printable(names[0]), both[0], CONFIDENTIAL, "-"),
        (printable(names[1]), both[1], SYNTHETIC, "--"),
    )
