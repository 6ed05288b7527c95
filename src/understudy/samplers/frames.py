"""Coordinates in which a target is about as wide in every direction.

A chain that starts with no idea of the target's shape spends most of its time on finding it. Where
a model says that its posterior has one peak, the peak is climbed first, and the chains move in
units of the curvature there; elsewhere a public guess at the posterior will do. Like every
adaptation of a chain this decides how soon it converges, not what it converges to.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from understudy._jax import jax, jnp
from understudy.score import Row, log_target

if TYPE_CHECKING:
    from understudy.models.base import Data, Model

_FLATTEST = 0.05
"""Curvature below which a direction counts as flat; unconstrained coordinates are of order one."""


class Frame(NamedTuple):
    """An origin and a unit for each direction."""

    centre: jax.Array
    root: jax.Array
    """Its columns are the units, shape (dimension, dimension)."""

    def place(self, w: jax.Array) -> jax.Array:
        """Return the unconstrained coordinates of points given in this frame."""
        return self.centre + w @ self.root.T


def frame_at_peak(model: Model, data: Data, row: Row, start: np.ndarray) -> Frame:
    """Climb the target from a starting point and measure its curvature where that ends."""
    from scipy.optimize import minimize

    def downhill(z: np.ndarray) -> tuple[float, np.ndarray]:
        height, slope = _height(model, jnp.asarray(z), data, row)
        return -float(height), -np.asarray(slope)

    peak = minimize(downhill, start, jac=True, method="L-BFGS-B", options={"maxiter": 2000}).x
    curvature = -np.asarray(_curvature(model, jnp.asarray(peak), data, row))
    values, vectors = np.linalg.eigh((curvature + curvature.T) / 2)
    root = vectors / np.sqrt(np.maximum(values, _FLATTEST))
    return Frame(jnp.asarray(peak), jnp.asarray(root))


@partial(jax.jit, static_argnames="model")
def _height(model: Model, z: jax.Array, data: Data, row: Row) -> tuple[jax.Array, jax.Array]:
    return jax.value_and_grad(lambda z: log_target(model, z, data, row))(z)


@partial(jax.jit, static_argnames="model")
def _curvature(model: Model, z: jax.Array, data: Data, row: Row) -> jax.Array:
    slope = jax.grad(lambda z: log_target(model, z, data, row))
    # One direction at a time, so that memory does not grow with their number.
    return jax.lax.map(lambda way: jax.jvp(slope, (z,), (way,))[1], jnp.eye(len(z)))
