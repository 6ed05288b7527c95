"""beta: an outcome between two bounds, with its logit mean linear in the predictors.

    u ~ Beta(λμ, λ(1 − μ)),      logit μ = η,      λ ~ pareto(0.1, 1.5).

λ is the precision, with the prior of the paper. At the bounds the density is zero or infinite, and
the log-likelihood is that limit; where many records lie exactly there, an inflated family is meant:

    zero-inflated-beta:       P(u = 0) = p₀,   and beta otherwise;      p₀ ~ beta(1, 1).

    zero-one-inflated-beta:   P(u = 0 or 1) = p,   P(u = 1 | u = 0 or 1) = q,   and beta otherwise;
                              p, q ~ beta(1, 1).

Their parameters are called `at_lower` (p₀), `at_bounds` (p) and `upper_share` (q), because 0 and 1
are the declared bounds. They are the same for all records; the mean of the beta part follows the
predictors. The log-likelihood of a record at an inflated bound is the log of its probability.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import expit

from understudy._jax import jax, jnp
from understudy.domain.schema import Column, Type
from understudy.models.balance import Floats
from understudy.models.base import Data, Theta, drawn_in_blocks
from understudy.models.beta import (
    PRECISION_FLOOR,
    PRECISION_SHAPE,
    beta_loglik,
    beta_quantile,
    logarithms,
)
from understudy.models.families.base import Extra, Family, accept, unscaled
from understudy.models.priors import Prior

_UNIFORM = Prior("beta", (1.0, 1.0))
_SMALLEST_SHARE = 1e-15
_SMALLEST_SHAPE = 1e-100
_PRECISION = Extra("lambda", Prior("pareto", (PRECISION_FLOOR, PRECISION_SHAPE)))


def beta(column: Column) -> Family:
    """Return the beta family of a continuous column."""
    return _family(column, "beta", _beta_regression, _draw_beta, _beta_at)


def zero_inflated_beta(column: Column) -> Family:
    """Return the beta family with a share of records at the lower bound."""

    def loglik(eta: jax.Array, theta: Theta, data: Data) -> jax.Array:
        share = _share(theta["at_lower"])
        at_lower = jnp.isneginf(data["log_u"])
        inside = _beta_regression(eta, theta, _moved(data, at_lower))
        return jnp.where(at_lower, jnp.log(share), jnp.log1p(-share) + inside)

    def draw(key: jax.Array, eta: jax.Array, theta: Theta) -> jax.Array:
        keys = jax.random.split(key)
        at_lower = jax.random.uniform(keys[0], eta.shape) < _share(theta["at_lower"])
        return jnp.where(at_lower, 0.0, _draw_beta(keys[1], eta, theta))

    def at(u: Floats, eta: jax.Array, theta: Theta) -> Floats:
        share = float(_share(theta["at_lower"]))
        inside = _beta_at(np.maximum(u - share, 0.0) / (1 - share), eta, theta)
        return np.where(u < share, 0.0, inside)

    return _family(column, "zero-inflated-beta", loglik, draw, at, "at_lower")


def zero_one_inflated_beta(column: Column) -> Family:
    """Return the beta family with shares of records at both bounds."""

    def loglik(eta: jax.Array, theta: Theta, data: Data) -> jax.Array:
        share, upper = _share(theta["at_bounds"]), _share(theta["upper_share"])
        at_lower, at_upper = jnp.isneginf(data["log_u"]), jnp.isneginf(data["log_1mu"])
        inside = _beta_regression(eta, theta, _moved(data, at_lower | at_upper))
        at_bound = jnp.log(share) + jnp.where(at_upper, jnp.log(upper), jnp.log1p(-upper))
        return jnp.where(at_lower | at_upper, at_bound, jnp.log1p(-share) + inside)

    def draw(key: jax.Array, eta: jax.Array, theta: Theta) -> jax.Array:
        keys = jax.random.split(key, 3)
        at_bound = jax.random.uniform(keys[0], eta.shape) < _share(theta["at_bounds"])
        at_upper = jax.random.uniform(keys[1], eta.shape) < _share(theta["upper_share"])
        bound = jnp.where(at_upper, 1.0, 0.0)
        return jnp.where(at_bound, bound, _draw_beta(keys[2], eta, theta))

    def at(u: Floats, eta: jax.Array, theta: Theta) -> Floats:
        share, upper = (float(_share(theta[name])) for name in ("at_bounds", "upper_share"))
        below, above = share * (1 - upper), 1 - share * upper
        inside = _beta_at(np.clip((u - below) / (1 - share), 0.0, 1.0), eta, theta)
        return np.where(u < below, 0.0, np.where(u >= above, 1.0, inside))

    return _family(column, "zero-one-inflated-beta", loglik, draw, at, "at_bounds", "upper_share")


def _family(
    column: Column,
    name: str,
    loglik: Callable[[jax.Array, Theta, Data], jax.Array],
    draw: Callable[[jax.Array, jax.Array, Theta], jax.Array],
    at: Callable[[Floats, jax.Array, Theta], Floats],
    *shares: str,
) -> Family:
    """Return a family with a beta part, and shares of records elsewhere."""
    accept(column, name, Type.CONTINUOUS)
    return Family(
        extras=(_PRECISION, *(Extra(share, _UNIFORM) for share in shares)),
        prepare=lambda values: logarithms(values, column),
        loglik=loglik,
        simulate=lambda key, eta, theta: unscaled(draw(key, eta, theta), column),
        quantile=lambda u, eta, theta: unscaled(at(u, eta, theta), column),
    )


def _share(probability: jax.Array) -> jax.Array:
    return jnp.clip(probability, _SMALLEST_SHARE, 1 - _SMALLEST_SHARE)


def _moved(data: Data, at_bound: jax.Array) -> Data:
    """Return the data with records at a bound moved inside, where their beta density is finite."""
    middle = jnp.log(0.5)
    return {name: jnp.where(at_bound, middle, data[name]) for name in ("log_u", "log_1mu")}


def _beta_regression(eta: jax.Array, theta: Theta, data: Data) -> jax.Array:
    """Return the log density of u, from its prepared logarithms."""
    return beta_loglik(theta["lambda"], *_means(eta), data)


def _draw_beta(key: jax.Array, eta: jax.Array, theta: Theta) -> jax.Array:
    """Return draws of u, by NumPy, which draws faster than JAX and compiles nothing."""
    a, b = _shapes(eta, theta)
    return jnp.asarray(
        drawn_in_blocks(key, len(a), lambda generator, some: generator.beta(a[some], b[some]))
    )


def _beta_at(u: Floats, eta: jax.Array, theta: Theta) -> Floats:
    """Return quantiles of the beta part."""
    return beta_quantile(u, *_shapes(eta, theta))


def _shapes(eta: jax.Array, theta: Theta) -> tuple[np.ndarray, np.ndarray]:
    precision, place = np.asarray(theta["lambda"]), np.asarray(eta)
    a, b = (np.maximum(precision * expit(end), _SMALLEST_SHAPE) for end in (place, -place))
    return a, b


def _means(eta: jax.Array) -> tuple[jax.Array, jax.Array]:
    # The logistic of −η, rather than 1 − logistic(η), keeps both above zero.
    return jax.nn.sigmoid(eta), jax.nn.sigmoid(-eta)
