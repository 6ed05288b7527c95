"""A table as it is read: held where it is small, else streamed.

Whoever takes nothing but sums from a table can do with some of its records at a time. The sums do
not depend on which way it was read: they are the same whole numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from understudy.domain.frames import Tabular, frame_of, name_of
from understudy.domain.identifiers import refuse_repeated_ids, refuse_unsure_ids, unsure_ids
from understudy.domain.parts import Part, parts_of
from understudy.domain.records import Held, Records, Runner, Streamed
from understudy.domain.rules import check_table
from understudy.domain.schema import Schema
from understudy.domain.table_files import STREAMABLE, streamable
from understudy.domain.tables import ENCODED, encode
from understudy.errors import BadInput
from understudy.support.cluster import Cluster
from understudy.support.parallel import cores, in_threads
from understudy.support.sizes import bytes_of

MEMORY = "1GiB"
"""What a table may take, where nobody says otherwise."""
_CELL, _LETTER = 64, 8
"""Bytes that a cell of a table takes while it is held, and each byte of a CSV file: parsed, coded
and prepared, at once."""
_COPIED_CELL = 40
"""The same for a cell of public columns, in the order of the table, in its own and as drawn."""
_STREAMED_CELL = 512
"""The same for a cell of a batch, whose scores are computed at once."""
_SHOWN_CELL = 200
"""The same for a cell of the records that are kept for the report, while they are picked."""
_LARGEST_BATCH, _SMALLEST_BATCH = 65_536, 1024


@dataclass(frozen=True)
class Reading:
    """How a table is read."""

    memory: int
    """Bytes that it may take."""
    run: Runner = in_threads
    """Who reads the parts of a table that is streamed."""

    @classmethod
    def within(cls, memory: int | str, scheduler: str | None = None) -> Reading:
        """Return how a table is read, on this machine or by a cluster's workers.

        Args:
            memory: What it may take, as people write it.
            scheduler: Address of a Dask scheduler.
        """
        return cls(bytes_of(memory), in_threads if scheduler is None else Cluster(scheduler))

    def shared_by(self, tables: int) -> Reading:
        """Return how each of several tables is read that share the memory.

        Args:
            tables: How many there are.
        """
        return replace(self, memory=self.memory // tables)

    @property
    def elsewhere(self) -> bool:
        """Whether others read the table, however small it is."""
        return isinstance(self.run, Cluster)

    def batch(self, columns: int) -> int:
        """Return how many rows are read at a time."""
        fitting = self.memory // (cores() * columns * _STREAMED_CELL)
        return max(_SMALLEST_BATCH, min(_LARGEST_BATCH, fitting))

    def records(
        self,
        table: Tabular,
        schema: Schema,
        *,
        name: str = "the table",
        reason: str | None = None,
        seed: int | None = None,
    ) -> Records:
        """Read a table, checked against its schema; or refuse one that is too large to be held.

        Args:
            table: In memory, or in files.
            schema: What it is declared to hold.
            name: What sentences call it where it is in no file.
            reason: Why all of it is needed at once, as the end of a sentence; or None.
            seed: Fixes which records of a table that is streamed are shown.
        """
        called = name_of(table, name)
        parts = self._parts(table, schema)
        needed = _needed(parts, schema)
        streamed = reason is None and not unsure_ids(schema)
        if not self.elsewhere and needed <= (self.memory // 2 if streamed else self.memory):
            return held(table, schema, name=called)
        if reason is not None and self.elsewhere:
            raise BadInput(
                f"`scheduler` is for a table that is read in parts, and {reason}: leave it out."
            )
        if reason is not None:
            raise BadInput(
                f"{called} is larger than `memory` allows, and {reason}: give more `memory`, or "
                f"a smaller table."
            )
        refuse_unsure_ids(schema, name=called)
        batch = self.batch(len(schema.having(*ENCODED)))
        if parts:
            cells = self.memory // _SHOWN_CELL
            records = Streamed.checked(
                parts, schema, batch=batch, run=self.run, seed=seed, cells=cells
            )
            if records.count:
                return records
        raise BadInput(f"{called} has no records, only column names.")

    def check_public(self, records: Records, schema: Schema) -> None:
        """Refuse to copy public columns that are too large to be held.

        Args:
            records: Of a table.
            schema: What it is declared to hold.
        """
        if isinstance(records, Held):
            return
        if records.count * len(schema.public) * _COPIED_CELL > self.memory:
            raise BadInput(
                "the public columns of the table would be copied, and are larger than `memory` "
                "allows: give more `memory`, declare fewer columns public, or give public rows "
                "that come from elsewhere with `predictors`."
            )

    def check_workers(self, model: object) -> None:
        """Refuse a model that the workers of a cluster cannot build, before anything is charged.

        Args:
            model: The model of a record.
        """
        list(self.run(partial(_known, model), [0]))

    def _parts(self, table: Tabular, schema: Schema) -> Sequence[Part]:
        """Return the parts of a table that can be read in parts; none of any other."""
        if files := streamable(table):
            # Workers may have been started in another directory.
            paths = [path.absolute() for path in files] if self.elsewhere else files
            return parts_of(paths, schema)
        if self.elsewhere:
            raise BadInput(
                f"`scheduler` is for a table in files that end in {' or '.join(STREAMABLE)}, where "
                f"the workers find them under the same names: leave it out."
            )
        return ()


def _known(model: object, number: int) -> None:
    """Do nothing, with a model that was sent."""


def _needed(parts: Sequence[Part], schema: Schema) -> int:
    """Return how many bytes a table takes while it is held, about."""
    row = len(schema.having(*ENCODED)) * _CELL
    return sum(p.size * _LETTER if p.rows is None else p.rows * row for p in parts)


def held(table: Tabular, schema: Schema, *, name: str = "the table") -> Held:
    """Return a table that is read as a whole, checked against its schema.

    Args:
        table: In memory, or in files.
        schema: What it is declared to hold.
        name: What sentences call it where it is in no file.
    """
    frame, called = frame_of(table), name_of(table, name)
    columns = encode(frame, schema, name=called)
    refuse_repeated_ids(frame, schema, name=called)
    check_table(schema.rules, columns, name=called)
    return Held(columns)
