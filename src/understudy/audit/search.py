"""The search for the neighbouring tables that a mechanism tells apart best.

Two neighbours share all records but one: `others` and a slot, which holds a record or stays empty.
Where people have several rows, the slot holds a person, whose rows are all alike: whatever one row
can do to a posterior, that many of them do together.
Posteriors of both are computed on one grid of θ that covers the whole plausible range coarsely and
the bulk of the posteriors finely, and compared node by node. Because both are normalised over the
same nodes with the same volumes, a guarantee that holds for densities holds here to the last digit:
a coarse grid can hide a leak but never invent one.

Everything that a mechanism learns from a table is learned again for each of the two. Tables are
padded to one length with a record of weight zero, so that every kernel is compiled once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import combinations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit

from understudy._jax import jax, jnp
from understudy.domain.tables import Columns
from understudy.models.base import Data, Model
from understudy.privacy.guarantee import Adjacency
from understudy.samplers.quadrature import quadrature
from understudy.score import Row, log_target

Slot = float | None
"""The record in which two neighbours differ; None where it is absent."""

POINTS = 65
"""Nodes a side of the adaptive grid that finds a posterior's bulk."""
EXTREMES = (0.0, 1.0, 1e-300, 1e-12, 1 - 1e-12, 1 - 1e-9, 0.99)
_HALF_WIDTH, _COARSE, _FINE = 12.0, 49, 33
_BULK = 1e-7
"""Cells with less than this share of the largest cell's mass lie outside the bulk."""
_FILLER = 0.5
_LOGITS = (-690.0, 36.0)
"""The open unit interval as far as double precision reaches."""
_WINDOW, _STEPS = 4.0, 12


@dataclass(frozen=True, eq=False)
class Table:
    """Simulated records, padded by one where the slot is empty."""

    values: np.ndarray
    count: int
    """Records that are present; the slot comes last."""
    data: Data

    def weighted(self, row: Row, alpha: jax.Array) -> Row:
        """Return the row with those weights for the records present, and 0 for absent ones."""
        return row._replace(alpha=jnp.pad(alpha, (0, len(row.alpha) - self.count)))


Learn = Callable[[Table], Row]
"""What a mechanism puts into the equation for a table, with all that it learns from that table."""


@dataclass(frozen=True)
class Base:
    """The records that neighbours share, and where they come from."""

    origin: str
    others: np.ndarray
    """All rows; those of one person stand together."""
    width: int = 1
    """Rows of each person."""

    def table(self, model: Model, slot: Slot) -> Table:
        """Return the table with that record, or a person with such rows, in the slot."""
        values = np.append(self.others, np.full(self.width, _FILLER if slot is None else slot))
        rows_per_record = 1 if model.schema.unit is None else self.width
        present = len(values) if slot is not None else len(self.others)
        return Table(values, present // rows_per_record, model.prepare(self.columns(model, values)))

    def columns(self, model: Model, values: np.ndarray) -> Columns:
        """Return rows as the model's schema declares them."""
        column, unit = model.schema.confidential[0], model.schema.unit
        columns: Columns = {column.name: column.lower + column.width * values}
        if unit is not None:
            columns[unit.name] = np.repeat(np.arange(len(values) // self.width), self.width)
        return columns


def bases(count: int, seed: int, *, width: int = 1) -> tuple[Base, ...]:
    """Return the paper's table, a strongly skewed one, and one without extremes."""
    generator = np.random.default_rng(seed)
    rows = count * width
    plain = generator.beta(0.5, 3, rows)
    skewed = generator.beta(0.2, 4, rows)
    many = generator.beta(0.5, 3, 8 * rows + 64)
    trimmed = many[(many > 0.01) & (many < 0.7)][:rows]
    return (
        Base("Beta(0.5, 3)", plain, width),
        Base("Beta(0.2, 4)", skewed, width),
        Base("Beta(0.5, 3) without values below 0.01 or above 0.7", trimmed, width),
    )


@dataclass(frozen=True)
class Grid:
    """A product of uneven axes, with the volume of each node."""

    axes: tuple[np.ndarray, ...]
    nodes: jax.Array
    log_volume: np.ndarray

    @classmethod
    def around(cls, boxes: Sequence[np.ndarray]) -> Grid:
        """Return a wide coarse grid, refined in the rows and columns of each box."""
        wide = np.linspace(-_HALF_WIDTH, _HALF_WIDTH, _COARSE)
        axes = tuple(
            np.sort(
                np.concatenate([wide, *(np.linspace(box[0, k], box[1, k], _FINE) for box in boxes)])
            )
            for k in range(boxes[0].shape[1])
        )
        mesh = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        volume = np.stack(np.meshgrid(*map(trapezoid, axes), indexing="ij"), axis=-1).prod(axis=-1)
        with np.errstate(divide="ignore"):
            return cls(axes, jnp.asarray(mesh.reshape(-1, len(axes))), np.log(volume).ravel())

    def log_density(self, model: Model, data: Data, row: Row) -> np.ndarray:
        """Return the normalised log density of the target at each node."""
        heights = np.asarray(_heights(model, self.nodes, data, row))
        heights = np.where(np.isnan(heights), -np.inf, heights)
        mass = heights + self.log_volume
        top = mass.max()
        return heights - (top + np.log(np.exp(mass - top).sum()))

    def marginal(self, density: np.ndarray, coordinate: int) -> np.ndarray:
        """Return the density of one coordinate, from one at all nodes, shape as the axes."""
        for k in reversed(range(len(self.axes))):
            if k != coordinate:
                density = np.tensordot(density, trapezoid(self.axes[k]), axes=(k, 0))
        return density


@partial(jax.jit, static_argnames="model")
def _heights(model: Model, nodes: jax.Array, data: Data, row: Row) -> jax.Array:
    return jax.lax.map(lambda z: log_target(model, z, data, row), nodes, batch_size=64)


def trapezoid(axis: np.ndarray) -> np.ndarray:
    """Return the share of an axis that belongs to each of its points."""
    gaps = np.diff(axis)
    return (np.append(gaps, 0.0) + np.append(0.0, gaps)) / 2


def bulk(model: Model, table: Table, row: Row) -> np.ndarray:
    """Return the corners of a box that holds nearly all of the posterior."""
    posterior = quadrature(model, table.data, row, points=POINTS)
    kept = posterior.nodes[posterior.mass > _BULK * posterior.mass.max()]
    return np.stack([kept.min(axis=0) - posterior.cell, kept.max(axis=0) + posterior.cell])


def largest_gap(one: np.ndarray, other: np.ndarray) -> float:
    """Return the largest |log-ratio|; where both are zero there is nothing to compare."""
    possible = np.isfinite(one) | np.isfinite(other)
    return float(np.max(np.abs(one[possible] - other[possible])))


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two neighbouring tables."""

    base: Base
    before: Slot
    after: Slot

    def __str__(self) -> str:
        """Say what was added or replaced, and to what."""
        width, after = self.base.width, _words(self.after)
        people = f"{len(self.base.others) // width:,}"
        one, among = "the record", f"{people} records from {self.base.origin}"
        if width > 1:
            one = f"a person with {width} rows of"
            among = f"{people} others with {width} rows each from {self.base.origin}"
        if self.before is None:
            return f"{one} {after} added to (or removed from) {among}"
        return f"{one} {_words(self.before)} replaced by {after} beside {among}"


def _words(slot: Slot) -> str:
    assert slot is not None
    return f"1 − {1 - slot:.3g}" if 0.999 < slot < 1 else f"{slot:.3g}"


@dataclass(frozen=True, eq=False)
class Bench:
    """All neighbours that share one base, compared on one grid for each draw of the mechanism."""

    model: Model
    base: Base
    learners: Sequence[Learn]
    """One for each draw that the mechanism takes; losses of several draws add up."""
    _known: dict[Slot, list[np.ndarray]] = field(init=False, default_factory=dict)

    @cached_property
    def grids(self) -> list[Grid]:
        """A grid for each draw, around the posterior of the table with an empty slot."""
        table = self.base.table(self.model, None)
        return [Grid.around([bulk(self.model, table, learn(table))]) for learn in self.learners]

    def densities(self, slot: Slot) -> list[np.ndarray]:
        """Return the log density of each draw for the table with that record in the slot."""
        if slot not in self._known:
            table = self.base.table(self.model, slot)
            self._known[slot] = [
                grid.log_density(self.model, table.data, learn(table))
                for grid, learn in zip(self.grids, self.learners, strict=True)
            ]
        return self._known[slot]

    def loss(self, pair: Pair) -> float:
        """Return the largest log-ratio, added up over the draws."""
        both = zip(self.densities(pair.before), self.densities(pair.after), strict=True)
        return sum(largest_gap(one, other) for one, other in both)

    def search(self, adjacency: Adjacency) -> Pair:
        """Return the neighbours told apart best: extremes first, then optimisation from there."""
        best = max(self._extremes(adjacency), key=self.loss)
        for side in ("before", "after"):
            best = self._improved(best, side)
        return best

    def _extremes(self, adjacency: Adjacency) -> Iterator[Pair]:
        others = self.base.others
        records = dict.fromkeys([*EXTREMES, float(others.min()), float(others.max())])
        if adjacency is Adjacency.ADD_REMOVE:
            sides: Iterable[tuple[Slot, Slot]] = ((None, record) for record in records)
        else:
            sides = combinations(records, 2)
        return (Pair(base=self.base, before=one, after=other) for one, other in sides)

    def _improved(self, start: Pair, side: str) -> Pair:
        """Return the start, or a better pair that differs from it in the record on that side."""
        record = start.before if side == "before" else start.after
        if record is None:
            return start

        def changed(position: float) -> Pair:
            moved = float(expit(position))
            return replace(start, before=moved) if side == "before" else replace(start, after=moved)

        lowest, highest = _LOGITS
        centre = min(max(float(logit(record)), lowest), highest)
        result = minimize_scalar(
            lambda position: -self.loss(changed(position)),
            bounds=(max(centre - _WINDOW, lowest), min(centre + _WINDOW, highest)),
            method="bounded",
            options={"maxiter": _STEPS},
        )
        return max(start, changed(result.x), key=self.loss)
