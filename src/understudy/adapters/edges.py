"""Gradients that stay finite where a user's log-likelihood does not."""

from __future__ import annotations

from collections.abc import Callable

from understudy._jax import jax, jnp
from understudy.domain.tables import Columns
from understudy.models.base import Data, Theta


def with_finite_gradient(
    loglik: Callable[[Theta, Data], jax.Array], theta: Theta, data: Data, spare: Columns
) -> jax.Array:
    """Return f, whose gradient is zero instead of undefined for records where f is not finite.

    Those records are swapped for a public one, `spare`, before differentiation: masking f
    afterwards would come too late, because the chain rule would still meet 0 · ∞ inside the user's
    function.
    """
    value = loglik(jax.tree.map(jax.lax.stop_gradient, theta), data)
    finite = jnp.isfinite(value)
    safe = {
        name: jnp.where(jnp.reshape(finite, (-1,) + (1,) * (array.ndim - 1)), array, spare[name][0])
        for name, array in data.items()
    }
    return jnp.where(finite, loglik(theta, safe), value)


def log_sum(terms: jax.Array) -> jax.Array:
    """Return log Σ exp over the first axis, whose gradient is zero where the sum is not finite."""
    value = jax.nn.logsumexp(jax.lax.stop_gradient(terms), axis=0)
    finite = jnp.isfinite(value)
    return jnp.where(finite, jax.nn.logsumexp(jnp.where(finite, terms, 0.0), axis=0), value)
