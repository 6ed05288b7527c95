"""The target on a grid: the truth for models with one or two parameters.

Tests, the audit and the paper's study compare against it. It is never used for a release, because
its grid follows the confidential table.

The grid starts as a wide box on the unconstrained scale and closes in on the cells that carry mass,
keeping a margin as long as neighbouring nodes still differ by much; then it checks that the
outermost cells are empty, and widens again where they are not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from understudy._jax import jax, jnp
from understudy.errors import BadInput
from understudy.score import Row, log_target

if TYPE_CHECKING:
    from understudy.models.base import Data, Model

_HALF_WIDTH = 16.0
_DEPTH = 35.0
"""Nodes this many nats below the top carry no mass worth keeping."""
_EDGE_MASS = 1e-10
_LARGEST_ROUNDS = 60


@dataclass(frozen=True)
class Quadrature:
    """A normalised density on a grid of unconstrained coordinates."""

    nodes: np.ndarray
    """Centres of the cells, shape (cells, dimension)."""
    mass: np.ndarray
    """Probability of each cell; adds up to one."""
    cell: np.ndarray
    """Width of a cell in each coordinate."""
    edge_mass: float
    """Probability of the outermost cells."""

    def mean(self, values: np.ndarray) -> np.ndarray:
        """Return the expectation of a quantity given at the nodes."""
        return np.tensordot(self.mass, values, axes=1)

    def sd(self, values: np.ndarray) -> np.ndarray:
        """Return the standard deviation of a quantity given at the nodes."""
        return np.sqrt(self.mean((values - self.mean(values)) ** 2))

    def draws(self, generator: np.random.Generator, count: int) -> np.ndarray:
        """Draw unconstrained coordinates: a cell by its mass, then evenly within it."""
        chosen = generator.choice(len(self.mass), size=count, p=self.mass)
        within = generator.uniform(-0.5, 0.5, size=(count, len(self.cell)))
        return self.nodes[chosen] + within * self.cell


def quadrature(model: Model, data: Data, row: Row, *, points: int = 129) -> Quadrature:
    """Evaluate the target of `score.py` on an adaptive grid with `points` nodes a side."""
    if model.dimension > 2:
        raise BadInput(
            f"quadrature serves one or two parameters, and '{model.title}' has {model.dimension}."
        )
    low = np.full(model.dimension, -_HALF_WIDTH)
    high = -low
    for _ in range(_LARGEST_ROUNDS):
        axes, nodes = _grid(low, high, points)
        heights = np.asarray(_heights(model, jnp.asarray(nodes), data, row))
        heights = np.where(np.isnan(heights), -np.inf, heights)
        shape = (points,) * model.dimension
        closer = _box(heights.reshape(shape), axes)
        if np.all(closer[1] - closer[0] > 0.8 * (high - low)):
            result = _normalised(nodes, heights, axes, shape)
            if result.edge_mass < _EDGE_MASS:
                return result
            closer = (low - (high - low) / 2, high + (high - low) / 2)
        low, high = closer
    raise ArithmeticError("the quadrature grid did not settle on the target")


def _grid(low: np.ndarray, high: np.ndarray, points: int) -> tuple[list[np.ndarray], np.ndarray]:
    axes = [np.linspace(a, b, points) for a, b in zip(low, high, strict=True)]
    mesh = np.meshgrid(*axes, indexing="ij")
    return axes, np.stack([m.ravel() for m in mesh], axis=-1)


def _box(heights: np.ndarray, axes: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return a box around the nodes that matter, one cell wider on each side."""
    top = np.unravel_index(np.argmax(heights), heights.shape)
    around = tuple(slice(max(k - 1, 0), k + 2) for k in top)
    neighbours = heights[around]
    # While a cell is wider than the peak, nodes beside a second peak look lower than they are.
    drop = heights[top] - np.min(neighbours[np.isfinite(neighbours)])
    matter = heights >= heights[top] - _DEPTH - drop
    low, high = [], []
    for k, axis in enumerate(axes):
        others = tuple(j for j in range(heights.ndim) if j != k)
        indices = np.flatnonzero(matter.any(axis=others))
        low.append(axis[max(indices[0] - 1, 0)])
        high.append(axis[min(indices[-1] + 1, len(axis) - 1)])
    return np.array(low), np.array(high)


def _normalised(
    nodes: np.ndarray, heights: np.ndarray, axes: list[np.ndarray], shape: tuple[int, ...]
) -> Quadrature:
    mass = np.exp(heights - heights.max())
    mass /= mass.sum()
    inner = mass.reshape(shape)[(slice(1, -1),) * len(shape)]
    return Quadrature(nodes, mass, np.array([a[1] - a[0] for a in axes]), 1.0 - inner.sum())


@partial(jax.jit, static_argnames="model")
def _heights(model: Model, nodes: jax.Array, data: Data, row: Row) -> jax.Array:
    return jax.lax.map(lambda z: log_target(model, z, data, row), nodes, batch_size=64)
