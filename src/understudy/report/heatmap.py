"""One picture of how far every pair of columns is apart. It is confidential."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy.report.svg import INK, inline_svg, shortened
from understudy.utility.pairs import PairUtility

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LIGHT, DARK = "#f4f8fb", "#00507d"
SMALLEST_SCALE = 0.05
"""The darkest colour never stands for less: noise should not look like a catastrophe."""
LARGEST_NUMBERED = 8
LONGEST_NAME = 14


def heat_map(pairs: Sequence[PairUtility], darkest: float, description: str) -> str:
    """Draw the total variation of every pair as a triangle of squares, numbered if few.

    `darkest` is the distance of the darkest square, so that several maps can be compared.
    """
    names = list(dict.fromkeys(name for pair in pairs for name in pair.columns))
    across, down = names[:-1], names[1:]
    distance = np.full((len(down), len(across)), np.nan)
    for pair in pairs:
        if pair.total_variation is not None:
            a, b = pair.columns
            distance[down.index(b), across.index(a)] = pair.total_variation

    def draw(axes: Axes) -> None:
        from matplotlib.colors import LinearSegmentedColormap

        # With more shades the scale beside the map would be drawn as an image.
        shades = LinearSegmentedColormap.from_list("distance", [LIGHT, DARK], N=40)
        # A mesh, not an image: it stays sharp, and the page holds no pixels.
        mesh = axes.pcolormesh(
            np.ma.masked_invalid(distance),
            cmap=shades,
            vmin=0,
            vmax=darkest,
            edgecolors="white",
            linewidth=1.5 if len(names) <= LARGEST_NUMBERED else 0.4,
        )
        size = min(10.5, 190 / len(names))
        slanted: dict[str, Any] = {}
        if len(names) > 4:
            slanted = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
        for ticks, columns, turned in (
            (axes.set_xticks, across, slanted),
            (axes.set_yticks, down, {}),
        ):
            shown = [shortened(name, LONGEST_NAME) for name in columns]
            ticks(np.arange(len(columns)) + 0.5, shown, fontsize=size, **turned)
        axes.tick_params(length=0)
        axes.invert_yaxis()
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
        if len(names) <= LARGEST_NUMBERED:
            _number(axes, distance, darkest)
        axes.figure.colorbar(mesh, ax=axes, label="Total variation", shrink=0.9, pad=0.03)

    return inline_svg(draw, description, height=max(2.4, min(7.0, 1.3 + 0.42 * len(names))))


def _number(axes: Axes, distance: np.ndarray, darkest: float) -> None:
    for (row, column), value in np.ndenumerate(distance):
        if np.isfinite(value):
            axes.text(
                column + 0.5,
                row + 0.5,
                f"{value:.3f}",
                color="white" if value > 0.55 * darkest else INK,
                horizontalalignment="center",
                verticalalignment="center",
                fontsize=9.5 if distance.shape[0] <= 5 else 8,
            )
