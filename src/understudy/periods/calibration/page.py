"""The risk–utility page: what each ε buys, and why the policy is as it is."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING

from understudy.periods.calibration.choice import (
    LOSS,
    WantedAccuracy,
    best_by_epsilon,
    smallest_epsilon,
)
from understudy.periods.calibration.run import Calibration
from understudy.periods.calibration.sweep import Outcome, calibrated_names
from understudy.privacy.rounding import plain
from understudy.report.svg import INK, inline_svg
from understudy.report.template import fill
from understudy.report.wording import NOTHING, in_points, percent, readable, tick

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ASKED = (0.1, 0.05, 0.03, 0.02, 0.01)
"""Accuracies for which the smallest ε is told without being asked."""
# Okabe and Ito's colours, each with a marker of its own, so that none depends on colour.
_LOOKS = (
    ("#0072B2", "o", "-"),
    ("#D55E00", "s", "--"),
    ("#009E73", "^", "-."),
    ("#CC79A7", "D", ":"),
    ("#E69F00", "v", (0, (5, 1))),
    ("#56B4E9", "P", (0, (3, 1, 1, 1))),
)


def render(calibration: Calibration, policy_file: str) -> str:
    """Return the page as HTML."""
    policy, chosen = calibration.policy, calibration.chosen
    best = best_by_epsilon(calibration.outcomes)
    setting, base = chosen.setting, calibration.baseline
    return fill(
        "calibration.html.j2",
        policy=policy,
        policy_file=policy_file,
        confidential=policy.reference_is == "confidential",
        records=f"{calibration.records:,}",
        draws=f"{calibration.draws} draw{'s' if calibration.draws > 1 else ''}",
        periods=f"{calibration.periods:,} period{'s' if calibration.periods > 1 else ''}",
        delta=None if policy.delta is None else plain(policy.delta),
        chosen={"name": str(setting), "epsilon": plain(setting.epsilon), "cost": cost(chosen)},
        budget=plain(policy.budget),
        population=shlex.quote(policy.population),
        model=shlex.quote(f"path/to/{policy.model}") if policy.model_digest else None,
        target=calibration.target,
        only_epsilon=len({outcome.setting.epsilon for outcome in calibration.outcomes}) == 1,
        close=base is not None and chosen.distance <= LOSS * base.distance,
        picture=frontier(calibration.outcomes, base, chosen),
        baseline=None if base is None else cost(base),
        by_epsilon=[
            (plain(epsilon), str(outcome.setting), _distance(outcome), cost(outcome))
            for epsilon, outcome in best.items()
        ],
        reverse=_reverse(calibration),
        settings=[
            (
                plain(o.setting.epsilon),
                str(o.setting),
                _distance(o),
                *(readable(o.average(m), digits=3) for m in ("median", "mean")),
            )
            for o in calibration.outcomes
        ],
    )


def cost(outcome: Outcome) -> str:
    """Say how far off a synthetic table is on average."""
    if not outcome.draws:
        return "the chains did not converge"
    said = []
    for metric, sentence, write in (
        ("median", "the median is off by {} on average", percent),
        ("mean", "the mean by {}", percent),
        ("max_ecdf", "the share of records up to some value by {} where it is worst", in_points),
        ("total_variation", "the share of some levels by {} where it is worst", in_points),
    ):
        average = outcome.average(metric)
        if average is not None:
            said.append(sentence.format(write(average)))
    return ", ".join(said)


def _distance(outcome: Outcome) -> str:
    if not outcome.draws:
        return NOTHING
    spread = f" ± {readable(outcome.spread, digits=2)}" if len(outcome.draws) > 1 else ""
    return f"{readable(outcome.distance, digits=3)}{spread}"


def _reverse(calibration: Calibration) -> list[tuple[str, str, str]]:
    """Return the smallest ε for accuracies that people ask for."""
    metric = "max_ecdf" if calibration.chosen.average("max_ecdf") is not None else "total_variation"
    targets = [WantedAccuracy(metric, value) for value in _ASKED]
    if calibration.target is not None and calibration.target not in targets:
        targets.insert(0, calibration.target)
    rows = []
    for target in targets:
        outcome = smallest_epsilon(calibration.outcomes, target)
        if outcome is None:
            rows.append((str(target), "none of those tried", NOTHING))
        else:
            rows.append((str(target), plain(outcome.setting.epsilon), str(outcome.setting)))
    return rows


def frontier(outcomes: Sequence[Outcome], baseline: Outcome | None, chosen: Outcome) -> str:
    """Draw accuracy against ε: the best setting of each mechanism, and a ring for the chosen."""
    from matplotlib.ticker import LogLocator

    def draw(axes: Axes) -> None:
        shown: set[float] = set()
        for name, (colour, marker, dashes) in zip(calibrated_names(), cycle(_LOOKS), strict=False):
            best = best_by_epsilon([o for o in outcomes if o.setting.mechanism == name])
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
