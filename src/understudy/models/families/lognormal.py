"""lognormal: positive and skewed, measured from the lower bound and cut at the upper.

    log u ~ Normal(η, σ) given 0 < u ≤ 1,      σ ~ half-normal(1),   Intercept ~ normal(−2, 2.5).

exp(η) is the median before the cut, as a share of the declared width; the intercept's prior puts
it at about a seventh, give or take a factor of twelve. The density is zero at the lower bound: a
table with records there calls for another family.
"""

from __future__ import annotations

from understudy._jax import jax, jnp
from understudy.domain.schema import Column, Type
from understudy.models.base import Data, Theta
from understudy.models.beta_density import logarithms
from understudy.models.families.base import Extra, Family, accept
from understudy.models.families.gaussian import HALF_LOG_2PI, centre_and_scale, log_normal_mass
from understudy.models.families.truncation import LogMass, simulating_numbers
from understudy.models.priors import Prior

SIGMA = Extra("sigma", Prior("half-normal", (1.0,)))
INTERCEPT = Prior("normal", (-2.0, 2.5))
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
        density = -0.5 * ((log_u - centre) / sigma) ** 2 - HALF_LOG_2PI - jnp.log(sigma) - log_u
        return jnp.where(inside, density - mass, -jnp.inf)

    def log_mass_at(eta: jax.Array, theta: Theta) -> LogMass:
        centre, sigma = centre_and_scale(eta, theta)
        return lambda u: log_normal_mass(jnp.asarray(_BOTTOM), (jnp.log(u) - centre) / sigma)

    return Family(
        extras=(SIGMA,),
        prepare=lambda values: {"log_u": logarithms(values, column)["log_u"]},
        loglik=loglik,
        simulate=simulating_numbers(column, log_mass_at),
        intercept=INTERCEPT,
    )
