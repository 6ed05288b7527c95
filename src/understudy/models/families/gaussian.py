"""gaussian: a normal distribution cut to the declared bounds.

    u ~ Normal(η, σ) given 0 ≤ u ≤ 1,      identity link,      σ ~ half-normal(0.5),
    Intercept ~ normal(0.5, 1),   other coefficients ~ normal(0, 1),   sd of groups ~
    half-normal(0.5).

The priors are narrower than those of the other families because η is measured in widths of the
declared domain. η is the mean before the cut; it may lie outside the bounds, which bends the
density towards one of them.
"""

from __future__ import annotations

import numpy as np
from jax.scipy.special import erfcx

from understudy._jax import jax, jnp
from understudy.domain.schema import Column, Type
from understudy.models.base import Data, Theta
from understudy.models.families.base import Extra, Family, accept, scaled
from understudy.models.families.truncation import LogMass, simulating_numbers
from understudy.models.priors import Prior

SIGMA = Extra("sigma", Prior("half-normal", (0.5,)))
INTERCEPT = Prior("normal", (0.5, 1.0))
COEFFICIENTS = Prior("normal", (0.0, 1.0))
GROUP_SD = Prior("half-normal", (0.5,))

HALF_LOG_2PI = 0.5 * np.log(2 * np.pi)
_FURTHEST_CENTRE = 1e3
_SMALLEST_SIGMA = 1e-6
_SMALLEST_MASS = 1e-300


def gaussian(column: Column) -> Family:
    """Return the truncated normal family of a continuous column."""
    accept(column, "gaussian", Type.CONTINUOUS)

    def loglik(eta: jax.Array, theta: Theta, data: Data) -> jax.Array:
        centre, sigma = centre_and_scale(eta, theta)
        z = (data["u"] - centre) / sigma
        mass = log_normal_mass(-centre / sigma, (1 - centre) / sigma)
        return -0.5 * z**2 - HALF_LOG_2PI - jnp.log(sigma) - mass

    def log_mass_at(eta: jax.Array, theta: Theta) -> LogMass:
        centre, sigma = centre_and_scale(eta, theta)
        return lambda u: log_normal_mass(-centre / sigma, (u - centre) / sigma)

    return Family(
        extras=(SIGMA,),
        prepare=lambda values: {"u": scaled(values, column)},
        loglik=loglik,
        simulate=simulating_numbers(column, log_mass_at),
        intercept=INTERCEPT,
        coefficients=COEFFICIENTS,
        group_sd=GROUP_SD,
    )


def centre_and_scale(eta: jax.Array, theta: Theta) -> tuple[jax.Array, jax.Array]:
    """Return η and σ, kept where their quotient and its gradient are finite."""
    centre = jnp.clip(eta, -_FURTHEST_CENTRE, _FURTHEST_CENTRE)
    return centre, jnp.maximum(theta["sigma"], _SMALLEST_SIGMA)


@jax.custom_jvp
def log_normal_mass(low: jax.Array, high: jax.Array) -> jax.Array:
    """Return log(Φ(high) − Φ(low)), wherever the two lie.

    On one side of zero, both tails are measured in units of the nearer one: exp(−near²/2).
    """
    root = np.sqrt(2.0)
    near = jnp.minimum(jnp.abs(low), jnp.abs(high))
    far = jnp.maximum(jnp.abs(low), jnp.abs(high))
    nearer = erfcx(near / root) / 2
    further = erfcx(far / root) / 2 * jnp.exp(-(far - near) * (far + near) / 2)
    around = (low < 0) & (high > 0)
    between = 1 - (nearer + further) * jnp.exp(-(near**2) / 2)
    mass = jnp.where(around, between, nearer - further)
    return jnp.log(jnp.maximum(mass, _SMALLEST_MASS)) - jnp.where(around, 0.0, near**2 / 2)


@log_normal_mass.defjvp
def _log_normal_mass_jvp(
    primals: tuple[jax.Array, jax.Array], tangents: tuple[jax.Array, jax.Array]
) -> tuple[jax.Array, jax.Array]:
    mass = log_normal_mass(*primals)
    low, high = (jnp.exp(-(end**2) / 2 - HALF_LOG_2PI - mass) for end in primals)
    return mass, high * tangents[1] - low * tangents[0]
