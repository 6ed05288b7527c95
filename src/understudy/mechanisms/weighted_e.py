"""Weighted-e: Weighted, without the records that would still reach ε/2 (paper, section 2.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from understudy._jax import jax, jnp
from understudy.mechanisms.row import RowMechanism
from understudy.mechanisms.weighted import weights_from_risk
from understudy.privacy.guarantee import Kind, Weights


@dataclass(frozen=True, kw_only=True)
class WeightedE(RowMechanism):
    """α as Weighted, but 0 where α·f exceeds ε/2; b = 0, B = ∞. Asymptotic.

    f is the risk of the Unweighted fit. Truncation draws the local Lipschitz bound towards ε/2
    faster, but the refit moves θ, and with it f, so ε/2 can still be passed.
    """

    epsilon: float
    """Records that would still reach half of it are dropped."""
    c1: float = 1.0
    """Scale of the weights."""
    c2: float = 0.0
    """Shift of the weights."""

    name = "weighted-e"
    kind = Kind.ASYMPTOTIC
    weights = Weights.SAME_DATA
    bound = math.inf
    reason = (
        "Records were dropped by what an earlier fit to this table said about them; the target "
        "is approached only as the number of records grows without limit."
    )

    def alpha(self, risk: jax.Array) -> jax.Array:
        """Weigh each record by its risk, and drop it if it still passes what ε affords."""
        weighted = weights_from_risk(risk, c1=self.c1, c2=self.c2)
        reaches = jnp.where(jnp.isfinite(risk), weighted * risk, 0.0)
        return jnp.where(reaches > self.affordable, 0.0, weighted)
