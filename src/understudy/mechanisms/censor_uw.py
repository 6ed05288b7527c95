"""Censor_uw: the censored likelihood (paper, section 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from understudy._jax import jax, jnp
from understudy.mechanisms.row import RowMechanism
from understudy.privacy.guarantee import Kind, Weights


@dataclass(frozen=True, kw_only=True)
class CensorUw(RowMechanism):
    """α = 1, b = 0, B = ε/2 (ε/4 under replace-one). Strict with exact draws, else conditional.

    A score depends on θ and its own record alone and never leaves [−B, B]: the theorem of
    `guarantee.py` applies as it stands.
    """

    epsilon: float
    """The privacy loss of one draw."""

    name = "censor-uw"
    kind = Kind.STRICT
    weights = Weights.NONE
    draws_exactly = True

    def alpha(self, risk: jax.Array) -> jax.Array:
        """Every record counts in full."""
        return jnp.ones_like(risk)

    @classmethod
    def trials(cls) -> Sequence[Mapping[str, float]]:
        """It has nothing to settle but ε."""
        return ({},)
