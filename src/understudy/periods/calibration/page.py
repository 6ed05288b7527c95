"""The risk–utility page: what each ε buys, and why the policy is as it is."""

from __future__ import annotations

import shlex
from typing import Any

from understudy.periods.calibration.choice import (
    LOSS,
    WantedAccuracy,
    best_by_epsilon,
    smallest_epsilon,
)
from understudy.periods.calibration.frontier import frontier
from understudy.periods.calibration.run import Calibration
from understudy.periods.calibration.sweep import Outcome
from understudy.periods.calibration.words import cost
from understudy.privacy.rounding import plain
from understudy.report.template import fill
from understudy.report.wording import NOTHING, readable

_ASKED = (0.1, 0.05, 0.03, 0.02, 0.01)
"""Accuracies for which the smallest ε is told without being asked."""


def render(calibration: Calibration, policy_file: str) -> str:
    """Return the page as HTML."""
    return fill("calibration.html.j2", **_view(calibration, policy_file))


def _view(calibration: Calibration, policy_file: str) -> dict[str, Any]:
    policy, chosen = calibration.policy, calibration.chosen
    best = best_by_epsilon(calibration.outcomes)
    setting = chosen.setting
    assert setting is not None
    return {
        "policy": policy,
        "policy_file": policy_file,
        "confidential": policy.reference_is == "confidential",
        "records": f"{calibration.records:,}",
        "draws": f"{calibration.draws} draw{'s' if calibration.draws > 1 else ''}",
        "periods": f"{calibration.periods:,} period{'s' if calibration.periods > 1 else ''}",
        "chosen": {"name": str(setting), "epsilon": plain(setting.epsilon), "cost": cost(chosen)},
        "budget": plain(policy.budget),
        "population": shlex.quote(policy.population),
        "model": shlex.quote(f"path/to/{policy.model}") if policy.model_digest else None,
        "reason": _reason(calibration),
        "picture": frontier(calibration.outcomes, calibration.baseline, chosen),
        "baseline": None if calibration.baseline is None else cost(calibration.baseline),
        "by_epsilon": [
            (plain(epsilon), str(outcome.setting), _distance(outcome), cost(outcome))
            for epsilon, outcome in best.items()
        ],
        "reverse": list(_reverse(calibration)),
        "settings": [
            (
                plain(o.setting.epsilon),
                str(o.setting),
                _distance(o),
                *(readable(o.average(m), digits=3) for m in ("median", "mean")),
            )
            for o in calibration.outcomes
            if o.setting is not None
        ],
    }


def _distance(outcome: Outcome) -> str:
    if not outcome.draws:
        return NOTHING
    spread = f" ± {readable(outcome.spread, digits=2)}" if len(outcome.draws) > 1 else ""
    return f"{readable(outcome.distance, digits=3)}{spread}"


def _reason(calibration: Calibration) -> str:
    setting = calibration.chosen.setting
    assert setting is not None
    if calibration.target is not None:
        return f"It is the smallest ε that was tried and reaches {calibration.target} on average."
    if len({o.setting.epsilon for o in calibration.outcomes if o.setting is not None}) == 1:
        return (
            f"Of the settings with ε = {plain(setting.epsilon)}, it comes closest to the reference."
        )
    base = calibration.baseline
    if base is not None and calibration.chosen.distance <= LOSS * base.distance:
        return (
            "It is the smallest ε that was tried whose synthetic tables are at most a quarter "
            "further from the reference than those of the same model without privacy."
        )
    return (
        "It is the smallest ε that was tried whose synthetic tables are at most a quarter further "
        "from the reference than the closest of all."
    )


def _reverse(calibration: Calibration) -> list[tuple[str, str, str]]:
    """Return the smallest ε for accuracies that people ask for."""
    metric = "max_ecdf" if calibration.chosen.average("max_ecdf") is not None else "total_variation"
    targets = [WantedAccuracy(metric, value) for value in _ASKED]
    if calibration.target is not None and calibration.target not in targets:
        targets.insert(0, calibration.target)
    rows = []
    for target in targets:
        outcome = smallest_epsilon(calibration.outcomes, target)
        if outcome is None or outcome.setting is None:
            rows.append((str(target), "none of those tried", NOTHING))
        else:
            rows.append((str(target), plain(outcome.setting.epsilon), str(outcome.setting)))
    return rows
