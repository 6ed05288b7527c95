"""gamma: positive and skewed, measured from the lower bound and cut at the upper.

    u ~ Gamma(shape k, mean exp(η)) given 0 < u ≤ 1,
    k ~ lognormal(1, 1.5),      Intercept ~ normal(−2, 2.5).

With x = k exp(−η) this is the exponential family

    f = (k − 1) log u − x u − log I(k, x),      I(k, x) = ∫ w^(k−1) exp(−x w) dw from 0 to 1.

exp(η) is the mean before the cut, as a share of the declared width. At the lower bound the density
is infinite for k < 1 and zero for k > 1, and the log-likelihood is that limit.
"""

from __future__ import annotations

import numpy as np

from understudy._jax import jax, jnp
from understudy.domain.schema import Column, Type
from understudy.models.base import Data, Theta
from understudy.models.beta_density import edge, logarithms
from understudy.models.families.base import Extra, Family, accept, scaled
from understudy.models.families.lognormal import INTERCEPT
from understudy.models.families.truncation import LogMass, log_integral, simulating_numbers
from understudy.models.priors import Prior

SHAPE = Extra("shape", Prior("lognormal", (1.0, 1.5)))
FURTHEST = 30.0
"""Log means are kept within this, where nothing overflows."""
_SMALLEST_SHAPE, _LARGEST_SHAPE = 1e-6, 1e6
_LIFT = 8


def gamma(column: Column) -> Family:
    """Return the truncated gamma family of a continuous column."""
    accept(column, "gamma", Type.CONTINUOUS)

    def prepare(values: np.ndarray) -> Data:
        return {"u": scaled(values, column), "log_u": logarithms(values, column)["log_u"]}

    def loglik(eta: jax.Array, theta: Theta, data: Data) -> jax.Array:
        shape, rate = _shape_and_rate(eta, theta)
        inside = jnp.isfinite(data["log_u"])
        finite_part = (
            (shape - 1) * jnp.where(inside, data["log_u"], 0.0)
            - rate * data["u"]
            - log_gamma_mass(shape, rate)
        )
        return finite_part + jnp.where(inside, 0.0, edge(shape))

    def log_mass_at(eta: jax.Array, theta: Theta) -> LogMass:
        shape, rate = _shape_and_rate(eta, theta)
        # The mass of [0, u] is that of [0, 1] at a rate u times as large, scaled by u^k.
        return lambda u: shape * jnp.log(u) + log_gamma_mass(shape, rate * u)

    return Family(
        extras=(SHAPE,),
        prepare=prepare,
        loglik=loglik,
        simulate=simulating_numbers(column, log_mass_at),
        intercept=INTERCEPT,
    )


def kept_shape(theta: Theta) -> jax.Array:
    """Return the shape, kept where its powers and their logarithms are finite."""
    return jnp.clip(theta["shape"], _SMALLEST_SHAPE, _LARGEST_SHAPE)


def _shape_and_rate(eta: jax.Array, theta: Theta) -> tuple[jax.Array, jax.Array]:
    shape = kept_shape(theta)
    return shape, shape * jnp.exp(-jnp.clip(eta, -FURTHEST, FURTHEST))


def log_gamma_mass(shape: jax.Array, rate: jax.Array) -> jax.Array:
    """Return log I(k, x).

    Integration by parts, I(k, x) = (exp(−x) + x I(k + 1, x)) / k, lifts small shapes to where the
    integrand is smooth; there the variable (x w / k)^(1/3) makes it nearly normal (Wilson and
    Hilferty 1931, doi:10.1073/pnas.17.12.684).
    """
    lifted = shape + _LIFT

    def g(v: jax.Array) -> jax.Array:
        a = lifted[..., None]
        return (3 * a - 1) * jnp.log(v) - a * v**3

    integral = log_integral(
        g,
        mode=jnp.ones(()),
        sd=1 / (3 * jnp.sqrt(lifted)),
        low=jnp.zeros(()),
        high=jnp.cbrt(rate / lifted),
    )
    log_last = np.log(3.0) - lifted * jnp.log(rate / lifted) + integral
    term = 1 / shape
    total = term
    for k in range(1, _LIFT):
        term = term * rate / (shape + k)
        total = total + term
    return jnp.logaddexp(jnp.log(total) - rate, jnp.log(term) + jnp.log(rate) + log_last)
