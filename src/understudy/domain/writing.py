"""Tables written to files, all at once or in batches; every number survives unchanged."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.errors import BadInput

if TYPE_CHECKING:
    import pandas as pd

WRITABLE = (".csv", ".parquet")


def write(frame: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write a table as CSV or Parquet, by the extension; every number survives unchanged."""
    write_all([frame], Path(path))


def write_all(frames: Iterable[pd.DataFrame], *paths: Path) -> None:
    """Write a table that comes in batches into one or more files at once.

    Args:
        frames: Its rows, in order; all of the same columns, of the same types.
        paths: CSV or Parquet, by their extensions.
    """
    for path in paths:
        check_writable(path)
    with ExitStack() as files:
        writers = [
            (_CsvFile if path.suffix.lower() == ".csv" else _ParquetFile)(path, files)
            for path in paths
        ]
        for frame in frames:
            for writer in writers:
                writer.add(frame)


class _CsvFile:
    def __init__(self, path: Path, files: ExitStack) -> None:
        self.file = files.enter_context(path.open("w", encoding="utf-8", newline=""))
        self.header = True

    def add(self, frame: pd.DataFrame) -> None:
        frame.to_csv(self.file, index=False, header=self.header, lineterminator="\n")
        self.header = False


class _ParquetFile:
    def __init__(self, path: Path, files: ExitStack) -> None:
        self.path, self.files = path, files
        self.writer: Any = None

    def add(self, frame: pd.DataFrame) -> None:
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter

        table = pa.Table.from_pandas(frame, preserve_index=False)
        if self.writer is None:
            self.writer = self.files.enter_context(ParquetWriter(self.path, table.schema))
        self.writer.write_table(table)


def check_writable(path: Path) -> None:
    """Refuse a file whose extension names no format that can be written."""
    if path.suffix.lower() not in WRITABLE:
        raise BadInput(f"{path} cannot be written; the file must end in {' or '.join(WRITABLE)}.")
