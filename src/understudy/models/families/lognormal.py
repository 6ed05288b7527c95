"""lognormal: positive and skewed, measured from the lower bound and cut at the upper.

    log u ~ Normal(η, σ) given 0 < u ≤ 1,      σ ~ half-normal(1),   Intercept ~ normal(−2, 2.5).

exp(η) is the median before the cut, as a share of the declared width; the intercept's prior puts
it at about a seventh, give or take a factor of twelve. The density is zero at the lower bound: a
table with records there calls for another family.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from understudy._jax import jax, jnp
from understudy.domain.schema import Type
from understudy.models.beta_density import logarithms
from understudy.models.families.base import Extra, Family, accept, unscaled
from understudy.models.families.gaussian import centre_and_scale, log_normal_mass
from understudy.models.families.truncation import draw_between
from understudy.models.priors import Prior

if TYPE_CHECKING:
    from understudy.domain.schema import Column
    from understudy.models.base import Data, Theta

SIGMA = Extra("sigma", Prior("half-normal", (1.0,)))
INTERCEPT = Prior("normal", (-2.0, 2.5))
_HALF_LOG_2PI = 0.5 * np.log(2 * np.pi)
_BOTTOM = -1e15
"""Standard deviations below the centre: no mass is left there."""


def lognormal(column: Column) -> Family:
    """Return the truncated lognormal family of a continuous column."""
    accept(column, "lognormal", Type.CONTINUOUS)

    def loglik(eta: jax.Array, theta: Theta, data: Data) -> jax.Array:
        centre, sigma = centre_and_scale(eta, theta)
        inside = jnp.isfinite(data["log_u"])
        log_u = jnp.where(inside, data["log_u"], 0.0)
        mass = log_normal_mass(jnp.asarray(_BOTTOM), -centre / sigma)
        density = -0.5 * ((log_u - centre) / sigma) ** 2 - _HALF_LOG_2PI - jnp.log(sigma) - log_u
        return jnp.where(inside, density - mass, -jnp.inf)

    @jax.jit
    def draw(key: jax.Array, eta: jax.Array, theta: Theta) -> jax.Array:
        centre, sigma = centre_and_scale(eta, theta)

        def log_mass(u: jax.Array) -> jax.Array:
            return log_normal_mass(jnp.asarray(_BOTTOM), (jnp.log(u) - centre) / sigma)

        return draw_between(key, log_mass, eta.shape)

    return Family(
        extras=(SIGMA,),
        prepare=lambda values: {"log_u": logarithms(values, column)["log_u"]},
        loglik=loglik,
        simulate=lambda key, eta, theta: unscaled(draw(key, eta, theta), column),
        intercept=INTERCEPT,
    )
