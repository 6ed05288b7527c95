"""How far the records reach: maxima over draws and records, one draw at a time.

    risk of a record             fᵢ = max over draws of |f_θ(xᵢ)|
    largest score of a record    sᵢ = max over draws of |s_θ(xᵢ)|
    Lipschitz bound              Δ  = max over records of sᵢ

Draws are streamed, so memory grows with the records and not with draws × records. Maxima grow with
the number of draws; the paper's figures go with 1000. All of these are confidential.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from understudy._jax import jax, jnp
from understudy.models.base import Data, Model
from understudy.score import Row, score


class Reach(NamedTuple):
    """What the draws of one fit say about each record."""

    risk: jax.Array
    """max |f| over the draws, shape (n,); infinite where f is not finite at some draw."""
    largest_score: jax.Array
    """max |s| over the draws, shape (n,)."""


@partial(jax.jit, static_argnames="model")
def reach(model: Model, draws: jax.Array, data: Data, row: Row) -> Reach:
    """Return the maxima over unconstrained draws, shape (draws, dimension)."""

    def step(so_far: Reach, z: jax.Array) -> tuple[Reach, None]:
        loglik = model.record_loglik(model.constrain(z), data)
        size = jnp.where(jnp.isnan(loglik), jnp.inf, jnp.abs(loglik))
        reached = Reach(size, jnp.abs(score(loglik, row)))
        return jax.tree.map(jnp.maximum, so_far, reached), None

    nothing = jnp.zeros_like(row.alpha)
    return jax.lax.scan(step, Reach(nothing, nothing), draws)[0]


def lipschitz_bound(reached: Reach) -> float:
    """Return Δ, the largest score of any record at any draw."""
    return float(jnp.max(reached.largest_score))


def censored_records(reached: Reach, row: Row) -> int:
    """Return how many records reach the censoring bound at some draw."""
    return int(jnp.sum(reached.largest_score >= row.bound))
