"""The files of a table that need not fit into memory, in parts that are read as often as need be.

A part is a CSV file, or some row groups of a Parquet file. A table is read several times, and if a
file changed in between, its sums would be those of no table at all. So each part keeps the stamp
that its file had when the work began, and is refused once the file has another one, or other rows.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from understudy.domain.schema import Schema
from understudy.domain.table_files import (
    CORRUPT,
    check_readable,
    corrupt,
    csv_frames,
    without_index,
)
from understudy.domain.tables import ENCODED, Columns, check_columns, encode
from understudy.errors import Refused

if TYPE_CHECKING:
    import pandas as pd

_PART_ROWS = 1_000_000
"""Row groups are read together up to so many rows: each part opens its file anew."""
_BUFFER = 2**20
"""Bytes of a column that are read ahead."""


class Stamp(NamedTuple):
    """By what it is noticed that a file is not the one that it was, seen from any machine."""

    inode: int
    size: int
    modified: int

    @classmethod
    def of(cls, path: Path) -> Stamp:
        """Return what a file has now; one that is gone is refused."""
        try:
            status = os.stat(path)
        except OSError:
            raise _changed(path) from None
        return cls(status.st_ino, status.st_size, status.st_mtime_ns)


@dataclass(frozen=True, repr=False)
class Part:
    """Some consecutive rows of a file."""

    path: Path
    stamp: Stamp
    """Of the file, when the work began."""
    size: int
    """Bytes, about."""
    rows: int | None = None
    """How many there are; None until they have been counted."""
    first: int = 1
    """The number of the first one in its file."""
    groups: tuple[int, ...] | None = None
    """Row groups of a Parquet file; None for a CSV file."""

    def coded(self, schema: Schema, batch: int) -> Iterator[Columns]:
        """Yield its rows as arrays, at most so many at a time, or refuse what does not fit.

        Args:
            schema: What the table is declared to hold.
            batch: Rows of a batch.
        """
        if Stamp.of(self.path) != self.stamp:
            raise _changed(self.path)
        read = 0
        for frame in self._frames(schema, batch):
            place = {"name": str(self.path), "first": self.first + read}
            yield encode(frame, schema, **place)  # type: ignore[arg-type]
            read += len(frame)
        if Stamp.of(self.path) != self.stamp or self.rows not in (None, read):
            raise _changed(self.path)

    def _frames(self, schema: Schema, batch: int) -> Iterator[pd.DataFrame]:
        if self.groups is None:
            yield from csv_frames(self.path, batch)
        else:
            yield from _parquet_frames(self.path, self.groups, schema, batch)


def parts_of(files: Sequence[Path], schema: Schema) -> tuple[Part, ...]:
    """Return the parts of a table, each of whose files has the columns that the schema declares.

    Args:
        files: CSV or Parquet.
        schema: What the table is declared to hold.
    """
    parts: list[Part] = []
    for path in files:
        check_readable(path)
        stamp = Stamp.of(path)
        if path.suffix.lower() == ".csv":
            parts.append(Part(path, stamp, stamp.size))
        else:
            parts += _parquet_parts(path, stamp, schema)
    return tuple(parts)


def _parquet_parts(path: Path, stamp: Stamp, schema: Schema) -> Iterator[Part]:
    from pyarrow.lib import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path) as file:
            frame = without_index(file.schema_arrow.empty_table().to_pandas())
            groups = [file.metadata.row_group(k) for k in range(file.num_row_groups)]
            rows = [group.num_rows for group in groups]
            sizes = [group.total_byte_size for group in groups]
    except (ArrowException, *CORRUPT):
        raise corrupt(path, "Parquet") from None
    check_columns(frame, schema, name=str(path))
    for some in _together(rows):
        first, inside = 1 + sum(rows[: some.start]), slice(some.start, some.stop)
        yield Part(path, stamp, sum(sizes[inside]), sum(rows[inside]), first, tuple(some))


def _together(rows: Sequence[int]) -> Iterator[range]:
    """Yield which row groups are read together, from how many rows each has."""
    start, read = 0, 0
    for number, count in enumerate(rows):
        if read and read + count > _PART_ROWS:
            yield range(start, number)
            start, read = number, 0
        read += count
    if read:
        yield range(start, len(rows))


def _parquet_frames(
    path: Path, groups: Sequence[int], schema: Schema, batch: int
) -> Iterator[pd.DataFrame]:
    """Yield row groups of a file in batches, levels as codes where they are stored as text."""
    import pyarrow as pa
    from pyarrow.lib import ArrowException
    from pyarrow.parquet import ParquetFile

    wanted = schema.having(*ENCODED)
    levelled = [column.name for column in wanted if not column.numeric]
    try:
        # Not all of a row group is read at once, however large it is.
        with ParquetFile(path, read_dictionary=levelled, buffer_size=_BUFFER) as file:
            names = [column.name for column in wanted]
            for read in file.iter_batches(batch, row_groups=list(groups), columns=names):
                table = pa.Table.from_batches([read])
                yield table.to_pandas(ignore_metadata=True)
    except (ArrowException, *CORRUPT):
        raise corrupt(path, "Parquet") from None


def _changed(path: Path) -> Refused:
    return Refused(
        f"{path} was changed, moved or removed while the table was read, and the table is read "
        f"several times: begin again when nobody writes to it."
    )
