"""The statement of the ledger that paid for a release, as the report shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy.ledger.statement import Item, Statement, left_part
from understudy.privacy.rounding import at_most
from understudy.report.figures import CONFIDENTIAL
from understudy.report.svg import INK, inline_svg, numbers_along, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN_PERIODS = 24


def spending(statement: Statement | None) -> dict[str, Any] | None:
    """Return each period with its price and what it left, the totals, and a warning."""
    if statement is None or not (periods := statement.items):
        return None
    cut = f", the last {SHOWN_PERIODS} of {len(periods):,}" if len(periods) > SHOWN_PERIODS else ""
    return {
        "warning": statement.warning,
        "facts": [
            (name.capitalize() if name.islower() else name, fact) for name, fact in statement.facts
        ],
        "picture": {
            "svg": _drawn(periods[-SHOWN_PERIODS:], statement.settings.budget),
            "caption": f"How much of the budget was left after each period{cut}.",
        },
        "rows": [
            (
                period.name,
                period.kind,
                at_most(period.epsilon, 15),
                at_most(period.spent, 15),
                left_part(period.left, statement.settings),
                at_most(period.rho, 4),
                period.state,
                period.time[:16].replace("T", " "),
            )
            for period in periods
        ],
    }


def _drawn(periods: Sequence[Item], budget: float) -> str:
    places = np.arange(len(periods))

    def draw(axes: Axes) -> None:
        axes.bar(places, [period.left for period in periods], 0.6, color=CONFIDENTIAL)
        axes.axhline(budget, color=INK, linestyle="--", linewidth=1.4, label="Budget")
        step = -(-len(periods) // 12)
        names = [shortened(period.name) for period in periods[::step]]
        axes.set_xticks(places[::step], names, rotation=45, ha="right")
        axes.set_xlim(-0.6, max(len(periods), 6) - 0.4)
        axes.set_ylim(0, 1.08 * budget)
        axes.grid(visible=False, axis="x")
        axes.set_ylabel("ε left")
        numbers_along(axes.yaxis)
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2)

    return inline_svg(draw, "What was left of the privacy budget after each period")
