"""The records of a confidential table, wherever they are, as what can be summed over.

A synthesis by sums takes nothing else from a table, so it need not be held: `Streamed` passes the
files of a table once for each sum, part by part and batch by batch, and whoever runs the parts
(threads, or a cluster's workers) may do so in any order. Sums of whole numbers do not depend on it.
"""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from understudy.domain.parts import Part
from understudy.domain.rules import check_table
from understudy.domain.schema import Schema
from understudy.domain.tables import ENCODED, Columns, count_records
from understudy.support.confidential import Confidential

Wholes = NDArray[np.int64]
Vector = Callable[[Columns], Wholes]
"""What some records add to a sum of whole numbers, together."""

SAMPLE = 100_000
"""Records of a streamed table that are kept at random, for what is shown of it inside."""
_SAMPLE_CELLS = 5_000_000
"""Cells that they have together: fewer records of a wide table are kept."""

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class Runner(Protocol):
    """Works on several things, and gives the results in their order."""

    def __call__(
        self, work: Callable[[_Item], _Result], items: Sequence[_Item], /
    ) -> Iterable[_Result]:
        """Yield what the work returns for each."""
        ...


class Records(Confidential, ABC):
    """The records of a table, checked against its schema."""

    @property
    @abstractmethod
    def count(self) -> int:
        """How many there are."""

    @property
    @abstractmethod
    def shown(self) -> Columns:
        """All of them; or some at random where they are too many to be held."""

    @abstractmethod
    def total(self, vector: Vector) -> Wholes:
        """Return the sum over all records.

        Args:
            vector: Returns the sum over some of them; which, and in which order, must not matter.
        """

    @abstractmethod
    def only(self, names: Sequence[str]) -> Columns:
        """Return some columns of all records.

        Args:
            names: Of the columns.
        """


@dataclass(frozen=True, eq=False, repr=False)
class Held(Records):
    """Records that are in memory."""

    columns: Columns

    @property
    def count(self) -> int:
        """How many there are."""
        return count_records(self.columns)

    @property
    def shown(self) -> Columns:
        """All of them."""
        return self.columns

    def total(self, vector: Vector) -> Wholes:
        """Return the sum over all records."""
        return vector(self.columns)

    def only(self, names: Sequence[str]) -> Columns:
        """Return some of the columns."""
        return {name: self.columns[name] for name in names}


@dataclass(frozen=True, eq=False, repr=False)
class Streamed(Records):
    """Records that stay in their files, of which some at a time are read."""

    parts: tuple[Part, ...]
    schema: Schema
    batch: int
    """Rows that are read at a time."""
    run: Runner
    """Who reads the parts."""
    sample: Columns
    """Some records, each as likely as any other, in random order."""

    @classmethod
    def checked(
        cls,
        parts: Sequence[Part],
        schema: Schema,
        *,
        batch: int,
        run: Runner,
        seed: int | None,
        cells: int = _SAMPLE_CELLS,
    ) -> Streamed:
        """Read a table once, and refuse what its schema does not allow.

        Args:
            parts: Its parts.
            schema: What it is declared to hold.
            batch: Rows that are read at a time.
            run: Who reads the parts.
            seed: Fixes which records are shown.
            cells: What those may have together, if that is less than is kept anyway.
        """
        root = secrets.randbits(128) if seed is None else seed
        whole = sum(part.size for part in parts)
        most = min(SAMPLE, min(cells, _SAMPLE_CELLS) // len(schema.having(*ENCODED)))
        # More of a part than will be wanted, unless its rows are far shorter than those of others.
        quotas = [min(most, 3 * most * part.size // whole + 1000) for part in parts]
        jobs = [(part, (root, k), quotas[k]) for k, part in enumerate(parts)]
        known: list[Part] = []

        def kept() -> Iterator[_Kept]:
            inspected = run(partial(_inspected, schema, batch), jobs)
            for part, (rows, some) in zip(parts, inspected, strict=True):
                known.append(replace(part, rows=rows))
                yield some

        sample = _gathered(kept(), most)
        return cls(tuple(known), schema, batch, run, sample.records)

    @property
    def count(self) -> int:
        """How many there are."""
        return sum(part.rows or 0 for part in self.parts)

    @property
    def shown(self) -> Columns:
        """The sample."""
        return self.sample

    def total(self, vector: Vector) -> Wholes:
        """Return the sum over all records; every file is read once, and must be what it was."""
        totals = self.run(partial(_summed, self.schema, self.batch, vector), self.parts)
        return np.asarray(sum(totals), dtype=np.int64)

    def only(self, names: Sequence[str]) -> Columns:
        """Return some of the columns, which have to fit into memory."""
        if not names:
            return {}
        pieces = list(self.run(partial(_only, self.schema, self.batch, names), self.parts))
        return {name: np.concatenate([piece[name] for piece in pieces]) for name in names}


class _Kept(NamedTuple):
    """Records that are kept at random: those whose random numbers are smallest."""

    keys: NDArray[np.float64]
    below: float
    """Of what was looked at, all records with smaller keys are kept."""
    records: Columns


def _inspected(
    schema: Schema, batch: int, job: tuple[Part, tuple[int, int], int]
) -> tuple[int, _Kept]:
    """Check a part, and return how many rows it has and some of them."""
    part, seed, most = job
    generator = np.random.default_rng(seed)
    rows = 0

    def drawn() -> Iterator[_Kept]:
        nonlocal rows
        for columns in part.coded(schema, batch):
            check_table(schema.rules, columns, name=str(part.path), first=part.first + rows)
            count = count_records(columns)
            rows += count
            yield _Kept(generator.random(count), np.inf, columns)

    kept = _gathered(drawn(), most)
    return rows, kept


def _gathered(pieces: Iterable[_Kept], most: int) -> _Kept:
    """Return at most so many records of pieces that come one by one, those with the smallest keys.

    However many pieces there are, no more than three times as many are held, and the latest piece.
    """
    held, below, kept = 0, np.inf, list[_Kept]()
    for piece in pieces:
        places = np.flatnonzero(piece.keys < below)
        kept.append(_Kept(piece.keys[places], piece.below, _at(piece.records, places)))
        held += len(places)
        if held > 2 * most:
            kept = [_smallest(kept, most)]
            held, below = len(kept[0].keys), kept[0].below
    return _smallest(kept, most)


def _smallest(pieces: Sequence[_Kept], most: int) -> _Kept:
    """Return at most so many records of several pieces, those with the smallest keys."""
    keys = np.concatenate([piece.keys for piece in pieces])
    below = min(piece.below for piece in pieces)
    names = pieces[0].records
    records = {name: np.concatenate([p.records[name] for p in pieces]) for name in names}
    places = np.argsort(keys)
    places = places[: np.searchsorted(keys[places], below)]
    if len(places) > most:
        below, places = float(keys[places[most]]), places[:most]
    return _Kept(keys[places], below, _at(records, places))


def _at(columns: Columns, places: NDArray[np.int64]) -> Columns:
    return {name: values[places] for name, values in columns.items()}


def _summed(schema: Schema, batch: int, vector: Vector, part: Part) -> Any:
    """Return the sum over a part, 0 if it has no rows."""
    return sum(vector(columns) for columns in _batches(part, schema, batch))


def _only(schema: Schema, batch: int, names: Sequence[str], part: Part) -> Columns:
    pieces = [Columns((n, columns[n]) for n in names) for columns in part.coded(schema, batch)]
    return {name: np.concatenate([piece[name] for piece in pieces]) for name in names}


def _batches(part: Part, schema: Schema, batch: int) -> Iterator[Columns]:
    return (columns for columns in part.coded(schema, batch) if count_records(columns))
