"""bernoulli: a column with two levels.

P(second level) = logistic(η).
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


def bernoulli(column: Column) -> Family:
    """Return the logistic family of a binary column."""
    accept(column, "bernoulli", Type.BINARY)

    def loglik(eta: jax.Array, theta: Theta, data: Data) -> jax.Array:
        return jax.nn.log_sigmoid(data["sign"] * eta)

    def simulate(key: jax.Array, eta: jax.Array, theta: Theta) -> np.ndarray:
        return np.asarray(jax.random.bernoulli(key, jax.nn.sigmoid(eta)), dtype=np.int64)

    return Family(
        prepare=lambda values: {"sign": jnp.asarray(2.0 * values - 1.0)},
        loglik=loglik,
        simulate=simulate,
    )
