"""zero-inflated-beta and zero-one-inflated-beta: a beta outcome with records exactly at its bounds.

    zero-inflated-beta:       P(u = 0) = p₀,   and beta otherwise;      p₀ ~ beta(1, 1).

    zero-one-inflated-beta:   P(u = 0 or 1) = p,   P(u = 1 | u = 0 or 1) = q,   and beta otherwise;
                              p, q ~ beta(1, 1).

The parameters are called `at_lower` (p₀), `at_bounds` (p) and `upper_share` (q), because 0 and 1
are the declared bounds. They are the same for all records; the mean of the beta part follows the
predictors. The log-likelihood of a record at an inflated bound is the log of its probability.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from understudy._jax import jax, jnp
from understudy.domain.schema import Type
from understudy.models.beta_density import logarithms
from understudy.models.families.base import Extra, Family, accept, unscaled
from understudy.models.families.beta import PRECISION, beta_regression, draw_beta
from understudy.models.priors import Prior

if TYPE_CHECKING:
    from understudy.domain.schema import Column
    from understudy.models.base import Data, Theta

_UNIFORM = Prior("beta", (1.0, 1.0))
_SMALLEST_SHARE = 1e-15


def zero_inflated_beta(column: Column) -> Family:
    """Return the beta family with a share of records at the lower bound."""
    accept(column, "zero-inflated-beta", Type.CONTINUOUS)

    def loglik(eta: jax.Array, theta: Theta, data: Data) -> jax.Array:
        share = _share(theta["at_lower"])
        at_lower = jnp.isneginf(data["log_u"])
        inside = beta_regression(eta, theta, _moved(data, at_lower))
        return jnp.where(at_lower, jnp.log(share), jnp.log1p(-share) + inside)

    def draw(key: jax.Array, eta: jax.Array, theta: Theta) -> jax.Array:
        keys = jax.random.split(key)
        at_lower = jax.random.uniform(keys[0], eta.shape) < _share(theta["at_lower"])
        return jnp.where(at_lower, 0.0, draw_beta(keys[1], eta, theta))

    return Family(
        extras=(PRECISION, Extra("at_lower", _UNIFORM)),
        prepare=lambda values: logarithms(values, column),
        loglik=loglik,
        simulate=lambda key, eta, theta: unscaled(draw(key, eta, theta), column),
    )


def zero_one_inflated_beta(column: Column) -> Family:
    """Return the beta family with shares of records at both bounds."""
    accept(column, "zero-one-inflated-beta", Type.CONTINUOUS)

    def loglik(eta: jax.Array, theta: Theta, data: Data) -> jax.Array:
        share, upper = _share(theta["at_bounds"]), _share(theta["upper_share"])
        at_lower, at_upper = jnp.isneginf(data["log_u"]), jnp.isneginf(data["log_1mu"])
        inside = beta_regression(eta, theta, _moved(data, at_lower | at_upper))
        at_bound = jnp.log(share) + jnp.where(at_upper, jnp.log(upper), jnp.log1p(-upper))
        return jnp.where(at_lower | at_upper, at_bound, jnp.log1p(-share) + inside)

    def draw(key: jax.Array, eta: jax.Array, theta: Theta) -> jax.Array:
        keys = jax.random.split(key, 3)
        at_bound = jax.random.uniform(keys[0], eta.shape) < _share(theta["at_bounds"])
        at_upper = jax.random.uniform(keys[1], eta.shape) < _share(theta["upper_share"])
        bound = jnp.where(at_upper, 1.0, 0.0)
        return jnp.where(at_bound, bound, draw_beta(keys[2], eta, theta))

    return Family(
        extras=(PRECISION, Extra("at_bounds", _UNIFORM), Extra("upper_share", _UNIFORM)),
        prepare=lambda values: logarithms(values, column),
        loglik=loglik,
        simulate=lambda key, eta, theta: unscaled(draw(key, eta, theta), column),
    )


def _share(probability: jax.Array) -> jax.Array:
    return jnp.clip(probability, _SMALLEST_SHARE, 1 - _SMALLEST_SHARE)


def _moved(data: Data, at_bound: jax.Array) -> Data:
    """Return the data with records at a bound moved inside, where their beta density is finite."""
    middle = jnp.log(0.5)
    return {name: jnp.where(at_bound, middle, data[name]) for name in ("log_u", "log_1mu")}
