"""The study's results by arm: a mechanism at its ε, with its c₁.

The table of results has one row for each replicate, arm and statistic:

    replicate   mechanism   epsilon              c1                      statistic   value
                            NaN where there      NaN where there are
                            is no target         no weights
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.errors import BadInput
from understudy.study import paper

if TYPE_CHECKING:
    from pandas import DataFrame

Values = NDArray[np.float64]

COLUMNS = ("replicate", "mechanism", "epsilon", "c1", "statistic", "value")

OURS = {
    "ph-sqrt": "PH, √n bins (DP)",
    "anchored-history": "Anchored, history (DP)",
    "anchored-ladder": "Anchored, ladder (DP)",
}
"""What the study adds to the paper."""
LABELS = {**paper.LABELS, **OURS}

WITHOUT_TARGET = ("data", "unweighted", "weighted")
WITH_WEIGHTS = ("weighted", "weighted-e", "censor-w")
DOWNSCALED = ("weighted", "weighted-e", "censor-w")
"""The mechanisms that section 4.4 compares without and with downscaling."""

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

_Key = tuple[str, str, float | None, float | None]


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
        self, mechanism: str, statistic: str, *, epsilon: float | None = None, c1: float = 1.0
    ) -> Values:
        """Return one value for each replicate, in the order of the replicates.

        A mechanism without a target has the same values at every ε, and one without weights the
        same at every c₁.
        """
        key = (
            mechanism,
            statistic,
            None if mechanism in WITHOUT_TARGET else epsilon,
            c1 if mechanism in WITH_WEIGHTS else None,
        )
        found = self._by_arm.get(key)
        if found is None or found.size != self.replicates:
            raise BadInput(
                f"the study's results do not hold {statistic} of {mechanism} at ε = {epsilon} and "
                f"c1 = {c1} for every replicate: run it anew."
            )
        return found

    @cached_property
    def _by_arm(self) -> dict[_Key, Values]:
        ordered = self.frame.sort_values("replicate", kind="stable")
        groups = ordered.groupby(["mechanism", "statistic", "epsilon", "c1"], dropna=False)
        return {
            (str(mechanism), str(statistic), _number(epsilon), _number(c1)): group.to_numpy(float)
            for (mechanism, statistic, epsilon, c1), group in groups["value"]
        }


def short(mechanism: str) -> str:
    """Return a mechanism's name without its kind of guarantee."""
    return LABELS[mechanism].partition(" (")[0]


def _number(value: Any) -> float | None:
    return None if math.isnan(value) else float(value)


def true_value(statistic: str) -> float:
    """Return the statistic of the Beta distribution that the tables are drawn from."""
    from scipy.special import betaincinv

    a, b = paper.SHAPES
    if statistic == "mean":
        return a / (a + b)
    return float(betaincinv(a, b, {"median": 0.5, "q15": 0.15, "q90": 0.9}[statistic]))
