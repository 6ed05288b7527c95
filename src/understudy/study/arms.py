"""The study's results by arm: a mechanism at its ε, with its c₁."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame

from understudy.errors import BadInput
from understudy.study import paper

Values = NDArray[np.float64]
TwoArms = tuple[Values, Values]
"""The values of two arms, on the same tables."""

OURS = {
    "ph-sqrt": "PH, √n bins (DP)",
    "anchored-history": "Anchored, history (DP)",
    "anchored-ladder": "Anchored, ladder (DP)",
    "summary": "Summary (DP)",
}
"""What the study adds to the paper."""
LABELS = {**paper.LABELS, **OURS}

WITHOUT_TARGET = ("data", "unweighted", "weighted")
WITH_WEIGHTS = ("weighted", "weighted-e", "censor-w")
DOWNSCALED = WITH_WEIGHTS
"""The mechanisms that section 4.4 compares without and with downscaling."""
TARGETED = ("weighted-e", "censor-w", "censor-uw")
BAYESIAN = ("weighted", *TARGETED)
SYNTHESISERS = (*BAYESIAN, "ph")
"""The five that the paper compares in utility, in the order of its Table 2."""

STATISTICS = {
    "lipschitz_bound": "Lipschitz bound",
    "max_ecdf": "max-ECDF",
    "avg_ecdf": "avg-ECDF",
    "mean": "Mean",
    "median": "Median",
    "q15": "15th percentile",
    "q90": "90th percentile",
}
ANALYSES = ("mean", "median", "q15", "q90")
"""The analysis-specific statistics, which the confidential table has too."""


class ResultRow(NamedTuple):
    """One number of one replicate: a row of the table of results."""

    replicate: int
    mechanism: str
    epsilon: float
    """NaN where there is no target."""
    c1: float
    """NaN where there are no weights."""
    statistic: str
    value: float


COLUMNS = ResultRow._fields


class Arm(NamedTuple):
    """A mechanism at an ε and a c₁, as far as it has them."""

    mechanism: str
    epsilon: float | None
    c1: float | None


def arms() -> Iterator[Arm]:
    """Yield every arm of the study: first the main study, then the downscaled arms."""
    for mechanism in LABELS:
        c1 = 1.0 if mechanism in WITH_WEIGHTS else None
        for epsilon in (None,) if mechanism in WITHOUT_TARGET else paper.EPSILONS:
            yield Arm(mechanism, epsilon, c1)
    for mechanism in DOWNSCALED:
        epsilon = None if mechanism in WITHOUT_TARGET else paper.DOWNSCALED_EPSILON
        yield Arm(mechanism, epsilon, paper.DOWNSCALED_C1)


def has(mechanism: str, statistic: str) -> bool:
    """Whether a mechanism has a statistic: the confidential table is no synthesis of itself."""
    if statistic == "lipschitz_bound":
        return mechanism in ("unweighted", *BAYESIAN)
    return mechanism != "data" or "ecdf" not in statistic


@dataclass(frozen=True, eq=False)
class Results:
    """The table of results, read arm by arm."""

    frame: DataFrame

    def __post_init__(self) -> None:
        absent = [name for name in COLUMNS if name not in self.frame.columns]
        if absent:
            raise BadInput(f"the study's results lack the column {', '.join(absent)}: run it anew.")
        if self.frame.empty:
            raise BadInput("the study's results are empty: run it with one replicate at least.")

    @cached_property
    def replicates(self) -> int:
        """R, the number of replicates."""
        return int(self.frame["replicate"].nunique())

    def values(
        self,
        mechanism: str,
        statistic: str,
        *,
        epsilon: float | None = None,
        c1: float | None = 1.0,
    ) -> Values:
        """Return one value for each replicate, in the order of the replicates.

        A mechanism without a target has the same values at every ε, and one without weights the
        same at every c₁.
        """
        target = 0.0 if mechanism in WITHOUT_TARGET else epsilon
        scale = c1 if mechanism in WITH_WEIGHTS else 0.0
        values = self._by_arm.get((mechanism, target, scale, statistic))
        if values is None or values.size != self.replicates:
            raise BadInput(
                f"the study's results do not hold {statistic} of {mechanism} at ε = {epsilon} and "
                f"c1 = {c1} for every replicate: run it anew."
            )
        return values

    def loss(self, mechanism: str, statistic: str, epsilon: float, c1: float = 1.0) -> Values:
        """Return what is to be small, in each replicate.

        That is the distance of the synthetic table's mean, median or percentile from that of the
        confidential table, and any other statistic as it is.
        """
        values = self.values(mechanism, statistic, epsilon=epsilon, c1=c1)
        return np.abs(values - self.values("data", statistic)) if statistic in ANALYSES else values

    def losses(self, first: str, second: str, statistic: str, epsilon: float) -> TwoArms:
        """Return what is to be small of two mechanisms, on the same tables."""
        return self.loss(first, statistic, epsilon), self.loss(second, statistic, epsilon)

    def with_and_without_downscaling(self, mechanism: str, statistic: str) -> TwoArms:
        """Return what is to be small with the paper's c₁ and with c₁ = 1, at the paper's ε."""
        epsilon = paper.DOWNSCALED_EPSILON
        downscaled = self.loss(mechanism, statistic, epsilon, paper.DOWNSCALED_C1)
        return downscaled, self.loss(mechanism, statistic, epsilon)

    @cached_property
    def _by_arm(self) -> dict[tuple[Any, ...], Values]:
        """By mechanism, ε, c₁ and statistic; 0 stands for an ε or a c₁ that is not there."""
        ordered = self.frame.sort_values("replicate", kind="stable")
        ordered = ordered.fillna({"epsilon": 0.0, "c1": 0.0})
        groups = ordered.groupby(["mechanism", "epsilon", "c1", "statistic"])["value"]
        return {arm: group.to_numpy(float) for arm, group in groups}


def short(mechanism: str) -> str:
    """Return a mechanism's name without its kind of guarantee."""
    return LABELS[mechanism].partition(" (")[0]


def true_value(statistic: str) -> float:
    """Return the statistic of the Beta distribution that the tables are drawn from."""
    from scipy.special import betaincinv

    a, b = paper.SHAPES
    if statistic == "mean":
        return a / (a + b)
    return float(betaincinv(a, b, {"median": 0.5, "q15": 0.15, "q90": 0.9}[statistic]))
