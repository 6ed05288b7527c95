"""Unweighted: the model's ordinary posterior (paper, section 2.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from understudy._jax import jax, jnp
from understudy.mechanisms.row import RowMechanism
from understudy.privacy.guarantee import Kind, Weights


@dataclass(frozen=True, kw_only=True)
class Unweighted(RowMechanism):
    """α = 1, b = 0, B = ∞. No guarantee.

    Nothing bounds what one record adds to the log density: the largest |f| of the table at hand,
    doubled, is its local epsilon, a diagnostic and not a promise.
    """

    name = "unweighted"
    kind = Kind.NONE
    weights = Weights.NONE
    bound = math.inf
    reason = "Nothing limits what one record can add to the posterior."

    def alpha(self, risk: jax.Array) -> jax.Array:
        """Every record counts in full."""
        return jnp.ones_like(risk)
