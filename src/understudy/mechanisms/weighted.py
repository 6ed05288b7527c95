"""Weighted: the pseudo posterior, with risky records counting less (paper, section 2.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import jax

from understudy.mechanisms.row import RowMechanism
from understudy.privacy.guarantee import Kind, Weights


@dataclass(frozen=True, kw_only=True)
class Weighted(RowMechanism):
    """α from the risk of the Unweighted fit (`weights.py`), b = 0, B = ∞. Asymptotic.

    The paper shows that the Lipschitz bound found on the table at hand approaches the one over all
    tables as the number of records grows. For any one table that is a limit and not a bound.
    """

    c1: float = 1.0
    """Scale of the weights."""
    c2: float = 0.0
    """Shift of the weights."""

    name = "weighted"
    kind = Kind.ASYMPTOTIC
    weights = Weights.SAME_DATA
    reason = (
        "The Lipschitz bound was computed on this table; that it holds for other tables is known "
        "only as the number of records grows without limit."
    )

    @property
    def bound(self) -> float:
        """Nothing is censored."""
        return math.inf

    def alpha(self, risk: jax.Array) -> jax.Array:
        """Weigh each record by its risk."""
        from understudy.mechanisms.weights import weights_from_risk

        return weights_from_risk(risk, c1=self.c1, c2=self.c2)
