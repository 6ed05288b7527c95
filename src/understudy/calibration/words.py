"""What a setting costs, in words that need no statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from understudy.report.wording import percent

if TYPE_CHECKING:
    from understudy.calibration.sweep import Outcome


def cost(outcome: Outcome) -> str:
    """Say how far off a synthetic table is on average."""
    if not outcome.draws:
        return "the chains did not converge"
    said = []
    for metric, sentence in (
        ("median", "the median is off by {} on average"),
        ("mean", "the mean by {}"),
        ("max_ecdf", "no share of records up to some value is off by more than {}"),
        ("total_variation", "no share of a set of levels by more than {}"),
    ):
        found = outcome.average(metric)
        if found is not None:
            said.append(sentence.format(percent(found)))
    return ", ".join(said)
