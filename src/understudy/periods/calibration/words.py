"""What a setting costs, in words that need no statistics."""

from __future__ import annotations

from understudy.periods.calibration.sweep import Outcome
from understudy.report.wording import in_points, percent


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
