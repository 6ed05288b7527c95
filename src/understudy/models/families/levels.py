"""bernoulli, categorical and ordinal: columns with levels.

    bernoulli, of two levels:     P(second level) = logistic(η)

    categorical, in no order:     P(level k) ∝ exp(η_k),      η = 0 for the first declared level

    ordinal, in declared order:   P(level ≤ k) = logistic(c_k − η),      shares ~ dirichlet(1)

Every coefficient of `categorical` is an array with one element for each level but the first, in the
declared order. The cuts of `ordinal` are c_k = logit(share of levels up to k): `shares` are the
probabilities of the levels at η = 0, and take the intercept's place. Going up from level to level
is as a positive η makes it.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from understudy._jax import jax, jnp
from understudy.domain.schema import Column, Type
from understudy.models.balance import Floats, codes_at
from understudy.models.base import Data, Theta, host_generator
from understudy.models.families.base import Extra, Family, accept
from understudy.models.priors import Prior

_SMALLEST_SHARE = 1e-15


def bernoulli(column: Column) -> Family:
    """Return the logistic family of a binary column."""
    accept(column, "bernoulli", Type.BINARY)

    def loglik(eta: jax.Array, theta: Theta, data: Data) -> jax.Array:
        return jax.nn.log_sigmoid(data["sign"] * eta)

    def simulate(key: jax.Array, eta: jax.Array, theta: Theta) -> np.ndarray:
        shares = expit(np.asarray(eta))
        return (host_generator(key).random(shares.shape) < shares).astype(np.int64)

    def quantile(u: Floats, eta: jax.Array, theta: Theta) -> np.ndarray:
        return np.asarray(u >= np.asarray(jax.nn.sigmoid(-eta)), dtype=np.int64)

    return Family(
        prepare=lambda values: {"sign": jnp.asarray(2.0 * values - 1.0)},
        loglik=loglik,
        simulate=simulate,
        quantile=quantile,
    )


def categorical(column: Column) -> Family:
    """Return the multinomial logit family of a column with levels."""
    accept(column, "categorical", Type.CATEGORICAL, Type.BINARY)

    def loglik(eta: jax.Array, theta: Theta, data: Data) -> jax.Array:
        return _chosen(jax.nn.log_softmax(_with_first(eta), axis=-1), data)

    def simulate(key: jax.Array, eta: jax.Array, theta: Theta) -> np.ndarray:
        return np.asarray(jax.random.categorical(key, _with_first(eta)), dtype=np.int64)

    def quantile(u: Floats, eta: jax.Array, theta: Theta) -> np.ndarray:
        return codes_at(u, jax.nn.softmax(_with_first(eta), axis=-1))[0]

    return Family(
        prepare=_codes,
        loglik=loglik,
        simulate=simulate,
        quantile=quantile,
        predictors=(len(column.levels or ()) - 1,),
    )


def _with_first(eta: jax.Array) -> jax.Array:
    return jnp.concatenate([jnp.zeros((len(eta), 1)), eta], axis=-1)


def ordinal(column: Column) -> Family:
    """Return the cumulative logit family of a column with ordered levels."""
    accept(column, "ordinal", Type.CATEGORICAL, Type.BINARY)

    def loglik(eta: jax.Array, theta: Theta, data: Data) -> jax.Array:
        return _chosen(log_shares(eta, theta["shares"]), data)

    def simulate(key: jax.Array, eta: jax.Array, theta: Theta) -> np.ndarray:
        drawn = jax.random.categorical(key, log_shares(eta, theta["shares"]))
        return np.asarray(drawn, dtype=np.int64)

    def quantile(u: Floats, eta: jax.Array, theta: Theta) -> np.ndarray:
        return codes_at(u, jnp.exp(log_shares(eta, theta["shares"])))[0]

    return Family(
        extras=(Extra("shares", Prior("dirichlet", (1.0,)), (len(column.levels or ()),)),),
        prepare=_codes,
        loglik=loglik,
        simulate=simulate,
        quantile=quantile,
        intercept=None,
    )


def log_shares(eta: jax.Array, shares: jax.Array) -> jax.Array:
    """Return the log probability of every level, shape (records, levels), without cancellation.

    logistic(b) − logistic(a) = logistic(b) · logistic(−a) · (1 − exp(a − b)), and the distance
    b − a between neighbouring cuts follows from the share between them.
    """
    shares = jnp.maximum(shares, _SMALLEST_SHARE)
    below, above = jnp.cumsum(shares), jnp.cumsum(shares[::-1])[::-1]
    cuts = jnp.log(below[:-1]) - jnp.log(above[1:])
    low = jax.nn.log_sigmoid(eta[:, None] - cuts)
    high = jax.nn.log_sigmoid(cuts - eta[:, None])
    gaps = jnp.log1p(shares[1:-1] / below[:-2]) + jnp.log1p(shares[1:-1] / above[2:])
    nothing = jnp.zeros((len(eta), 1))
    within = jnp.concatenate([jnp.zeros(1), jnp.log(-jnp.expm1(-gaps)), jnp.zeros(1)])
    return (
        jnp.concatenate([nothing, low], axis=-1)
        + jnp.concatenate([high, nothing], axis=-1)
        + within
    )


def _codes(values: np.ndarray) -> Data:
    return {"code": jnp.asarray(values, dtype=jnp.int64)}


def _chosen(log_shares: jax.Array, data: Data) -> jax.Array:
    """Return the log probability of each record's level."""
    return jnp.take_along_axis(log_shares, data["code"][:, None], axis=-1)[:, 0]
