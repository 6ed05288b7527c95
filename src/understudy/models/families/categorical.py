"""categorical: a column with levels in no order.

    P(level k) ∝ exp(η_k),      η = 0 for the first declared level.

Every coefficient is an array with one element for each other level, in the declared order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from understudy._jax import jax, jnp
from understudy.domain.schema import Type
from understudy.models.families.base import Family, accept

if TYPE_CHECKING:
    from understudy.domain.schema import Column
    from understudy.models.base import Data, Theta


def categorical(column: Column) -> Family:
    """Return the multinomial logit family of a column with levels."""
    accept(column, "categorical", Type.CATEGORICAL, Type.BINARY)

    def loglik(eta: jax.Array, theta: Theta, data: Data) -> jax.Array:
        shares = jax.nn.log_softmax(_with_first(eta), axis=-1)
        return jnp.take_along_axis(shares, data["code"][:, None], axis=-1)[:, 0]

    def simulate(key: jax.Array, eta: jax.Array, theta: Theta) -> np.ndarray:
        return np.asarray(jax.random.categorical(key, _with_first(eta)), dtype=np.int64)

    return Family(
        prepare=lambda values: {"code": jnp.asarray(values, dtype=jnp.int64)},
        loglik=loglik,
        simulate=simulate,
        predictors=(len(column.levels or ()) - 1,),
    )


def _with_first(eta: jax.Array) -> jax.Array:
    return jnp.concatenate([jnp.zeros((len(eta), 1)), eta], axis=-1)
