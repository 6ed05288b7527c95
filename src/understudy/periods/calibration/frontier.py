"""The picture of a calibration: accuracy against ε, one line for each mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING

from understudy.periods.calibration.choice import best_by_epsilon
from understudy.periods.calibration.settings import calibrated_names
from understudy.periods.calibration.sweep import Outcome
from understudy.report.svg import INK, inline_svg
from understudy.report.wording import tick

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, each with a marker of its own, so that none depends on colour.
_LOOKS = (
    ("#0072B2", "o", "-"),
    ("#D55E00", "s", "--"),
    ("#009E73", "^", "-."),
    ("#CC79A7", "D", ":"),
    ("#E69F00", "v", (0, (5, 1))),
    ("#56B4E9", "P", (0, (3, 1, 1, 1))),
)


def frontier(outcomes: Sequence[Outcome], baseline: Outcome | None, chosen: Outcome) -> str:
    """Draw the best setting of each mechanism at each ε, and mark the chosen one."""

    from matplotlib.ticker import LogLocator

    def draw(axes: Axes) -> None:
        shown: set[float] = set()
        for name, (colour, marker, dashes) in zip(calibrated_names(), cycle(_LOOKS), strict=False):
            of_mechanism = [
                o for o in outcomes if o.setting is not None and o.setting.mechanism == name
            ]
            best = best_by_epsilon(of_mechanism)
            if not best:
                continue
            shown |= set(best)
            axes.errorbar(
                list(best),
                [outcome.distance for outcome in best.values()],
                yerr=[outcome.spread for outcome in best.values()],
                color=colour,
                marker=marker,
                markersize=5,
                linestyle=dashes,
                elinewidth=0.8,
                label=name,
            )
        if baseline is not None and baseline.draws:
            axes.axhline(
                baseline.distance,
                color=INK,
                linewidth=1,
                linestyle=(0, (1, 2)),
                label="without privacy",
            )
        assert chosen.setting is not None
        axes.plot(
            chosen.setting.epsilon,
            chosen.distance,
            marker="o",
            markersize=13,
            markerfacecolor="none",
            markeredgecolor=INK,
            markeredgewidth=1.8,
            linestyle="none",
            label="chosen",
        )
        axes.set_xscale("log")
        axes.set_xticks(sorted(shown), [tick(epsilon) for epsilon in sorted(shown)])
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(lambda value, position: tick(value))
        axes.minorticks_off()
        axes.set_xlabel("ε of each period (logarithmic)")
        axes.set_ylabel("Distance from the reference (logarithmic)")
        axes.legend(
            loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, handlelength=2.6, fontsize=9.5
        )

    return inline_svg(
        draw, "Distance of synthetic tables from the reference against ε, for each mechanism", 3.9
    )
