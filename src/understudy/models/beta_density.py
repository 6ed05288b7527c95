"""The Beta density on a declared interval, evaluated from logarithms that are taken once.

With u = (y − lower) / (upper − lower),

    f = (a − 1) log u + (b − 1) log(1 − u) + log Γ(λ) − log Γ(a) − log Γ(b),    λ = a + b,

which is linear in (a, b) apart from the normalising constant. At u = 0 and u = 1 it is infinite;
the value returned is the limit and the gradient is that of the finite part, so nothing turns into
a NaN.
"""

from __future__ import annotations

import numpy as np

from understudy._jax import jax, jnp
from understudy.domain.schema import Column
from understudy.models.base import Data
from understudy.models.log_gamma import log_gamma

PRECISION_FLOOR = 0.1
PRECISION_SHAPE = 1.5
_SMALLEST_SHAPE = 1e-100
_LARGEST_PRECISION = 1e12


def logarithms(values: np.ndarray, column: Column) -> Data:
    """Return log u and log(1 − u), each measured from its own bound so that no digit is lost."""
    with np.errstate(divide="ignore"):
        log_u = np.log((values - column.lower) / column.width)
        log_1mu = np.log((column.upper - values) / column.width)
    return {"log_u": jnp.asarray(log_u), "log_1mu": jnp.asarray(log_1mu)}


def beta_loglik(
    precision: jax.Array, mean: jax.Array, one_minus_mean: jax.Array, data: Data
) -> jax.Array:
    """Return the log density of Beta(λ mean, λ (1 − mean)) at u, with its limits at 0 and 1."""
    log_u, log_1mu = data["log_u"], data["log_1mu"]
    # Shapes that underflow would make the gradient infinite; one that overflows is not a number.
    precision = jnp.minimum(precision, _LARGEST_PRECISION)
    a = jnp.maximum(precision * mean, _SMALLEST_SHAPE)
    b = jnp.maximum(precision * one_minus_mean, _SMALLEST_SHAPE)
    inside_u, inside_1mu = jnp.isfinite(log_u), jnp.isfinite(log_1mu)
    finite_part = (
        (a - 1) * jnp.where(inside_u, log_u, 0.0)
        + (b - 1) * jnp.where(inside_1mu, log_1mu, 0.0)
        + (log_gamma(precision) - log_gamma(a) - log_gamma(b))
    )
    at_edge = jnp.where(inside_u, 0.0, edge(a)) + jnp.where(inside_1mu, 0.0, edge(b))
    return finite_part + at_edge


def edge(shape: jax.Array) -> jax.Array:
    """Return the limit of (shape − 1) log u as u → 0: ±∞, or 0 for a density that is level."""
    limit = jnp.where(shape < 1, jnp.inf, jnp.where(shape > 1, -jnp.inf, 0.0))
    return jax.lax.stop_gradient(limit)


def log_precision_prior(precision: jax.Array) -> jax.Array:
    """Log density of Pareto(0.1, 1.5), the paper's prior on the precision λ."""
    return (
        np.log(PRECISION_SHAPE)
        + PRECISION_SHAPE * np.log(PRECISION_FLOOR)
        - (PRECISION_SHAPE + 1) * jnp.log(precision)
    )
