"""Files that hold tables: what they hold is given as it is, and what is damaged is refused.

No sentence holds a value, not even a library's own message, because values are confidential.
"""

from __future__ import annotations

import csv
import itertools
import os
from collections.abc import Iterator, Sequence
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.domain.column import writable
from understudy.errors import BadInput

if TYPE_CHECKING:
    import pandas as pd

READABLE = (".csv", ".parquet", ".dta", ".sas7bdat", ".xpt", ".sav")
STREAMABLE = (".csv", ".parquet")

_CHUNK = 65_536


def read(table: str | os.PathLike[str]) -> pd.DataFrame:
    """Return the table that one or more files hold, unchecked.

    CSV is read as text, so that a code such as 007 stays what it is. Stata, SAS and SPSS files
    give the stored codes, not their labels, and dates as the numbers that the file stores.

    Args:
        table: A file, whose extension says in which format it is; or a folder or a pattern, whose
            files together are the table.

    Raises:
        BadInput: If it is missing, damaged, empty or of an unknown format.
    """
    import pandas as pd

    files = files_of(table)
    frames = [_read_one(path) for path in files]
    for path, frame in zip(files, frames, strict=True):
        if set(frame.columns) != set(frames[0].columns):
            raise BadInput(
                f"{path} has other columns than {files[0]}: the files of one table have the same."
            )
    frame = frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)
    if frame.empty:
        raise BadInput(f"{table} has no records, only column names.")
    return frame


def files_of(table: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Return the files of a table: one, those of a folder, or those that a pattern fits, in order.

    Hidden files of a folder, and those that begin with an underscore, are no parts of a table.

    Args:
        table: A file, a folder, or a pattern such as `year-*/part-*.parquet`.

    Raises:
        BadInput: There is none, or they are of several formats.
    """
    path = Path(table)
    if path.is_dir():
        entries = sorted(p for p in path.iterdir() if not p.name.startswith((".", "_")))
        if any(entry.is_dir() for entry in entries):
            raise BadInput(
                f"{table} has folders in it: name the files of the table by a pattern such as "
                f"'{path}/*/*.parquet'; what the names of folders say is not read."
            )
    elif has_magic(str(table)) and not path.exists():
        entries = sorted(Path(found) for found in glob(str(table), recursive=True))
    else:
        return (path,)
    if not entries:
        raise BadInput(
            f"there is no file in {table}." if path.is_dir() else f"there is no file {table}."
        )
    _refuse_repeated(entries, table)
    suffixes = {entry.suffix.lower() for entry in entries}
    if len(suffixes) > 1 or not suffixes <= set(STREAMABLE):
        raise BadInput(
            f"the files of {table} must all end in {' or all in '.join(STREAMABLE)}: move the "
            f"others elsewhere, or name those of the table by a pattern."
        )
    return tuple(entries)


def streamable(table: object) -> tuple[Path, ...]:
    """Return the files of a table that can be read in parts; none of any other table.

    Args:
        table: Files, or a table in memory.
    """
    files = files_of(table) if isinstance(table, str | os.PathLike) else ()
    return files if all(path.suffix.lower() in STREAMABLE for path in files) else ()


def header_of(path: Path) -> tuple[str, ...]:
    """Return the names of the columns of a file, without reading more of it than it takes.

    Args:
        path: CSV or Parquet.
    """
    check_readable(path)
    csv_file = path.suffix.lower() == ".csv"
    frame = next(csv_frames(path, 1)) if csv_file else _parquet_header(path)
    check_header(frame, name=str(path))
    return tuple(frame.columns)


def _refuse_repeated(paths: Sequence[Path], table: str | os.PathLike[str]) -> None:
    """Refuse to read a file twice: its records would count twice, and ε would not hold for them."""
    known: dict[tuple[int, int], Path] = {}
    for path in filter(Path.exists, paths):
        status = path.stat()
        first = known.setdefault((status.st_dev, status.st_ino), path)
        if first is not path:
            raise BadInput(
                f"{path} is the same file as {first}, and its records would count twice: name each "
                f"file of {table} once, and leave out links."
            )


def _read_one(path: Path) -> pd.DataFrame:
    suffix = path.suffix.lower()
    if suffix not in READABLE:
        raise BadInput(f"{path} cannot be read; the file must end in {', '.join(READABLE)}.")
    check_readable(path)
    if suffix == ".csv":
        frame = _read_csv(path)
    elif suffix == ".parquet":
        frame = _read_parquet(path)
    else:
        frame = _read_statistical(path, suffix)
    check_header(frame, name=str(path))
    return frame


def check_readable(path: Path) -> None:
    """Refuse a file that is missing, empty or locked.

    Args:
        path: The file.
    """
    if not path.exists():
        raise BadInput(f"there is no file {path}.")
    if not path.is_file():
        raise BadInput(f"{path} is not a file.")
    try:
        with path.open("rb") as file:
            empty = not file.read(1)
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from None
    if empty:
        raise BadInput(f"{path} is empty.")


def _read_csv(path: Path) -> pd.DataFrame:
    import pandas as pd

    return pd.concat(csv_frames(path), ignore_index=True)


def csv_frames(path: Path, batch: int | None = None) -> Iterator[pd.DataFrame]:
    """Yield a CSV file, some records at a time, by the strict parser of the standard library.

    The faster ones forgive what loses records without a word: rows of the wrong length, and a
    stray quotation mark that swallows the lines up to the next one.

    Args:
        path: The file; one without records gives one frame without rows.
        batch: Records that are held at a time, each value as text; many unless told otherwise.
    """
    import pandas as pd

    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.reader(file, strict=True)
            header = next(rows, [])
            if not header:
                raise BadInput(f"{path} starts with a blank line; it must start with the header.")
            names = pd.Index(header, dtype=object)
            for chunk in _chunks(rows, header, path, batch or _CHUNK):
                frame = pd.DataFrame(chunk, columns=range(len(header)), dtype="str")
                yield frame.set_axis(names, axis="columns")
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not UTF-8 text; save it as CSV in UTF-8.") from None
    except csv.Error:
        raise BadInput(
            f"{path} is malformed near line {rows.line_num}; look for a quotation mark that is "
            "not closed, or for text after a closing one."
        ) from None


def _chunks(
    rows: Iterator[list[str]], header: list[str], path: Path, batch: int
) -> Iterator[dict[int, tuple[str, ...]]]:
    """Yield the columns of a few records at a time, by position; at least once."""
    width = len(header)
    # A blank line holds no record, except where a record is one value: there it is a missing one.
    records = (row or [""] for row in rows) if width == 1 else filter(None, rows)
    first = 1
    while chunk := list(itertools.islice(records, batch)):
        for row, record in enumerate(chunk, start=first):
            if len(record) != width:
                raise BadInput(
                    f"row {row} of {path} has {len(record)} values where the header names "
                    f"{width} columns."
                )
        yield dict(enumerate(zip(*chunk, strict=True)))
        first += len(chunk)
    if first == 1:
        yield {}


def _read_parquet(path: Path) -> pd.DataFrame:
    import pandas as pd
    from pyarrow.lib import ArrowException

    try:
        return without_index(pd.read_parquet(path))
    except (ArrowException, *CORRUPT):
        raise corrupt(path, "Parquet") from None


def _parquet_header(path: Path) -> pd.DataFrame:
    from pyarrow.lib import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path) as file:
            return without_index(file.schema_arrow.empty_table().to_pandas())
    except (ArrowException, *CORRUPT):
        raise corrupt(path, "Parquet") from None


def without_index(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose rows have no names; named levels of an index become columns.

    Args:
        frame: As pandas reads it from a Parquet file.
    """
    named = [level for level in frame.index.names if level is not None]
    return frame.reset_index(level=named) if named else frame


def _read_statistical(path: Path, suffix: str) -> pd.DataFrame:
    import pyreadstat

    formats: dict[str, tuple[str, Any]] = {
        ".dta": ("Stata", pyreadstat.read_dta),
        ".sas7bdat": ("SAS", pyreadstat.read_sas7bdat),
        ".xpt": ("SAS transport", pyreadstat.read_xport),
        ".sav": ("SPSS", pyreadstat.read_sav),
    }
    kind, reader = formats[suffix]
    try:
        frame: pd.DataFrame = reader(str(path), disable_datetime_conversion=True)[0]
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, *CORRUPT):
        raise corrupt(path, kind) from None
    return frame


CORRUPT = (ValueError, LookupError, TypeError, ArithmeticError, OSError)
"""What the readers were seen to raise on files with flipped bits and missing ends."""


def corrupt(path: Path, kind: str) -> BadInput:
    """Return what is said of a file that a reader gave up on.

    Args:
        path: The file.
        kind: Its format.
    """
    return BadInput(f"{path} cannot be read as a {kind} file; it is damaged or of another format.")


def check_header(frame: pd.DataFrame, *, name: str = "the table") -> None:
    """Refuse columns without a usable name of their own.

    They are told by position: in a file without a header the names are the first record's values.
    """
    positions: dict[str, int] = {}
    for position, column in enumerate(frame.columns, start=1):
        if not isinstance(column, str):
            raise BadInput(f"column {position} of {name} has a name that is not text.")
        if not column:
            raise BadInput(f"column {position} of {name} has no name; name it or remove it.")
        if not writable(column):
            raise BadInput(
                f"column {position} of {name} has a name with a line break or control character."
            )
        if column in positions:
            raise BadInput(
                f"columns {positions[column]} and {position} of {name} have the same name."
            )
        positions[column] = position
