"""Censor_w: the censored, weighted likelihood (paper, section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from understudy.guarantee import Kind, Weights, bound_for
from understudy.mechanisms.base import Mechanism

if TYPE_CHECKING:
    import jax


@dataclass(frozen=True, kw_only=True)
class CensorW(Mechanism):
    """α as Weighted, b = 0, B = ε/2 (ε/4 under replace-one). Asymptotic.

    Each score is bounded, but the weights come from the same table: one record moves the smallest
    or largest risk, and with it every other record's weight and score. The theorem of
    `guarantee.py` needs weights that are a function of the record alone.
    """

    epsilon: float
    c1: float = 1.0
    c2: float = 0.0

    name = "censor-w"
    kind = Kind.ASYMPTOTIC
    weights = Weights.SAME_DATA
    reason = (
        "The weights were learned from this table, so one record can change the weights of all "
        "the others, which censoring does not bound."
    )

    @property
    def bound(self) -> float:
        """The bound of each record's score."""
        return bound_for(epsilon=self.epsilon, adjacency=self.adjacency)

    def alpha(self, risk: jax.Array) -> jax.Array:
        """Weigh each record by its risk."""
        from understudy.weights import weights_from_risk

        return weights_from_risk(risk, c1=self.c1, c2=self.c2)
