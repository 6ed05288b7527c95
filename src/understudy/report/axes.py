"""How axes, legends and names look in every picture of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from understudy.report.svg import printable
from understudy.report.wording import tick

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

LONGEST_LEVEL = 28


def shortened(name: str) -> str:
    """Return a level's name, cut where it would leave no room for the bars."""
    name = printable(name)
    return name if len(name) <= LONGEST_LEVEL else name[: LONGEST_LEVEL - 1] + "…"


def numbers_along(axis: Axis) -> None:
    """Label an axis with few numbers, written for people."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda number, _: tick(number)))


def percent_along(axis: Axis) -> None:
    """Label an axis with percentages."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda share, _: f"{tick(100 * share)}%"))


def legend_above(axes: Axes) -> None:
    """Put the legend where it cannot hide anything."""
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=2,
        borderaxespad=0.2,
        columnspacing=1.4,
        handlelength=1.8,
        handletextpad=0.6,
    )
