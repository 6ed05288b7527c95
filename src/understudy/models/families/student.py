"""student: a t distribution cut to the declared bounds, for outcomes with outliers.

    u ~ Student(ν, η, σ) given 0 ≤ u ≤ 1,      identity link,
    σ ~ half-normal(0.5),      ν ~ pareto(2, 1);      coefficients as for gaussian.

The prior of ν starts at 2, where the variance begins to exist; half of it lies below 4, the value
that robust regression often fixes, and its long tail reaches the normal distribution.
"""

from __future__ import annotations

import numpy as np

from understudy._jax import jax, jnp
from understudy.domain.schema import Column, Type
from understudy.models.base import Data, Theta
from understudy.models.families.base import Extra, Family, accept, scaled
from understudy.models.families.gaussian import (
    COEFFICIENTS,
    GROUP_SD,
    INTERCEPT,
    SIGMA,
    centre_and_scale,
)
from understudy.models.families.truncation import LogMass, log_integral, simulating_numbers
from understudy.models.priors import Prior

NU = Extra("nu", Prior("pareto", (2.0, 1.0)), above=1.0)
_LARGEST_NU = 1e6


def student(column: Column) -> Family:
    """Return the truncated t family of a continuous column."""
    accept(column, "student", Type.CONTINUOUS)

    def loglik(eta: jax.Array, theta: Theta, data: Data) -> jax.Array:
        centre, sigma = centre_and_scale(eta, theta)
        nu = _degrees(theta)
        z = (data["u"] - centre) / sigma
        mass = log_student_mass(-centre / sigma, (1 - centre) / sigma, nu)
        return -(nu + 1) / 2 * jnp.log1p(z**2 / nu) - jnp.log(sigma) - mass

    def log_mass_at(eta: jax.Array, theta: Theta) -> LogMass:
        centre, sigma = centre_and_scale(eta, theta)
        nu = _degrees(theta)
        return lambda u: log_student_mass(-centre / sigma, (u - centre) / sigma, nu)

    return Family(
        extras=(SIGMA, NU),
        prepare=lambda values: {"u": scaled(values, column)},
        loglik=loglik,
        simulate=simulating_numbers(column, log_mass_at),
        intercept=INTERCEPT,
        coefficients=COEFFICIENTS,
        group_sd=GROUP_SD,
    )


def _degrees(theta: Theta) -> jax.Array:
    return jnp.minimum(theta["nu"], _LARGEST_NU)


def log_student_mass(low: jax.Array, high: jax.Array, nu: jax.Array) -> jax.Array:
    """Return log ∫ (1 + t²/ν)^(−(ν+1)/2) dt from low to high.

    With t = √ν tan φ and sin φ = y (3 − y²)/2 the integrand is, up to a constant, the power

        (1 − y²)^(ν−1) (1 − y²/4)^(ν/2−1),      −1 ≤ y ≤ 1,

    smooth up to the ends, which infinite t reaches.
    """

    def place(t: jax.Array) -> jax.Array:
        return 2 * jnp.sin(jnp.arctan(t / jnp.sqrt(nu)) / 3)

    def g(y: jax.Array) -> jax.Array:
        square = y**2
        return (nu - 1) * jnp.log(1 - square) + (nu / 2 - 1) * jnp.log(1 - square / 4)

    integral = log_integral(
        g,
        mode=jnp.zeros(()),
        sd=1 / jnp.sqrt(2.25 * nu - 2.5),
        low=place(low),
        high=place(high),
    )
    return integral + np.log(1.5) + 0.5 * jnp.log(nu)
