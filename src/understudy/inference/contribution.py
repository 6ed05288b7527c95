"""What a record contributes to a sum: a vector of whole numbers whose length is bounded.

A contribution is a public function w from records to vectors of whole numbers, in units of 1/UNIT,
with ‖w(x)‖₁ ≤ C for every record of the domain: a theorem needs no more than that. Two kinds:

    tables     the cell of the record is 1, all others 0, in each table; a table's whole weight
               makes it more accurate; C is the sum of the weights
    scores     w(x) = clip_C(A ∇f_θ₀(x) − a), at a public θ₀

where clip_C shortens a vector to the length C. What is longer than C in floating point after all,
or not a number, contributes nothing: length is checked once more in whole numbers. Records are
evaluated in chunks of one fixed shape, padded, so that a record's contribution is the same whole
numbers wherever it stands in whichever table, and sums of whole numbers do not depend on order.

Where a record is a unit of several rows, or rows have survey weights, each row is bounded as above
and multiplied by what it counts, a whole number (`shares.py`); the bound grows accordingly.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from understudy._jax import jax, jnp
from understudy.domain.tables import Columns
from understudy.inference.cells import Cells, Pair
from understudy.inference.shares import Shares
from understudy.models.base import Data, Model

UNIT = 2**20
"""Scores are whole multiples of 1/UNIT."""
MARGIN = 2.0**-40
"""Share of a number's declared width by which it is moved inwards where its density is infinite."""
_CHUNK = 2048

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Contribution(ABC):
    """A public function of a record, in whole numbers of units."""

    model: Model
    """Of a row."""

    kind: ClassVar[str]

    @cached_property
    def shares(self) -> Shares:
        """How much each row counts."""
        return Shares.declared(self.model.schema)

    @property
    @abstractmethod
    def bound(self) -> int:
        """C, in units: no record's vector is longer, by the sum of its absolute entries."""

    @property
    @abstractmethod
    def units(self) -> Floats:
        """How many units make 1, in each entry, for a row of average weight."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many entries the vector has."""

    @abstractmethod
    def each(self, columns: Columns) -> Wholes:
        """Return what each row adds, shape (rows, width)."""

    @abstractmethod
    def total(self, columns: Columns) -> Wholes:
        """Return the sum over all records; the table is passed once."""

    @abstractmethod
    def rough(
        self, values: Floats, mean: Floats, variance: Floats, size: float
    ) -> tuple[Floats, float]:
        """Return weights of the misfit of a predicted mean, and its height, without overlaps.

        It guides a fit from afar; where tables overlap, or scores and tables, it counts twice.
        """

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return what defines it, for a file that anybody can compute it from."""


@dataclass(frozen=True, eq=False)
class TableContribution(Contribution):
    """Tables of one column, or of two: a record is in one cell of each."""

    tables: tuple[Cells | Pair, ...]
    weights: tuple[int, ...] = ()
    """Units that a record adds to its cell of each table; one by default."""

    kind = "table"
    bound = property(lambda self: self.shares.record * sum(self._weights))
    width = property(lambda self: sum(self._counts))

    @property
    def units(self) -> Floats:
        """The weight of each entry's table."""
        weights = self.shares.average * np.asarray(self._weights, dtype=np.float64)
        return np.repeat(weights, self._counts)

    @property
    def _weights(self) -> tuple[int, ...]:
        return self.weights or (1,) * len(self.tables)

    @property
    def _counts(self) -> list[int]:
        return [table.count for table in self.tables]

    def _cells(self, columns: Columns) -> Wholes:
        """Return the entries of each record that are not zero, shape (records, tables)."""
        starts = np.cumsum([0, *self._counts[:-1]])
        return np.column_stack([t.codes(columns) for t in self.tables]) + starts

    def each(self, columns: Columns) -> Wholes:
        """Return the weight of each table, in the cell of the row."""
        cells = self._cells(columns)
        values = np.zeros((len(cells), self.width), dtype=np.int64)
        weights = np.outer(self.shares.of(columns), np.asarray(self._weights))
        np.put_along_axis(values, cells, weights, axis=1)
        return values

    def marks(self, columns: Columns) -> csr_array:
        """Return the vector of each record with 1 for a whole, of which most entries are zero."""
        cells = self._cells(columns)
        ends = np.arange(0, cells.size + 1, cells.shape[1])
        shape = (len(cells), self.width)
        return csr_array((np.ones(cells.size), cells.ravel(), ends), shape=shape)

    def total(self, columns: Columns) -> Wholes:
        """Return the counts."""
        # Held as float64 where they are not plain counts: exact up to 2⁵³, far beyond any of them.
        counted = None if self.shares.alike else self.shares.of(columns)
        parts = zip(self.tables, self._weights, strict=True)
        counts = [
            w * np.bincount(t.codes(columns), counted, t.count).astype(np.int64) for t, w in parts
        ]
        return np.concatenate(counts)

    def rough(
        self, values: Floats, mean: Floats, variance: Floats, size: float
    ) -> tuple[Floats, float]:
        """Return those of counts whose variance is their mean and that of the noise.

        The quasi-likelihood of such counts is that of Poisson counts shifted by the variance of the
        noise. Unlike a sum of squares it still has a slope where a count is predicted to be 0.
        """
        shifted = np.maximum(mean, 0.0) + variance
        return 1 / shifted, float(np.sum(shifted - (values + variance) * np.log(shifted)))

    def to_dict(self) -> dict[str, Any]:
        """Return the columns, their intervals and the weights."""
        parts = zip(self.tables, self._weights, strict=True)
        return {"tables": [table.to_dict() | {"weight": weight} for table, weight in parts]}


@dataclass(frozen=True, eq=False)
class ScoreContribution(Contribution):
    """Scores at θ₀ in the directions that pay, and a count of the record where that is asked."""

    z: Floats
    """θ₀, in unconstrained coordinates."""
    directions: Floats
    """A, shape (directions, dimension)."""
    centre: Floats
    """a, the mean of A ∇f_θ₀ at θ₀."""
    length: int
    """The length to which scores are clipped, in units."""
    count: int = 0
    """What a record adds to a coordinate that counts, in units; 0 for no such coordinate."""

    kind = "score"
    bound = property(lambda self: self.shares.record * (self.length + self.count))
    units = property(lambda self: np.full(self.width, float(UNIT * self.shares.average)))
    width = property(lambda self: len(self.directions) + (self.count > 0))

    def each(self, columns: Columns) -> Wholes:
        """Return the scores of each row, with what counts it behind them."""
        parts = [np.asarray(values[there]) for values, there in self._chunks(columns)]
        scores = self._counted(np.concatenate(parts).astype(np.int64))
        return self.shares.of(columns)[:, None] * scores

    def total(self, columns: Columns) -> Wholes:
        """Return the sum, chunk by chunk."""
        total, shares, start = np.zeros(self.width, dtype=np.int64), self.shares.of(columns), 0
        for values, there in self._chunks(columns):
            scores = self._counted(np.asarray(values)[there].astype(np.int64))
            total += shares[start : start + len(scores)] @ scores
            start += len(scores)
        return total

    def _counted(self, scores: Wholes) -> Wholes:
        if not self.count:
            return scores
        return np.column_stack([scores, np.full(len(scores), self.count)])

    def _chunks(self, columns: Columns) -> Iterator[tuple[Any, NDArray[np.bool_]]]:
        model = self.model
        fixed = tuple(map(jnp.asarray, (self.z, self.directions, self.centre, float(self.length))))
        prepared = {"own": model.prepare(columns), "inside": model.prepare(inside(model, columns))}
        flat = {(k, name): np.asarray(v) for k, d in prepared.items() for name, v in d.items()}
        records, size = len(next(iter(flat.values()))), max(_CHUNK // model.rows_per_record, 1)
        for start in range(0, records, size):
            chosen = np.minimum(np.arange(start, start + size), records - 1)
            data: dict[str, Data] = {"own": {}, "inside": {}}
            for (k, name), values in flat.items():
                data[k][name] = jnp.asarray(values[chosen])
            there = np.arange(start, start + size) < records
            yield _scores(model, fixed, data["own"], data["inside"]), there

    def rough(
        self, values: Floats, mean: Floats, variance: Floats, size: float
    ) -> tuple[Floats, float]:
        """Return those of scores with variance one, as far as they are not clipped."""
        each = min(1.0, self.length / UNIT / len(self.directions))
        weights = 1 / (size * each**2 + variance)
        return weights, 0.5 * float(weights @ (values - mean) ** 2)

    def to_dict(self) -> dict[str, Any]:
        """Return θ₀, the directions, their centre and the length."""
        return {
            "z": self.z.tolist(),
            "directions": self.directions.tolist(),
            "centre": self.centre.tolist(),
            "length": self.length,
            "count": self.count,
            "unit": UNIT,
        }


def inside(model: Model, columns: Columns) -> Columns:
    """Return the records with numbers moved inwards from their bounds by a public margin."""
    moved = dict(columns)
    for column in model.schema.confidential:
        if column.numeric and not column.whole:
            margin = column.width * MARGIN
            moved[column.name] = np.clip(
                columns[column.name], column.lower + margin, column.upper - margin
            )
    return moved


@partial(jax.jit, static_argnames="model")
def _scores(model: Model, fixed: tuple[jax.Array, ...], own: Data, moved: Data) -> jax.Array:
    """Return whole numbers held as float64, none of whose vectors is longer than the length."""
    z, directions, centre, length = fixed
    scores = project(slopes(model, z, own, moved), directions) - centre
    norm = jnp.sum(jnp.abs(scores), axis=1, keepdims=True)
    clipped = scores * jnp.minimum(1.0, length / (norm * UNIT)) * UNIT
    whole = jnp.trunc(jnp.nan_to_num(clipped, nan=0.0, posinf=0.0, neginf=0.0))
    fits = jnp.sum(jnp.abs(whole), axis=1, keepdims=True) <= length
    return jnp.where(fits, whole, 0.0)


def project(vectors: jax.Array, directions: jax.Array) -> jax.Array:
    """Return A g for each record, by products and sums whose order no library may change."""
    return jnp.sum(vectors[:, None, :] * directions[None], axis=2)


def slopes(model: Model, z: jax.Array, own: Data, moved: Data) -> jax.Array:
    """Return ∇f_θ(x) of each record, at the moved record where f itself is infinite."""

    def loglik(position: jax.Array, data: Data) -> jax.Array:
        return model.record_loglik(model.constrain(position), data)

    def slope(data: Data) -> jax.Array:
        if model.record_slope is not None:
            return model.record_slope(model.constrain(z), data)
        return jnp.nan_to_num(jax.jacfwd(loglik)(z, data), nan=0.0, posinf=0.0, neginf=0.0)

    if moved is own:
        return slope(own)
    return jnp.where(jnp.isfinite(loglik(z, own))[:, None], slope(own), slope(moved))
