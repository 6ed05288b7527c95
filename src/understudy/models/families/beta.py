"""beta: an outcome between two bounds, with its logit mean linear in the predictors.

    u ~ Beta(λμ, λ(1 − μ)),      logit μ = η,      λ ~ pareto(0.1, 1.5).

λ is the precision, with the prior of the paper. At the bounds the density is zero or infinite, and
the log-likelihood is that limit; where many records lie exactly there, an inflated family is meant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from understudy._jax import jax
from understudy.domain.schema import Type
from understudy.models.beta_density import (
    PRECISION_FLOOR,
    PRECISION_SHAPE,
    beta_loglik,
    logarithms,
)
from understudy.models.families.base import Extra, Family, accept, unscaled
from understudy.models.priors import Prior

if TYPE_CHECKING:
    from understudy.domain.schema import Column
    from understudy.models.base import Data, Theta

PRECISION = Extra("lambda", Prior("pareto", (PRECISION_FLOOR, PRECISION_SHAPE)))


def beta(column: Column) -> Family:
    """Return the beta family of a continuous column."""
    accept(column, "beta", Type.CONTINUOUS)
    return Family(
        extras=(PRECISION,),
        prepare=lambda values: logarithms(values, column),
        loglik=beta_regression,
        simulate=lambda key, eta, theta: unscaled(draw_beta(key, eta, theta), column),
    )


def beta_regression(eta: jax.Array, theta: Theta, data: Data) -> jax.Array:
    """Return the log density of u, from its prepared logarithms."""
    return beta_loglik(theta["lambda"], *_means(eta), data)


def draw_beta(key: jax.Array, eta: jax.Array, theta: Theta) -> jax.Array:
    """Return draws of u."""
    mean, one_minus_mean = _means(eta)
    return jax.random.beta(key, theta["lambda"] * mean, theta["lambda"] * one_minus_mean)


def _means(eta: jax.Array) -> tuple[jax.Array, jax.Array]:
    # The logistic of −η, rather than 1 − logistic(η), keeps both above zero.
    return jax.nn.sigmoid(eta), jax.nn.sigmoid(-eta)
