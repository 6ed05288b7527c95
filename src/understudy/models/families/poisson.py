"""poisson: a count, measured from the lower bound and cut at the upper.

    k = y − lower,    P(k) = λ^k / k! / Σ_j λ^j / j!   for k = 0, ..., width,
    λ = width · exp(η),      Intercept ~ normal(−2, 2.5).

exp(η) is the rate as a share of the declared width, so that one prior fits counts of children and
of inhabitants. Where the lower bound is not zero, what lies above it is counted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from understudy._jax import jax, jnp
from understudy.domain.schema import Column, Type
from understudy.models.base import Data, Theta
from understudy.models.families.base import Family, accept
from understudy.models.families.gamma import FURTHEST
from understudy.models.families.lognormal import INTERCEPT
from understudy.models.families.truncation import LogMass, log_integral, simulating_counts
from understudy.models.log_gamma import log_gamma

FEW = 64
"""Up to here sums over counts are added term by term; beyond, integrals take their place."""


def poisson(column: Column) -> Family:
    """Return the truncated Poisson family of a column of whole numbers."""
    accept(column, "poisson", Type.COUNT, Type.INTEGER)
    largest = int(column.width)

    def loglik(eta: jax.Array, theta: Theta, data: Data) -> jax.Array:
        log_rate = log_mean(eta, largest)
        mass = log_poisson_mass(log_rate, largest)
        return data["count"] * log_rate - data["log_factorial"] - mass

    def log_mass_at(eta: jax.Array, theta: Theta) -> LogMass:
        return partial(log_poisson_mass, log_mean(eta, largest))

    return Family(
        prepare=lambda values: counted(values, column),
        loglik=loglik,
        simulate=simulating_counts(column, log_mass_at),
        intercept=INTERCEPT,
    )


def counted(values: np.ndarray, column: Column) -> Data:
    """Return k and log k!, which every θ shares."""
    count = jnp.asarray(values - column.lower, dtype=jnp.float64)
    return {"count": count, "log_factorial": log_gamma(count + 1)}


def log_mean(eta: jax.Array, largest: int) -> jax.Array:
    """Return the log of the mean that η stands for, kept where nothing overflows."""
    return np.log(largest) + jnp.clip(eta, -FURTHEST, FURTHEST)


def log_poisson_mass(log_rate: jax.Array, k: int | jax.Array) -> jax.Array:
    """Return log Σ λ^j / j! over j = 0, ..., k."""
    if isinstance(k, int) and k <= FEW:
        return _nested(log_rate, k)
    return log_sum_up_to(
        k,
        lambda j: log_rate[..., None] * j - log_factorials(len(j)),
        lambda k: _upper_gamma(k + 1, jnp.exp(log_rate)),
    )


def _nested(log_rate: jax.Array, k: int) -> jax.Array:
    """Return the same for a few terms, each but one product and one sum.

    Up to λ = k they are nested from the last to the first, 1 + λ/1 (1 + λ/2 (1 + ...)), and beyond
    from the first to the last, which is taken out: λ^k/k! (1 + k/λ (1 + (k − 1)/λ (1 + ...))). So
    nothing overflows, and as all terms are positive no digit is lost.
    """
    rate = jnp.exp(log_rate)
    small, inverse = jnp.where(rate <= k, rate, k), 1 / jnp.where(rate <= k, k, rate)
    below = above = jnp.ones_like(rate)
    for j in range(1, k + 1):
        below = 1 + below * small / (k + 1 - j)
        above = 1 + above * j * inverse
    last = k * log_rate - log_factorials(k + 1)[-1]
    return jnp.where(rate <= k, jnp.log(below), last + jnp.log(above))


def log_sum_up_to(
    k: int | jax.Array,
    log_terms: Callable[[np.ndarray], jax.Array],
    log_integral_to: Callable[[jax.Array], jax.Array],
) -> jax.Array:
    """Return the log of a sum over j = 0, ..., k, term by term for few and by integral for many.

    A `k` that is a plain number decides between the two beforehand; of an array each may be needed.
    """
    if isinstance(k, int):
        if k > FEW:
            return log_integral_to(jnp.asarray(float(k)))
        return jax.nn.logsumexp(log_terms(np.arange(k + 1)), axis=-1)
    j = np.arange(FEW + 1)
    few = jax.nn.logsumexp(log_terms(j), axis=-1, where=j <= k[..., None])
    return jnp.where(k <= FEW, few, log_integral_to(jnp.maximum(k, FEW)))


def log_factorials(count: int) -> np.ndarray:
    """Return log j! for j = 0, ..., count − 1."""
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, count)))])


def _upper_gamma(a: jax.Array, rate: jax.Array) -> jax.Array:
    """Return log( exp(λ) Γ(a, λ) / Γ(a) ), the sum over j < a, by the variable (t / a)^(1/3)."""

    def g(v: jax.Array) -> jax.Array:
        return (3 * a[..., None] - 1) * jnp.log(v) - a[..., None] * (v**3 - 1)

    integral = log_integral(
        g,
        mode=jnp.ones(()),
        sd=1 / (3 * jnp.sqrt(a)),
        low=jnp.cbrt(rate / a),
        high=jnp.asarray(jnp.inf),
    )
    return rate + np.log(3.0) + a * jnp.log(a) - a - log_gamma(a) + integral
