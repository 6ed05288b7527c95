"""The setting to release with, from what the sweep found.

with a stated ε         the setting that comes closest at this ε
with a stated accuracy  the smallest ε that reaches it, and there the setting that comes closest
with neither            the smallest ε that loses at most a quarter over the model's posterior,
                        which has no privacy and whose distance is that of model and sample; or,
                        where none comes as close, over the best of all that was tried
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from understudy.errors import BadInput, Refused, nearest
from understudy.periods.calibration.sweep import METRICS, Outcome
from understudy.privacy.rounding import plain

LOSS = 1.25


@dataclass(frozen=True)
class WantedAccuracy:
    """An accuracy to reach, such as max_ecdf=0.03."""

    metric: str
    value: float

    @classmethod
    def parse(cls, text: str) -> WantedAccuracy:
        """Read METRIC=VALUE."""
        metric, equals, value = (part.strip() for part in text.partition("="))
        if metric not in METRICS or not equals:
            hint = "" if metric in METRICS else nearest(metric, METRICS)
            raise BadInput(
                f"the target '{text}' is not understood{hint}: write "
                f"METRIC=VALUE with one of {', '.join(METRICS)}."
            )
        try:
            number = float(value)
        except ValueError:
            number = -1.0
        if not 0 < number < 1:
            raise BadInput(f"the target '{text}' must be a number between 0 and 1.")
        return cls(metric, number)

    def reached(self, outcome: Outcome) -> bool:
        """Whether a setting reaches it on average."""
        return outcome.rank(self.metric) <= self.value

    def __str__(self) -> str:
        return f"{self.metric} = {self.value:g}"


def best_by_epsilon(outcomes: Sequence[Outcome], metric: str = "distance") -> dict[float, Outcome]:
    """Return the setting that comes closest at each ε, smallest ε first."""
    best: dict[float, Outcome] = {}
    for outcome in sorted(outcomes, key=lambda outcome: outcome.rank(metric)):
        if outcome.draws:
            best.setdefault(outcome.setting.epsilon, outcome)
    return dict(sorted(best.items()))


def smallest_epsilon(outcomes: Sequence[Outcome], target: WantedAccuracy) -> Outcome | None:
    """Return the setting with the smallest ε that reaches a target, if one does."""
    best = best_by_epsilon(outcomes, target.metric)
    return next((outcome for outcome in best.values() if target.reached(outcome)), None)


def choose(
    outcomes: Sequence[Outcome],
    baseline: Outcome | None,
    *,
    epsilon: float | None = None,
    target: WantedAccuracy | None = None,
    public: bool = True,
) -> Outcome:
    """Return the outcome of the setting to release with.

    What a refusal says of a reference that is not public has no numbers in it.
    """
    best = best_by_epsilon(outcomes)
    if not best:
        raise Refused("no setting could be drawn from: the chains of none converged.")
    if target is not None:
        reaching = smallest_epsilon(outcomes, target)
        if reaching is None:
            raise Refused(_unreached(outcomes, target, epsilon, public))
        return reaching
    if epsilon is not None:
        if epsilon not in best:
            raise Refused(f"nothing could be drawn at ε = {plain(epsilon)}: no chains converged.")
        return best[epsilon]
    closest = min(outcome.distance for outcome in best.values())
    if baseline is not None and baseline.draws and closest <= LOSS * baseline.distance:
        closest = baseline.distance
    return next(outcome for outcome in best.values() if outcome.distance <= LOSS * closest)


def _unreached(
    outcomes: Sequence[Outcome], target: WantedAccuracy, epsilon: float | None, public: bool
) -> str:
    averages = [outcome.average(target.metric) for outcome in outcomes]
    numbers = [average for average in averages if average is not None]
    at = "any ε that was tried" if epsilon is None else f"ε = {plain(epsilon)}"
    if not numbers:
        return f"{target.metric} cannot be measured on this table, so no target is reached."
    best = f": the best is {min(numbers):.3g}" if public else ""
    return (
        f"{target} is not reached at {at}{best}. Ask for less, allow a larger ε, or take a model "
        "that fits better."
    )
