"""The target on a grid: the truth for models with one or two parameters.

Tests, the audit and the paper's study use it. It is never used for a release, because its grid
follows the confidential table.

A coarse grid starts as a wide box on the unconstrained scale and closes in on the cells that carry
mass, keeping a margin as long as neighbouring nodes still differ by much; it widens again where its
outermost cells are not empty, and gives way to a finer one where it does not follow the peak.
Then the target is evaluated once more over that box. The search is one compiled kernel, and
many targets of one table pass through it at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from understudy._jax import jax, jnp
from understudy.errors import BadInput
from understudy.models.base import Data, Model
from understudy.score import Row, log_target

_HALF_WIDTH = 16.0
_RESOLUTIONS = (33, 65, 129)
_DEPTH = 30.0
"""Nodes this many nats below the top carry no mass worth keeping."""
_RESOLVED = 5.0
"""Nats by which the top may differ from its neighbours on a grid that follows the peak."""
_STALLED = 0.8
"""A box that would shrink to no less than this fraction in every direction stays as it is."""
_EDGE_MASS = 1e-10
_LARGEST_ROUNDS = 60
_BLOCK = 32

Heights = Callable[["Model", jax.Array, "Data", Row], jax.Array]
"""Log targets at many nodes, from a model, the nodes, a prepared table and a row."""


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


def target_heights(model: Model, nodes: jax.Array, data: Data, row: Row) -> jax.Array:
    """Return the log target of `score.py` at each node: what `quadratures` evaluates."""
    return jax.lax.map(lambda z: log_target(model, z, data, row), nodes, batch_size=_BLOCK)


def quadrature(model: Model, data: Data, row: Row, *, points: int = 129) -> Quadrature:
    """Evaluate the target of `score.py` on an adaptive grid with `points` nodes a side."""
    if model.dimension > 2:
        raise BadInput(
            f"quadrature serves one or two parameters, and '{model.title}' has {model.dimension}."
        )
    rows = Row(row.alpha[None], row.offset[None], jnp.asarray(row.bound)[None])
    return quadratures(model, data, rows, points=points)[0]


def quadratures(
    model: Model,
    data: Data,
    rows: Row,
    *,
    points: int,
    heights: Heights = target_heights,
    start: tuple[np.ndarray, np.ndarray] | None = None,
) -> list[Quadrature]:
    """Evaluate many targets of one table; `rows` holds theirs along a first axis.

    `heights` may be a faster way to evaluate the same target, and `start` the corners of a smaller
    box in which to begin the search.
    """
    corner = np.full(model.dimension, _HALF_WIDTH)
    low, high = start or (-corner, corner)
    box = jnp.stack([jnp.asarray(low), jnp.asarray(high)])
    searches, on_grids = _evaluated(model, data, rows, box, points=points, heights=heights)
    if not np.all(searches.settled):
        raise ArithmeticError("the quadrature grid did not settle on the target")
    boxes = zip(np.asarray(searches.low), np.asarray(searches.high), strict=True)
    return [_normalised(*box, one) for box, one in zip(boxes, np.asarray(on_grids), strict=True)]


def _normalised(low: np.ndarray, high: np.ndarray, heights: np.ndarray) -> Quadrature:
    points, dimension = len(heights), heights.ndim
    mass = np.exp(heights - heights.max())
    mass /= mass.sum()
    edge_mass = float(1.0 - mass[(slice(1, -1),) * dimension].sum())
    if not edge_mass < _EDGE_MASS:
        raise ArithmeticError("the quadrature grid did not settle on the target")
    axes = [np.linspace(a, b, points) for a, b in zip(low, high, strict=True)]
    nodes = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=-1)
    return Quadrature(nodes, mass.ravel(), (high - low) / (points - 1), edge_mass)


class _Search(NamedTuple):
    """A box on its way to the mass."""

    low: jax.Array
    high: jax.Array
    stalled: jax.Array
    settled: jax.Array
    rounds: jax.Array


@partial(jax.jit, static_argnames=("model", "points", "heights"))
def _evaluated(
    model: Model, data: Data, rows: Row, box: jax.Array, *, points: int, heights: Heights
) -> tuple[_Search, jax.Array]:
    """Return the box of each target, and its heights there."""

    def on_grid(row: Row, box: _Search, points: int) -> jax.Array:
        values = heights(model, _nodes(box.low, box.high, points), data, row)
        values = jnp.where(jnp.isnan(values), -jnp.inf, values)
        return jnp.reshape(values, (points,) * model.dimension)

    def one(row: Row) -> tuple[_Search, jax.Array]:
        no = jnp.asarray(False)
        search = _Search(box[0], box[1], no, no, jnp.asarray(0))
        for resolution in _RESOLUTIONS:
            search = jax.lax.while_loop(
                lambda s: ~s.stalled & (s.rounds < _LARGEST_ROUNDS),
                lambda s, r=resolution: _closer(s, on_grid(row, s, r)),  # type: ignore[misc]
                search._replace(stalled=search.settled),
            )
        # A thin tail may show itself on the fine grid alone.
        empty = jnp.full((points,) * model.dimension, -jnp.inf)
        search, values = jax.lax.while_loop(
            lambda state: ~state[0].stalled & (state[0].rounds < _LARGEST_ROUNDS),
            lambda state: _checked(state[0], on_grid(row, state[0], points)),
            (search._replace(stalled=~search.settled), empty),
        )
        return search._replace(settled=search.settled & search.stalled), values

    return jax.lax.map(one, rows)


def _checked(search: _Search, heights: jax.Array) -> tuple[_Search, jax.Array]:
    """Keep the box, unless mass lies at its edge."""
    leaks = _edge_mass(heights) >= _EDGE_MASS
    wider = _widened(search, leaks)
    return wider._replace(stalled=~leaks, rounds=search.rounds + 1), heights


def _widened(search: _Search, leaks: jax.Array) -> _Search:
    margin = jnp.where(leaks, (search.high - search.low) / 2, 0.0)
    return search._replace(low=search.low - margin, high=search.high + margin)


def _edge_mass(heights: jax.Array) -> jax.Array:
    mass = jnp.exp(heights - jnp.max(heights))
    return 1.0 - jnp.sum(mass[(slice(1, -1),) * heights.ndim]) / jnp.sum(mass)


def _closer(search: _Search, heights: jax.Array) -> _Search:
    """Shrink the box to the nodes that matter, or widen it where mass lies at its edge."""
    low, high = search.low, search.high
    new_low, new_high, drop = _matter(heights, low, high)
    stalled = jnp.all(new_high - new_low > _STALLED * (high - low))
    leaks = stalled & (_edge_mass(heights) >= _EDGE_MASS)
    kept = stalled & ~leaks
    box = search._replace(
        low=jnp.where(stalled, low, new_low),
        high=jnp.where(stalled, high, new_high),
        stalled=kept,
        settled=kept & ((drop < _RESOLVED) | (len(heights) == _RESOLUTIONS[-1])),
        rounds=search.rounds + 1,
    )
    return _widened(box, leaks)


def _matter(
    heights: jax.Array, low: jax.Array, high: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return a box around the nodes that matter, one cell wider, and the drop beside the top."""
    top = jnp.max(heights)
    padded = jnp.pad(heights, 1, constant_values=jnp.inf)
    peak = jnp.unravel_index(jnp.argmax(heights), heights.shape)
    around = jax.lax.dynamic_slice(padded, peak, (3,) * heights.ndim)
    drop = top - jnp.min(jnp.where(jnp.isfinite(around), around, jnp.inf))
    # While a cell is wider than the peak, nodes beside a second peak look lower than they are.
    matter = heights >= top - _DEPTH - drop
    steps = len(heights) - 1
    first, last = [], []
    for axis in range(heights.ndim):
        along = jnp.any(matter, axis=tuple(k for k in range(heights.ndim) if k != axis))
        first.append(jnp.maximum(jnp.argmax(along) - 1, 0))
        last.append(jnp.minimum(steps - jnp.argmax(along[::-1]) + 1, steps))
    cell = (high - low) / steps
    return low + cell * jnp.stack(first), low + cell * jnp.stack(last), drop


def _nodes(low: jax.Array, high: jax.Array, points: int) -> jax.Array:
    steps = jnp.linspace(0.0, 1.0, points)
    axes = [a + (b - a) * steps for a, b in zip(low, high, strict=True)]
    return jnp.stack([axis.ravel() for axis in jnp.meshgrid(*axes, indexing="ij")], axis=-1)
