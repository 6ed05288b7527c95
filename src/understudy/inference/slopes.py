"""f_θ(x) and ∇f_θ(x) of many records: one compiled kernel each, whatever the number of records.

Records are evaluated in chunks of one fixed shape, padded, so that what is computed of a record is
the same wherever it stands. At the edge of a domain f may be infinite; there the record is moved
inwards by a public margin and evaluated again. Real and simulated records are treated alike, by the
same kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from understudy._jax import jax, jnp
from understudy.domain.tables import Columns
from understudy.models.base import Data, Model

Floats = NDArray[np.float64]

MARGIN = 2.0**-40
"""Share of a number's declared width by which it is moved inwards where its density is infinite."""
_CHUNK = 4096
_TOGETHER = 16
"""Chunks that are handed over to a kernel at once."""
_POINTS = 16


class Block(NamedTuple):
    """Some chunks of records, as one kernel takes them."""

    own: Columns
    moved: Columns
    """The same, where a bound moves records."""
    differ: NDArray[np.bool_]
    """In which chunks it does."""
    there: slice
    """Which records these are."""
    chunks: int
    """How many chunks hold any."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """Records as a model prepares them, beside those that a bound moves."""

    model: Model
    own: Columns
    rows: NDArray[np.int64]
    """Which records are not the same when they are moved inwards, in order."""
    moved: Columns
    """Those records, moved."""

    @classmethod
    def of(cls, model: Model, columns: Columns) -> Prepared:
        """Prepare a table."""
        own, near = _on_host(model.prepare(columns)), inside(model, columns)
        if all(np.array_equal(near[name], columns[name]) for name in near):
            return cls(model, own, np.empty(0, dtype=np.int64), {})
        moved = _on_host(model.prepare(near))
        rows = np.flatnonzero(
            np.any([_differ(values, moved[name]) for name, values in own.items()], axis=0)
        )
        return cls(model, own, rows, {name: values[rows] for name, values in moved.items()})

    @property
    def records(self) -> int:
        """How many there are."""
        return len(next(iter(self.own.values())))

    def slopes(self, z: Floats) -> Floats:
        """Return ∇f_θ(x) of each record, shape (records, dimension)."""
        return np.concatenate([part[there] for part, there in self.chunks(z)])

    def chunks(self, z: Floats) -> Iterator[tuple[Floats, slice]]:
        """Return ∇f_θ(x) in chunks of one shape, with which rows of each are records."""
        for own, moved, there in self._parts():
            slopes, finite = map(np.asarray, _slopes(self.model, z, own))
            if moved is not None:
                others = np.asarray(_slopes(self.model, z, moved)[0])
                slopes = np.where(finite[:, None], slopes, others)
            yield slopes, there

    def loglik(self, z: Floats) -> Floats:
        """Return f_θ(x) of each record for each row of z, shape (points, records)."""
        places = z[np.minimum(np.arange(-(-len(z) // _POINTS) * _POINTS), len(z) - 1)]
        found = np.empty((len(places), self.records))
        start = 0
        for own, moved, there in self._parts():
            stop = start + there.stop
            for k in range(0, len(places), _POINTS):
                some = places[k : k + _POINTS]
                values = np.asarray(_logliks(self.model, some, own))
                if moved is not None:
                    others = np.asarray(_logliks(self.model, some, moved))
                    values = np.where(np.isfinite(values), values, others)
                found[k : k + _POINTS, start:stop] = values[:, there]
            start = stop
        return found[: len(z)]

    def blocks(self) -> Iterator[Block]:
        """Return the records in blocks of several chunks."""
        size = self.chunk * _TOGETHER
        for start in range(0, self.records, size):
            stop = min(start + size, self.records)
            own = {k: _padded(v[start:stop], size) for k, v in self.own.items()}
            first, last = np.searchsorted(self.rows, (start, stop))
            places, moved = self.rows[first:last] - start, own
            if last > first:
                moved = {name: values.copy() for name, values in own.items()}
                for name, values in self.moved.items():
                    moved[name][places] = values[first:last]
            differ = np.zeros(_TOGETHER, dtype=bool)
            differ[places // self.chunk] = True
            yield Block(own, moved, differ, slice(start, stop), -(-(stop - start) // self.chunk))

    @property
    def chunk(self) -> int:
        """How many records are evaluated at once."""
        return max(_CHUNK // self.model.rows_per_record, 1)

    def _parts(self) -> Iterator[tuple[Columns, Columns | None, slice]]:
        """Return chunks of the records, moved ones in their place if there are any, and a slice."""
        size = self.chunk
        for start in range(0, self.records, size):
            stop = min(start + size, self.records)
            own = {k: _padded(v[start:stop], size) for k, v in self.own.items()}
            first, last = np.searchsorted(self.rows, (start, stop))
            moved = None
            if last > first:
                moved = {name: values.copy() for name, values in own.items()}
                for name, values in self.moved.items():
                    moved[name][self.rows[first:last] - start] = values[first:last]
            yield own, moved, slice(0, stop - start)


def inside(model: Model, columns: Columns) -> Columns:
    """Return the records with numbers moved inwards from their bounds by a public margin."""
    moved = dict(columns)
    for column in model.schema.confidential:
        if column.numeric and not column.whole:
            far = max(abs(column.lower), abs(column.upper))
            margin = max(column.width * MARGIN, 2 * np.spacing(far))
            moved[column.name] = np.clip(
                columns[column.name], column.lower + margin, column.upper - margin
            )
    return moved


def _padded(values: NDArray[np.generic], size: int) -> NDArray[np.generic]:
    """Return so many rows, the last of them as often as it takes."""
    if len(values) == size:
        return values
    return values[np.minimum(np.arange(size), len(values) - 1)]


def _differ(one: NDArray[np.generic], other: NDArray[np.generic]) -> NDArray[np.bool_]:
    different = np.asarray(one != other)
    return np.asarray(different.reshape(len(different), -1).any(axis=1))


def _on_host(data: Data) -> Columns:
    return {name: np.asarray(values) for name, values in data.items()}


def slopes_inside(
    model: Model, z: jax.Array, own: Data, moved: Data, differ: jax.Array
) -> jax.Array:
    """Return ∇f_θ(x) of the records of a chunk, within another kernel.

    Args:
        model: Of a record.
        z: θ, in unconstrained coordinates.
        own: The records.
        moved: The same, moved inwards from their bounds.
        differ: Whether any of them is moved.
    """
    slopes, finite = _slopes(model, z, own)

    def mended() -> jax.Array:
        return jnp.where(finite[:, None], slopes, _slopes(model, z, moved)[0])

    return jax.lax.cond(differ, mended, lambda: slopes)


@partial(jax.jit, static_argnames="model")
def _slopes(model: Model, z: jax.Array, data: Data) -> tuple[jax.Array, jax.Array]:
    """Return ∇f_θ(x) of each record, and whether f itself is finite there.

    One kernel for all records of a model: were there two, and other records decided which, a
    record's slope could differ by a bit from table to table.
    """

    def loglik(position: jax.Array) -> tuple[jax.Array, jax.Array]:
        values = model.record_loglik(model.constrain(position), data)
        return values, values

    if model.record_slope is not None:
        slopes = model.record_slope(model.constrain(z), data)
        return slopes, jnp.ones(len(slopes), bool)
    slopes, values = jax.jacfwd(loglik, has_aux=True)(z)
    return jnp.nan_to_num(slopes, nan=0.0, posinf=0.0, neginf=0.0), jnp.isfinite(values)


@partial(jax.jit, static_argnames="model")
def _logliks(model: Model, z: jax.Array, data: Data) -> jax.Array:
    return jax.vmap(lambda place: model.record_loglik(model.constrain(place), data))(z)
