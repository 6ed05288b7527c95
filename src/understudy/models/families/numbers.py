"""Families of continuous outcomes, cut to the declared bounds.

gaussian: a normal distribution cut to the declared bounds.

    u ~ Normal(η, σ) given 0 ≤ u ≤ 1,      identity link,      σ ~ half-normal(0.5),
    Intercept ~ normal(0.5, 1),   other coefficients ~ normal(0, 1),   sd of groups ~
    half-normal(0.5).

The priors are narrower than those of the other families because η is measured in widths of the
declared domain. η is the mean before the cut; it may lie outside the bounds, which bends the
density towards one of them.

student: a t distribution cut to the declared bounds, for outcomes with outliers.

    u ~ Student(ν, η, σ) given 0 ≤ u ≤ 1,      identity link,
    σ ~ half-normal(0.5),      ν ~ pareto(2, 1);      coefficients as for gaussian.

The prior of ν starts at 2, where the variance begins to exist; half of it lies below 4, the value
that robust regression often fixes, and its long tail reaches the normal distribution.

lognormal: positive and skewed, measured from the lower bound and cut at the upper.

    log u ~ Normal(η, σ) given 0 < u ≤ 1,      σ ~ half-normal(1),   Intercept ~ normal(−2, 2.5).

exp(η) is the median before the cut, as a share of the declared width; the intercept's prior puts
it at about a seventh, give or take a factor of twelve. The density is zero at the lower bound: a
table with records there calls for another family.

gamma: positive and skewed, measured from the lower bound and cut at the upper.

    u ~ Gamma(shape k, mean exp(η)) given 0 < u ≤ 1,
    k ~ lognormal(1, 1.5),      Intercept ~ normal(−2, 2.5).

With x = k exp(−η) this is the exponential family

    f = (k − 1) log u − x u − log I(k, x),      I(k, x) = ∫ w^(k−1) exp(−x w) dw from 0 to 1.

exp(η) is the mean before the cut, as a share of the declared width. At the lower bound the density
is infinite for k < 1 and zero for k > 1, and the log-likelihood is that limit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from understudy._jax import jax, jnp
from understudy.domain.schema import Column, Type
from understudy.models.base import Data, Theta
from understudy.models.beta import edge, logarithms
from understudy.models.families.base import Extra, Family, accept, scaled
from understudy.models.families.truncation import LogMass, inverting, log_integral
from understudy.models.priors import Prior

_SIGMA = Extra("sigma", Prior("half-normal", (0.5,)))
_INTERCEPT = Prior("normal", (0.5, 1.0))
_COEFFICIENTS = Prior("normal", (0.0, 1.0))
_GROUP_SD = Prior("half-normal", (0.5,))
_NU = Extra("nu", Prior("pareto", (2.0, 1.0)), above=1.0)
_LOG_SIGMA = Extra("sigma", Prior("half-normal", (1.0,)))
LOG_INTERCEPT = Prior("normal", (-2.0, 2.5))
SHAPE = Extra("shape", Prior("lognormal", (1.0, 1.5)))

FURTHEST = 30.0
"""Log means are kept within this, where nothing overflows."""
_HALF_LOG_2PI = 0.5 * np.log(2 * np.pi)
_FURTHEST_CENTRE = 1e3
_SMALLEST_SIGMA = 1e-6
_SMALLEST_MASS = 1e-300
_LARGEST_NU = 1e6
_BOTTOM = -1e15
"""Standard deviations below the centre: no mass is left there."""
_SMALLEST_SHAPE, _LARGEST_SHAPE = 1e-6, 1e6
_LIFT = 8


def gaussian(column: Column) -> Family:
    """Return the truncated normal family of a continuous column."""
    accept(column, "gaussian", Type.CONTINUOUS)

    def loglik(eta: jax.Array, theta: Theta, data: Data) -> jax.Array:
        centre, sigma = _centre_and_scale(eta, theta)
        z = (data["u"] - centre) / sigma
        mass = log_normal_mass(-centre / sigma, (1 - centre) / sigma)
        return -0.5 * z**2 - _HALF_LOG_2PI - jnp.log(sigma) - mass

    def log_mass_at(eta: jax.Array, theta: Theta) -> LogMass:
        centre, sigma = _centre_and_scale(eta, theta)
        return lambda u: log_normal_mass(-centre / sigma, (u - centre) / sigma)

    return Family(
        extras=(_SIGMA,),
        prepare=lambda values: {"u": scaled(values, column)},
        loglik=loglik,
        **inverting(column, log_mass_at, _free_normal),
        intercept=_INTERCEPT,
        coefficients=_COEFFICIENTS,
        group_sd=_GROUP_SD,
    )


def _centre_and_scale(eta: jax.Array, theta: Theta) -> tuple[jax.Array, jax.Array]:
    """Return η and σ, kept where their quotient and its gradient are finite."""
    centre = jnp.clip(eta, -_FURTHEST_CENTRE, _FURTHEST_CENTRE)
    return centre, jnp.maximum(theta["sigma"], _SMALLEST_SIGMA)


def _kept(eta: np.ndarray, theta: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return the same as NumPy has them."""
    centre = np.clip(eta, -_FURTHEST_CENTRE, _FURTHEST_CENTRE)
    return centre, np.maximum(theta["sigma"], _SMALLEST_SIGMA)


def _free_normal(
    generator: np.random.Generator, eta: np.ndarray, theta: dict[str, Any]
) -> np.ndarray:
    return generator.normal(*_kept(eta, theta))


@jax.custom_jvp
def log_normal_mass(low: jax.Array, high: jax.Array) -> jax.Array:
    """Return log(Φ(high) − Φ(low)), wherever the two lie.

    On one side of zero, both tails are measured in units of the nearer one: exp(−near²/2).
    """
    root, erfcx = np.sqrt(2.0), jax.scipy.special.erfcx
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
    low, high = (jnp.exp(-(end**2) / 2 - _HALF_LOG_2PI - mass) for end in primals)
    return mass, high * tangents[1] - low * tangents[0]


def student(column: Column) -> Family:
    """Return the truncated t family of a continuous column."""
    accept(column, "student", Type.CONTINUOUS)

    def loglik(eta: jax.Array, theta: Theta, data: Data) -> jax.Array:
        centre, sigma = _centre_and_scale(eta, theta)
        nu = jnp.minimum(theta["nu"], _LARGEST_NU)
        z = (data["u"] - centre) / sigma
        mass = log_student_mass(-centre / sigma, (1 - centre) / sigma, nu)
        return -(nu + 1) / 2 * jnp.log1p(z**2 / nu) - jnp.log(sigma) - mass

    def log_mass_at(eta: jax.Array, theta: Theta) -> LogMass:
        centre, sigma = _centre_and_scale(eta, theta)
        nu = jnp.minimum(theta["nu"], _LARGEST_NU)
        return lambda u: log_student_mass(-centre / sigma, (u - centre) / sigma, nu)

    def free(generator: np.random.Generator, eta: np.ndarray, theta: dict[str, Any]) -> np.ndarray:
        centre, sigma = _kept(eta, theta)
        return centre + sigma * generator.standard_t(min(theta["nu"], _LARGEST_NU), len(eta))

    return Family(
        extras=(_SIGMA, _NU),
        prepare=lambda values: {"u": scaled(values, column)},
        loglik=loglik,
        **inverting(column, log_mass_at, free),
        intercept=_INTERCEPT,
        coefficients=_COEFFICIENTS,
        group_sd=_GROUP_SD,
    )


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


def lognormal(column: Column) -> Family:
    """Return the truncated lognormal family of a continuous column."""
    accept(column, "lognormal", Type.CONTINUOUS)

    def loglik(eta: jax.Array, theta: Theta, data: Data) -> jax.Array:
        centre, sigma = _centre_and_scale(eta, theta)
        inside = jnp.isfinite(data["log_u"])
        log_u = jnp.where(inside, data["log_u"], 0.0)
        mass = log_normal_mass(jnp.asarray(_BOTTOM), -centre / sigma)
        density = -0.5 * ((log_u - centre) / sigma) ** 2 - _HALF_LOG_2PI - jnp.log(sigma) - log_u
        return jnp.where(inside, density - mass, -jnp.inf)

    def log_mass_at(eta: jax.Array, theta: Theta) -> LogMass:
        centre, sigma = _centre_and_scale(eta, theta)
        return lambda u: log_normal_mass(jnp.asarray(_BOTTOM), (jnp.log(u) - centre) / sigma)

    return Family(
        extras=(_LOG_SIGMA,),
        prepare=lambda values: {"log_u": logarithms(values, column)["log_u"]},
        loglik=loglik,
        **inverting(column, log_mass_at, lambda *known: np.exp(_free_normal(*known))),
        intercept=LOG_INTERCEPT,
    )


def gamma(column: Column) -> Family:
    """Return the truncated gamma family of a continuous column."""
    accept(column, "gamma", Type.CONTINUOUS)

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

    def free(generator: np.random.Generator, eta: np.ndarray, theta: dict[str, Any]) -> np.ndarray:
        shape = np.clip(theta["shape"], _SMALLEST_SHAPE, _LARGEST_SHAPE)
        return generator.gamma(shape, np.exp(np.clip(eta, -FURTHEST, FURTHEST)) / shape)

    return Family(
        extras=(SHAPE,),
        prepare=lambda values: {
            "u": scaled(values, column),
            "log_u": logarithms(values, column)["log_u"],
        },
        loglik=loglik,
        **inverting(column, log_mass_at, free),
        intercept=LOG_INTERCEPT,
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
