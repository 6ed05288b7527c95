"""ordinal: a column with levels in their declared order.

    P(level ≤ k) = logistic(c_k − η),      shares ~ dirichlet(1),

where c_k = logit(share of levels up to k): `shares` are the probabilities of the levels at η = 0,
and take the intercept's place. Going up from level to level is as a positive η makes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from understudy._jax import jax, jnp
from understudy.domain.schema import Type
from understudy.models.families.base import Extra, Family, accept
from understudy.models.priors import Prior

if TYPE_CHECKING:
    from understudy.domain.schema import Column
    from understudy.models.base import Data, Theta

_SMALLEST_SHARE = 1e-15


def ordinal(column: Column) -> Family:
    """Return the cumulative logit family of a column with ordered levels."""
    accept(column, "ordinal", Type.CATEGORICAL, Type.BINARY)

    def loglik(eta: jax.Array, theta: Theta, data: Data) -> jax.Array:
        shares = log_shares(eta, theta["shares"])
        return jnp.take_along_axis(shares, data["code"][:, None], axis=-1)[:, 0]

    def simulate(key: jax.Array, eta: jax.Array, theta: Theta) -> np.ndarray:
        drawn = jax.random.categorical(key, log_shares(eta, theta["shares"]))
        return np.asarray(drawn, dtype=np.int64)

    return Family(
        extras=(Extra("shares", Prior("dirichlet", (1.0,)), (len(column.levels or ()),)),),
        prepare=lambda values: {"code": jnp.asarray(values, dtype=jnp.int64)},
        loglik=loglik,
        simulate=simulate,
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
