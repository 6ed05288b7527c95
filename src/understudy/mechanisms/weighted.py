"""Weighted: the pseudo posterior, with risky records counting less (paper, section 2.1).

With fᵢ = max over posterior draws of |f_θ(xᵢ)| from the Unweighted fit,

    f̃ᵢ = (fᵢ − min f) / (max f − min f),      αᵢ = clip( c₁ (1 − f̃ᵢ) + c₂,  0, 1 ),

and αᵢ = 0 where fᵢ is not finite. The paper's text has α ∝ 1/f, which taken literally makes every
α·f equal; the linear map is what reproduces its figures.

Where min f and max f are taken over the same table, one record can move every other record's
weight, and no strict guarantee follows. Draws and extent from a reference make α a function of the
record alone; risks beyond the reference's are clipped to its range.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from understudy._jax import jax, jnp
from understudy.mechanisms.row import RowMechanism
from understudy.privacy.guarantee import Kind, Weights


def weights_from_risk(
    risk: jax.Array, *, c1: float, c2: float, extent: tuple[float, float] | None = None
) -> jax.Array:
    """Return α for each record from its risk; a given extent replaces min f and max f."""
    finite = jnp.isfinite(risk)
    if extent is None:
        smallest = jnp.min(jnp.where(finite, risk, jnp.inf))
        largest = jnp.max(jnp.where(finite, risk, -jnp.inf))
    else:
        smallest, largest = map(jnp.asarray, extent)
    spread = largest - smallest
    # Records that are all alike are all as safe as the safest.
    relative = jnp.where(finite & (spread > 0), (risk - smallest) / spread, 0.0)
    return jnp.where(finite, jnp.clip(c1 * (1 - jnp.clip(relative, 0, 1)) + c2, 0.0, 1.0), 0.0)


@dataclass(frozen=True, kw_only=True)
class Weighted(RowMechanism):
    """α from the risk of the Unweighted fit, b = 0, B = ∞. Asymptotic.

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
    bound = math.inf
    reason = (
        "The Lipschitz bound was computed on this table; that it holds for other tables is known "
        "only as the number of records grows without limit."
    )

    def alpha(self, risk: jax.Array) -> jax.Array:
        """Weigh each record by its risk."""
        return weights_from_risk(risk, c1=self.c1, c2=self.c2)
