"""negative-binomial: a count that varies more than a Poisson count does.

    k = y − lower,    P(k) = C(k + r − 1, k) q^k / Σ_j C(j + r − 1, j) q^j   for k = 0, ..., width,
    q = m / (m + r),    m = width · exp(η),    r ~ lognormal(1, 1.5),   Intercept ~ normal(−2, 2.5).

m is the mean before the cut, and m + m²/r the variance. r is called `shape`; the distribution is
geometric for r = 1 and approaches Poisson as r grows. Bounds are treated as by `poisson`.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from understudy._jax import jax, jnp
from understudy.domain.schema import Column, Type
from understudy.models.base import Data, Theta
from understudy.models.families.base import Family, accept
from understudy.models.families.gamma import SHAPE, kept_shape
from understudy.models.families.lognormal import INTERCEPT
from understudy.models.families.poisson import (
    counted,
    log_factorials,
    log_mean,
    log_sum_up_to,
)
from understudy.models.families.truncation import LogMass, log_integral, simulating_counts
from understudy.models.log_gamma import log_gamma

_LIFT = 8


def negative_binomial(column: Column) -> Family:
    """Return the truncated negative binomial family of a column of whole numbers."""
    accept(column, "negative-binomial", Type.COUNT, Type.INTEGER)
    largest = int(column.width)

    def loglik(eta: jax.Array, theta: Theta, data: Data) -> jax.Array:
        shape, log_odds = _shape_and_odds(eta, theta, largest)
        count = data["count"]
        ways = log_gamma(count + shape) - log_gamma(shape) - data["log_factorial"]
        mass = log_binomial_mass(shape, log_odds, largest)
        return ways + count * jax.nn.log_sigmoid(log_odds) - mass

    def log_mass_at(eta: jax.Array, theta: Theta) -> LogMass:
        return partial(log_binomial_mass, *_shape_and_odds(eta, theta, largest))

    return Family(
        extras=(SHAPE,),
        prepare=lambda values: counted(values, column),
        loglik=loglik,
        simulate=simulating_counts(column, log_mass_at),
        intercept=INTERCEPT,
    )


def _shape_and_odds(eta: jax.Array, theta: Theta, largest: int) -> tuple[jax.Array, jax.Array]:
    """Return r and log m/r, the log odds of q."""
    shape = kept_shape(theta)
    return shape, log_mean(eta, largest) - jnp.log(shape)


def log_binomial_mass(shape: jax.Array, log_odds: jax.Array, k: int | jax.Array) -> jax.Array:
    """Return log Σ C(j + r − 1, j) q^j over j = 0, ..., k."""
    log_q = jax.nn.log_sigmoid(log_odds)

    def log_terms(j: np.ndarray) -> jax.Array:
        ways = log_gamma(j + shape) - log_gamma(shape) - log_factorials(len(j))
        return ways + j * log_q[..., None]

    return log_sum_up_to(k, log_terms, lambda k: _lower_beta(shape, k + 1, log_odds))


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
