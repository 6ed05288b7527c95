"""The year of the ledger that paid for a release, as the report shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from understudy.ledger.statement import left_part
from understudy.privacy.rounding import at_most
from understudy.report.axes import numbers_along, shortened
from understudy.report.figures import CONFIDENTIAL
from understudy.report.svg import INK, inline_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from understudy.ledger.statement import Statement

SHOWN_PERIODS = 24


def spending(year: Statement | None) -> dict[str, Any] | None:
    """Return each period with its price and what it left, the totals, and a warning."""
    if year is None or not year.items:
        return None
    return {
        "warning": year.warning,
        "facts": [
            (name.capitalize() if name.islower() else name, fact) for name, fact in year.facts
        ],
        "picture": {"svg": _drawn(year), "caption": _caption(year)},
        "rows": [
            (
                row.name,
                row.kind,
                at_most(row.epsilon, 15),
                at_most(row.spent, 15),
                left_part(row.left, year.settings),
                at_most(row.rho, 4),
                row.state,
                row.time[:16].replace("T", " "),
            )
            for row in year.items
        ],
    }


def _caption(year: Statement) -> str:
    cut = len(year.items) > SHOWN_PERIODS
    return "How much of the budget was left after each period" + (
        f", the last {SHOWN_PERIODS} of {len(year.items):,}." if cut else "."
    )


def _drawn(year: Statement) -> str:
    shown = year.items[-SHOWN_PERIODS:]
    places = np.arange(len(shown))

    def draw(axes: Axes) -> None:
        axes.bar(places, [row.left for row in shown], 0.6, color=CONFIDENTIAL)
        axes.axhline(year.settings.budget, color=INK, linestyle="--", linewidth=1.4, label="Budget")
        step = -(-len(shown) // 12)
        axes.set_xticks(
            places[::step], [shortened(row.name) for row in shown[::step]], rotation=45, ha="right"
        )
        axes.set_xlim(-0.6, max(len(shown), 6) - 0.4)
        axes.set_ylim(0, 1.08 * year.settings.budget)
        axes.grid(visible=False, axis="x")
        axes.set_ylabel("ε left")
        numbers_along(axes.yaxis)
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2)

    return inline_svg(draw, "What was left of the privacy budget after each period")
