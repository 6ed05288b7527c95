"""Families of counts, measured from the lower bound and cut at the upper.

poisson: a count, measured from the lower bound and cut at the upper.

    k = y − lower,    P(k) = λ^k / k! / Σ_j λ^j / j!   for k = 0, ..., width,
    λ = width · exp(η),      Intercept ~ normal(−2, 2.5).

exp(η) is the rate as a share of the declared width, so that one prior fits counts of children and
of inhabitants. Where the lower bound is not zero, what lies above it is counted.

negative-binomial: a count that varies more than a Poisson count does.

    k = y − lower,    P(k) = C(k + r − 1, k) q^k / Σ_j C(j + r − 1, j) q^j   for k = 0, ..., width,
    q = m / (m + r),    m = width · exp(η),    r ~ lognormal(1, 1.5),   Intercept ~ normal(−2, 2.5).

m is the mean before the cut, and m + m²/r the variance. r is called `shape`; the distribution is
geometric for r = 1 and approaches Poisson as r grows. Bounds are treated as by `poisson`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from understudy._jax import jax, jnp
from understudy.domain.schema import Column, Type
from understudy.models.base import Data, Theta
from understudy.models.families.base import Family, accept
from understudy.models.families.numbers import FURTHEST, LOG_INTERCEPT, SHAPE, kept_shape
from understudy.models.families.truncation import LogMass, inverting, log_integral
from understudy.models.log_gamma import log_gamma

_LIFT = 8
_LARGEST_RATE = 1e18
"""NumPy draws no larger counts; they are cut off anyway."""
_FEW = 64
"""Up to here sums over counts are added term by term; beyond, integrals take their place."""


def poisson(column: Column) -> Family:
    """Return the truncated Poisson family of a column of whole numbers."""
    accept(column, "poisson", Type.COUNT, Type.INTEGER)
    largest = int(column.width)

    def loglik(eta: jax.Array, theta: Theta, data: Data) -> jax.Array:
        log_rate = _log_mean(eta, largest)
        mass = _log_poisson_mass(log_rate, largest)
        return data["count"] * log_rate - data["log_factorial"] - mass

    def log_mass_at(eta: jax.Array, theta: Theta) -> LogMass:
        return partial(_log_poisson_mass, _log_mean(eta, largest))

    def free(generator: np.random.Generator, eta: np.ndarray, theta: dict[str, Any]) -> np.ndarray:
        return _free_counts(generator, _mean(eta, largest))

    return Family(
        prepare=lambda values: _counted(values, column),
        loglik=loglik,
        **inverting(column, log_mass_at, free),
        intercept=LOG_INTERCEPT,
    )


def _counted(values: np.ndarray, column: Column) -> Data:
    """Return k and log k!, which every θ shares."""
    count = jnp.asarray(values - column.lower, dtype=jnp.float64)
    return {"count": count, "log_factorial": log_gamma(count + 1)}


def _log_mean(eta: jax.Array, largest: int) -> jax.Array:
    """Return the log of the mean that η stands for, kept where nothing overflows."""
    return np.log(largest) + jnp.clip(eta, -FURTHEST, FURTHEST)


def _mean(eta: np.ndarray, largest: int) -> np.ndarray:
    """Return the mean itself, as NumPy has it."""
    return np.asarray(largest * np.exp(np.clip(eta, -FURTHEST, FURTHEST)))


def _free_counts(generator: np.random.Generator, rate: np.ndarray) -> np.ndarray:
    return generator.poisson(np.minimum(rate, _LARGEST_RATE)).astype(np.float64)


def _log_poisson_mass(log_rate: jax.Array, k: int | jax.Array) -> jax.Array:
    """Return log Σ λ^j / j! over j = 0, ..., k."""
    if isinstance(k, int) and k <= _FEW:
        return _nested(log_rate, k)
    return _log_sum_up_to(
        k,
        lambda j: log_rate[..., None] * j - _log_factorials(len(j)),
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
    last = k * log_rate - _log_factorials(k + 1)[-1]
    return jnp.where(rate <= k, jnp.log(below), last + jnp.log(above))


def _log_sum_up_to(
    k: int | jax.Array,
    log_terms: Callable[[np.ndarray], jax.Array],
    log_integral_to: Callable[[jax.Array], jax.Array],
) -> jax.Array:
    """Return the log of a sum over j = 0, ..., k, term by term for few and by integral for many.

    A `k` that is a plain number decides between the two beforehand; of an array each may be needed.
    """
    if isinstance(k, int):
        if k > _FEW:
            return log_integral_to(jnp.asarray(float(k)))
        return jax.nn.logsumexp(log_terms(np.arange(k + 1)), axis=-1)
    j = np.arange(_FEW + 1)
    few = jax.nn.logsumexp(log_terms(j), axis=-1, where=j <= k[..., None])
    return jnp.where(k <= _FEW, few, log_integral_to(jnp.maximum(k, _FEW)))


def _log_factorials(count: int) -> np.ndarray:
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


def negative_binomial(column: Column) -> Family:
    """Return the truncated negative binomial family of a column of whole numbers."""
    accept(column, "negative-binomial", Type.COUNT, Type.INTEGER)
    largest = int(column.width)

    def loglik(eta: jax.Array, theta: Theta, data: Data) -> jax.Array:
        shape, log_odds = _shape_and_odds(eta, theta, largest)
        count = data["count"]
        ways = log_gamma(count + shape) - log_gamma(shape) - data["log_factorial"]
        mass = _log_binomial_mass(shape, log_odds, largest)
        return ways + count * jax.nn.log_sigmoid(log_odds) - mass

    def log_mass_at(eta: jax.Array, theta: Theta) -> LogMass:
        return partial(_log_binomial_mass, *_shape_and_odds(eta, theta, largest))

    def free(generator: np.random.Generator, eta: np.ndarray, theta: dict[str, Any]) -> np.ndarray:
        shape = np.asarray(kept_shape(theta))
        return _free_counts(generator, generator.gamma(shape, _mean(eta, largest) / shape))

    return Family(
        extras=(SHAPE,),
        prepare=lambda values: _counted(values, column),
        loglik=loglik,
        **inverting(column, log_mass_at, free),
        intercept=LOG_INTERCEPT,
    )


def _shape_and_odds(eta: jax.Array, theta: Theta, largest: int) -> tuple[jax.Array, jax.Array]:
    """Return r and log m/r, the log odds of q."""
    shape = kept_shape(theta)
    return shape, _log_mean(eta, largest) - jnp.log(shape)


def _log_binomial_mass(shape: jax.Array, log_odds: jax.Array, k: int | jax.Array) -> jax.Array:
    """Return log Σ C(j + r − 1, j) q^j over j = 0, ..., k."""
    log_q = jax.nn.log_sigmoid(log_odds)

    def log_terms(j: np.ndarray) -> jax.Array:
        ways = log_gamma(j + shape) - log_gamma(shape) - _log_factorials(len(j))
        return ways + j * log_q[..., None]

    return _log_sum_up_to(k, log_terms, lambda k: _lower_beta(shape, k + 1, log_odds))


def _lower_beta(r: jax.Array, b: jax.Array, log_odds: jax.Array) -> jax.Array:
    """Return log( p^(−r) I_p(r, b) ) with p = 1 − q, the sum over j < b.

    I_p(r, b) is the regularised incomplete beta function; p^(r+j) q^b Γ(r+b+j) / Γ(r+j+1) / Γ(b)
    are the steps from I_p(r + j + 1, b) to I_p(r + j, b), which lift small r to where the integrand
    is smooth. There the cube root of its variable, counted from the end at which it gathers, makes
    it nearly normal.
    """
    log_q, log_p = jax.nn.log_sigmoid(log_odds), jax.nn.log_sigmoid(-log_odds)
    a = r + _LIFT
    near, far = jnp.minimum(a, b), jnp.maximum(a, b)

    def g(v: jax.Array) -> jax.Array:
        return (3 * near[..., None] - 1) * jnp.log(v) + (far[..., None] - 1) * jnp.log1p(-(v**3))

    cube = (3 * near - 1) / (3 * (near + far) - 4)
    mode = jnp.cbrt(cube)
    ratio = mode**2 / (1 - cube)
    curvature = (3 * near - 1) / mode**2 + (far - 1) * (6 * mode / (1 - cube) + 9 * ratio**2)
    integral = log_integral(
        g,
        mode=mode,
        sd=1 / jnp.sqrt(curvature),
        low=jnp.where(a < b, 0.0, jnp.exp(log_q / 3)),
        high=jnp.where(a < b, jnp.exp(log_p / 3), 1.0),
    )
    log_last = np.log(3.0) + log_gamma(a + b) - log_gamma(a) - log_gamma(b) + integral - r * log_p
    steps = [
        j * log_p + b * log_q + log_gamma(r + b + j) - log_gamma(r + j + 1) - log_gamma(b)
        for j in range(_LIFT)
    ]
    return jax.nn.logsumexp(jnp.stack(jnp.broadcast_arrays(*steps, log_last)), axis=0)
