"""Record weights: the riskier a record, the less it counts.

With fᵢ = max over posterior draws of |f_θ(xᵢ)| from the Unweighted fit,

    f̃ᵢ = (fᵢ − min f) / (max f − min f),      αᵢ = clip( c₁ (1 − f̃ᵢ) + c₂,  0, 1 ),

and αᵢ = 0 where fᵢ is not finite. The paper's text has α ∝ 1/f, which taken literally makes every
α·f equal; the linear map is what reproduces its figures.

Where min f and max f are taken over the same table, one record can move every other record's
weight, and no strict guarantee follows. Draws and extent from a reference make α a function of the
record alone; risks beyond the reference's are clipped to its range.
"""

from __future__ import annotations

from understudy._jax import jax, jnp


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


def truncated(alpha: jax.Array, risk: jax.Array, *, bound: float) -> jax.Array:
    """Return α, set to 0 wherever α·f exceeds the bound (the paper's Weighted-e)."""
    reaches = jnp.where(jnp.isfinite(risk), alpha * risk, 0.0)
    return jnp.where(reaches > bound, 0.0, alpha)
