"""Unweighted: the model's ordinary posterior (paper, section 2.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from understudy._jax import jax, jnp
from understudy.domain.schema import Schema
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

    @classmethod
    def no_combining(cls, schema: Schema) -> str | None:
        """It draws from a posterior, but all tables share public rows that are held fixed."""
        from understudy.inference.shares import Shares

        if not schema.public:
            return Shares.declared(schema).no_intervals
        return (
            "all tables have the same public rows, so they do not show how much an estimate "
            "depends on these, and analyses of them cannot be combined."
        )
