"""The declared domain of a record, and the search in it for the record that counts most.

A record is a value of every column that the schema declares, predictors and survey weight included.
The search begins at edges (bounds and their neighbours in floating point, levels, missing values)
and at random, and goes on around the best by steps of all sizes, many records at a time. Structural
rules are not asked: what a theorem bounds, it bounds on the whole of the declared columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.domain.dates import iso
from understudy.domain.schema import Column, Role, Schema, Type
from understudy.domain.tables import Columns, count_records
from understudy.inference.slopes import MARGIN
from understudy.models.record.missing import is_missing

Counted = Callable[[Columns], NDArray[np.float64]]
"""How much each record counts, by several measures: shape (measures, records)."""

BATCH = 2048
"""Records that are tried at once: as many as contributions are computed of at once."""
_GENERATIONS = 6
_KEPT = 12
"""Best records, by each measure, around which the next are tried."""
_NEAR = (MARGIN / 2, MARGIN, 2 * MARGIN, 1e-15, 1e-9, 1e-6, 1e-3, 0.01, 0.1, 0.3, 0.5)
"""Distances from either bound, as shares of the width."""
_FINEST = 17.0
"""Steps are as small as 10 to this negative power, as shares of the width."""


@dataclass(frozen=True)
class Domain:
    """Every record that a schema allows, or those with some values given."""

    schema: Schema
    given: Mapping[str, Any] = field(default_factory=dict)
    """Values that do not vary."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """What a record has a value of."""
        return self.schema.having(Role.CONFIDENTIAL, Role.PUBLIC, Role.SURVEY_WEIGHT)

    def beside(self, record: Columns) -> Domain:
        """Return the records with the public values of one, which are fixed and known."""
        known = {column.name: record[column.name][0] for column in self.schema.public}
        return replace(self, given=known)

    def start(self, generator: np.random.Generator) -> Columns:
        """Return records at the edges of every column, and as many that have some values inside."""
        corners, inside = (
            {column.name: draw(column, BATCH, generator) for column in self.columns}
            for draw in (_corners, _anywhere)
        )
        mixed = {
            name: np.where(generator.random(BATCH) < 0.5, corners[name], inside[name])
            for name in corners
        }
        return self._fixed(joined(self._sweeps(), corners, mixed))

    def around(self, records: Columns, generator: np.random.Generator) -> Columns:
        """Return records that differ from one of these in some values, by a little or a lot."""
        parents = generator.integers(count_records(records), size=BATCH)
        often = max(0.4, 1 / len(self.columns))
        moved = {}
        for column in self.columns:
            old = records[column.name][parents]
            new = _stepped(column, old, generator)
            moved[column.name] = np.where(generator.random(BATCH) < often, new, old)
        return self._fixed(moved)

    def _sweeps(self) -> Columns:
        """Return records that run through the edges of one column, the others in the middle."""
        middle = {c.name: c.spread(np.arange(1)) for c in self.columns}
        parts = []
        for column in self.columns:
            values = edges(column)
            rest = {name: np.repeat(value, len(values)) for name, value in middle.items()}
            parts.append({**rest, column.name: values})
        return joined(*parts)

    def _fixed(self, records: Columns) -> Columns:
        rows = count_records(records)
        fixed = {**records, **{name: np.full(rows, value) for name, value in self.given.items()}}
        for column in self.columns:
            if column.beside is not None:
                # Every kind takes its turn.
                missing = np.isnan(fixed[column.name])
                fixed[column.beside] = np.where(missing, np.arange(rows) % column.kinds, -1)
        return fixed


def edges(column: Column) -> NDArray[Any]:
    """Return the values at which something may break: bounds, beside them, levels, missing."""
    if column.levels is not None:
        return np.arange(-column.kinds, len(column.levels))
    low, high, width = column.lower, column.upper, column.width
    if column.whole:
        values = [low, low + 1, high - 1, high, np.rint((low + high) / 2)]
    else:
        values = [low, math.nextafter(low, high), math.nextafter(high, low), high]
        values += [low + width * share for share in _NEAR]
        values += [high - width * share for share in _NEAR]
    values += [v for v in (0.0, 5e-324, 1e-300, 1.0) if not column.whole or v == int(v)]
    allowed = np.unique([value for value in values if low <= value <= high])
    return np.append(allowed, np.nan) if column.missing == "model" else allowed


def _corners(column: Column, count: int, generator: np.random.Generator) -> NDArray[Any]:
    return generator.choice(edges(column), count)


def _anywhere(column: Column, count: int, generator: np.random.Generator) -> NDArray[Any]:
    """Return values from all of a column: even, or even in the logarithm towards a bound."""
    if column.levels is not None:
        return generator.integers(len(column.levels), size=count)
    share, side = generator.random(count), generator.integers(3, size=count)
    close = column.width * 10 ** (-_FINEST * share)
    values = np.choose(
        side, [column.lower + column.width * share, column.lower + close, column.upper - close]
    )
    return _allowed(column, values)


def _stepped(column: Column, old: NDArray[Any], generator: np.random.Generator) -> NDArray[Any]:
    """Return values near the old ones, or anywhere, or at an edge."""
    count = len(old)
    fresh = np.where(
        generator.random(count) < 0.5,
        _corners(column, count, generator),
        _anywhere(column, count, generator),
    )
    if column.levels is not None:
        return fresh
    size = column.width * 10 ** (-_FINEST * generator.random(count))
    step = generator.choice([-1.0, 1.0], count) * (np.ceil(size) if column.whole else size)
    return np.where(
        np.isnan(old) | (generator.random(count) < 0.3), fresh, _allowed(column, old + step)
    )


def _allowed(column: Column, values: NDArray[Any]) -> NDArray[Any]:
    inside = np.clip(values, column.lower, column.upper)
    return np.rint(inside) if column.whole else inside


def joined(*parts: Columns) -> Columns:
    """Return the records of several tables, one after the other."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def chosen(records: Columns, places: Any) -> Columns:
    """Return the records at those places."""
    return {name: values[places] for name, values in records.items()}


def most_counted(domain: Domain, counted: Counted, generator: np.random.Generator) -> Columns:
    """Return the record that counts most by each measure, in their order."""
    records = domain.start(generator)
    best, heights = chosen(records, slice(0, 0)), None
    for _ in range(_GENERATIONS):
        found = counted(records)
        pool = joined(best, records)
        heights = found if heights is None else np.concatenate([heights, found], axis=1)
        first = np.argsort(-heights, axis=1, kind="stable")[:, :_KEPT]
        kept = np.unique(first)
        best, heights = chosen(pool, kept), heights[:, kept]
        records = domain.around(best, generator)
    assert heights is not None
    return chosen(best, heights.argmax(axis=1))


def in_words(record: Columns, columns: tuple[Column, ...]) -> str:
    """Say what a record holds."""
    return ", ".join(f"{c.name} = {_value(record[c.name], c)}" for c in columns)


def _value(values: NDArray[Any], column: Column) -> str:
    if is_missing(values, column)[0]:
        return "missing"
    value = values[0]
    if column.levels is not None:
        return repr(column.levels[int(value)])
    if column.type is Type.DATE:
        return iso(float(value))
    for bound, sign in ((column.lower, "+"), (column.upper, "−")):
        if bound != value and f"{bound:.6g}" == f"{value:.6g}":
            return f"{bound:.6g} {sign} {abs(value - bound):.3g}"
    return f"{value:.6g}"
