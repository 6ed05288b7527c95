"""The study's Beta model on precomputed logarithms, as fast as two cores allow.

Given log u and log(1 − u), the record log-likelihood is linear in three numbers of θ,

    f = (a − 1) log u + (b − 1) log(1 − u) + c,      c = log Γ(a + b) − log Γ(a) − log Γ(b),

so a kernel that walks along the records and holds many θ side by side needs half a dozen
operations for each pair, all of them on vectors. Tables of the study hold no exact 0 or 1, which is
what makes the rules for infinite densities in `score.py` superfluous here; a test compares both.
"""

from __future__ import annotations

from functools import partial

from understudy._jax import jax, jnp
from understudy.models.base import Data, Model
from understudy.models.log_gamma import log_gamma
from understudy.score import Row

_SIDE_BY_SIDE = 256
_UNROLL = 8


def heights(model: Model, nodes: jax.Array, data: Data, row: Row) -> jax.Array:
    """Return the log target at each node, shape (nodes,)."""
    records = (data["log_u"], data["log_1mu"], row.alpha, row.offset)

    def block(z: jax.Array) -> jax.Array:
        a, b, c = _coefficients(model, z)

        def add(total: jax.Array, record: tuple[jax.Array, ...]) -> tuple[jax.Array, None]:
            log_u, log_1mu, alpha, offset = record
            pull = alpha * (a * log_u + b * log_1mu + (c - offset))
            return total + jnp.clip(pull, -row.bound, row.bound), None

        prior = jax.vmap(model.log_prior_unconstrained)(z)
        return jax.lax.scan(add, prior, records, unroll=_UNROLL)[0]

    padded = jnp.pad(nodes, ((0, -len(nodes) % _SIDE_BY_SIDE), (0, 0)), mode="edge")
    blocks = jnp.reshape(padded, (-1, _SIDE_BY_SIDE, model.dimension))
    return jnp.ravel(jax.lax.map(block, blocks))[: len(nodes)]


@partial(jax.jit, static_argnames="model")
def risks(model: Model, draws: jax.Array, data: Data) -> jax.Array:
    """Return max |f| over the draws of each fit, shape (fits, n), from (fits, draws, 2)."""
    log_u, log_1mu = data["log_u"], data["log_1mu"]

    def one_fit(z: jax.Array) -> jax.Array:
        def step(largest: jax.Array, at: tuple[jax.Array, ...]) -> tuple[jax.Array, None]:
            a, b, c = at
            return jnp.maximum(largest, jnp.abs(a * log_u + b * log_1mu + c)), None

        nothing = jnp.zeros_like(log_u)
        return jax.lax.scan(step, nothing, _coefficients(model, z), unroll=_UNROLL)[0]

    return jax.lax.map(one_fit, draws)


@partial(jax.jit, static_argnames="model")
def shapes(model: Model, z: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return a and b at each row of unconstrained coordinates."""
    theta = jax.vmap(model.constrain)(z)
    return theta["lambda"] * theta["phi"], theta["lambda"] * (1 - theta["phi"])


def _coefficients(model: Model, z: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    a, b = shapes(model, z)
    return a - 1, b - 1, log_gamma(a + b) - log_gamma(a) - log_gamma(b)
