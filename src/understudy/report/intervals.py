"""One number of an answer: an estimate and its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from understudy.report.svg import printable
from understudy.report.wording import readable


@dataclass(frozen=True)
class Interval:
    """What is known of one number."""

    name: str
    estimate: float
    lower: float
    upper: float
    deviation: float
    """The standard deviation of what it may be."""
    privacy_share: float | None
    """1 − the width without the noise, over the width; None where it is not known."""

    @property
    def without_noise(self) -> tuple[float, float]:
        """Where it would end without the noise that protects people."""
        estimate, kept = self.estimate, 1 - (self.privacy_share or 0.0)
        return estimate + kept * (self.lower - estimate), estimate + kept * (self.upper - estimate)

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON holds: null where the release cannot tell."""
        numbers = {name: value for name, value in vars(self).items() if name != "name"}
        finite = {k: None if v is None or not math.isfinite(v) else v for k, v in numbers.items()}
        return {"name": self.name} | finite


def interval_row(each: Interval) -> tuple[str, ...]:
    """Return name, estimate and both ends as people read them."""
    name = printable(each.name)
    return name, *(readable(n, digits=4) for n in (each.estimate, each.lower, each.upper))
