"""What a record contributes to a sum: a vector of whole numbers whose length is bounded.

A contribution is a public function w from records to vectors of whole numbers, in units of 1/UNIT,
with ‖w(x)‖₁ ≤ C, or ‖w(x)‖₂ ≤ C where noise is normal, for every record of the domain: a theorem
needs no more than that. Two kinds:

    tables     the cell of the record is 1, all others 0, in each table; a table's whole weight
               makes it more accurate; C is the sum of the weights, or C² that of their squares
    scores     w(x) = clip_C(A ∇f_θ₀(x) − a), at a public θ₀

where clip_C shortens a vector to the length C. What is longer than C in floating point after all,
or not a number, contributes nothing: length is checked once more in whole numbers. Records are
evaluated in chunks of one fixed shape, padded, so that a record's contribution is the same whole
numbers wherever it stands in whichever table, and sums of whole numbers do not depend on order.

Whole numbers are added up in float64, which decides rightly. They, their squares and sums of these
are exact up to 2⁵³, and C, or C², is at most 2⁵². Rounding keeps order, so a partial sum beyond 2⁵³
is computed as 2⁵³ or more, and no later term makes it less: what is computed as C or less is exact.

Where a record is a unit of several rows, or rows have survey weights, each row is bounded as above
and multiplied by what it counts, a whole number (`shares.py`); the bound grows accordingly.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from understudy._jax import jax, jnp
from understudy.domain.tables import Columns
from understudy.inference.cells import Cells, Pair
from understudy.inference.shares import Shares
from understudy.inference.slopes import Prepared, slopes_inside
from understudy.models.base import Data, Model

UNIT = 2**20
"""Scores are whole multiples of 1/UNIT."""
_LARGEST_LENGTH = {1: 2**52, 2: 2**26}
"""By norm: up to it lengths of whole numbers are exact where they decide anything."""

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Contribution(ABC):
    """A public function of a record, in whole numbers of units."""

    model: Model
    """Of a row."""
    _: KW_ONLY
    norm: int = 1
    """By which length is bounded: 1 for the sum of absolute entries, 2 for the Euclidean one."""

    kind: ClassVar[str]

    @cached_property
    def shares(self) -> Shares:
        """How much each row counts."""
        return Shares.declared(self.model.schema)

    @property
    @abstractmethod
    def bound(self) -> float:
        """C, in units: no record's vector is longer by the norm. A root is rounded up."""

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

    @property
    def bound(self) -> float:
        """The length of all tables' weights, times what a record's rows count together."""
        return bound_of((self.shares.record * weight for weight in self._weights), self.norm)

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
        """Return the columns, their intervals, the weights and the norm."""
        parts = zip(self.tables, self._weights, strict=True)
        tables = [table.to_dict() | {"weight": weight} for table, weight in parts]
        return {"tables": tables, "norm": self.norm}


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
    units = property(lambda self: np.full(self.width, float(UNIT * self.shares.average)))
    width = property(lambda self: len(self.directions) + (self.count > 0))

    def __post_init__(self) -> None:
        if not 0 <= self.length <= _LARGEST_LENGTH[self.norm]:
            raise ValueError("a length beyond which sums of whole numbers are not exact")

    @property
    def bound(self) -> float:
        """The length of a row's scores and what counts it, times what a record's rows count."""
        rows = self.shares.record
        return bound_of((rows * self.length, rows * self.count), self.norm)

    def each(self, columns: Columns, prepared: Prepared | None = None) -> Wholes:
        """Return the scores of each row, with what counts it behind them."""
        parts = [np.asarray(values)[there] for values, there in self._chunks(columns, prepared)]
        scores = self._counted(np.concatenate(parts).astype(np.int64))
        return self.shares.of(columns)[:, None] * scores

    def total(self, columns: Columns) -> Wholes:
        """Return the sum, by one kernel for all that is done to a record."""
        prepared, shares = Prepared.of(self.model, columns), self.shares.of(columns)
        total = np.zeros(len(self.directions), dtype=np.int64)
        for block in prepared.blocks():
            # Records that are there to fill a chunk count for nothing.
            counted = np.zeros(prepared.chunk * len(block.differ), dtype=np.int64)
            counted[: block.there.stop - block.there.start] = shares[block.there]
            records = block.own, block.moved, block.differ, counted
            kernel, at = (self.model, self.norm, prepared.chunk), (self.z, self._fixed)
            total += np.asarray(_total(kernel, at, records, block.chunks))
        return np.append(total, self.count * shares.sum()) if self.count else total

    def _counted(self, scores: Wholes) -> Wholes:
        if not self.count:
            return scores
        return np.column_stack([scores, np.full(len(scores), self.count)])

    def _chunks(
        self, columns: Columns, prepared: Prepared | None = None
    ) -> Iterator[tuple[Any, slice]]:
        for slopes, there in (prepared or Prepared.of(self.model, columns)).chunks(self.z):
            yield _scores(self.norm, self._fixed, slopes), there

    @cached_property
    def _fixed(self) -> tuple[Any, ...]:
        return tuple(map(np.asarray, (self.directions, self.centre, float(self.length))))

    def rough(
        self, values: Floats, mean: Floats, variance: Floats, size: float
    ) -> tuple[Floats, float]:
        """Return those of scores with variance one, as far as they are not clipped."""
        each = min(1.0, self.length / UNIT / len(self.directions) ** (1 / self.norm))
        weights = 1 / (size * each**2 + variance)
        return weights, 0.5 * float(weights @ (values - mean) ** 2)

    def to_dict(self) -> dict[str, Any]:
        """Return θ₀, the directions, their centre, the length and its norm."""
        return {
            "z": self.z.tolist(),
            "directions": self.directions.tolist(),
            "centre": self.centre.tolist(),
            "length": self.length,
            "count": self.count,
            "unit": UNIT,
            "norm": self.norm,
        }


def bound_of(entries: Iterable[int], norm: int) -> float:
    """Return the length of a vector of whole numbers; a root that is not whole is rounded up."""
    if norm == 1:
        return sum(map(abs, entries))
    square = sum(entry**2 for entry in entries)
    root = math.sqrt(square)
    while Fraction(root) ** 2 < square:
        root = math.nextafter(root, math.inf)
    return root


@partial(jax.jit, static_argnames="kernel")
def _total(
    kernel: tuple[Model, int, int],
    at: tuple[jax.Array, tuple[jax.Array, ...]],
    records: tuple[Data, Data, jax.Array, jax.Array],
    chunks: jax.Array,
) -> jax.Array:
    """Return the sum over the first chunks of a block, in whole numbers.

    The block has one shape however many chunks are summed: there is one kernel for all tables.
    """
    (model, norm, size), (z, fixed), (own, moved, differ, shares) = kernel, at, records

    def added(number: jax.Array, total: jax.Array) -> jax.Array:
        def chunk(values: jax.Array) -> jax.Array:
            return jax.lax.dynamic_slice_in_dim(values, number * size, size)

        both = jax.tree.map(chunk, own), jax.tree.map(chunk, moved)
        slopes = slopes_inside(model, z, *both, differ[number])
        scores = _scores(norm, fixed, slopes).astype(jnp.int64)
        return total + jnp.sum(chunk(shares)[:, None] * scores, axis=0)

    nothing = jnp.zeros(len(fixed[0]), jnp.int64)
    return jax.lax.fori_loop(0, chunks, added, nothing)


@partial(jax.jit, static_argnames="norm")
def _scores(norm: int, fixed: tuple[jax.Array, ...], slopes: jax.Array) -> jax.Array:
    """Return whole numbers held as float64, none of whose vectors is longer than the length."""
    directions, centre, length = fixed
    # Records run along the second axis, in which sums over the first one are taken side by side.
    scores = project(slopes, directions).T - centre[:, None]
    long = _power(scores, norm) if norm == 1 else jnp.sqrt(_power(scores, norm))
    clipped = scores * jnp.minimum(1.0, length / (long * UNIT)) * UNIT
    whole = jnp.trunc(jnp.nan_to_num(clipped, nan=0.0, posinf=0.0, neginf=0.0))
    fits = _power(whole, norm) <= length**norm
    return jnp.where(fits, whole, 0.0).T


def _power(vectors: jax.Array, norm: int) -> jax.Array:
    """Return the length of each column to the power of the norm: whole where the entries are."""
    return jnp.sum(jnp.abs(vectors) ** norm, axis=0, keepdims=True)


def project(vectors: jax.Array, directions: jax.Array) -> jax.Array:
    """Return A g for each record, by products and sums whose order no library may change."""
    return jnp.sum(vectors.T[None] * directions[:, :, None], axis=1).T
