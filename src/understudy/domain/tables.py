"""Tables on disk and in memory, checked against the schema.

`read` gives what a file holds, `encode` checks it against the declared domain and gives arrays:
numbers as float64, levels as their int64 positions. Where the schema says that missing values are
modelled, a missing number is NaN and a missing level −1. `decode` and `write` go the other way for
synthetic tables. What does not fit the schema is refused with the place of the first offence. The
sentence never holds a value, not even a library's own message, because values are confidential.
"""

from __future__ import annotations

import csv
import hashlib
import itertools
import json
import math
import os
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.domain.column import LARGEST_INTEGER, writable
from understudy.domain.schema import Column, Role, Schema
from understudy.errors import BadInput, nearest

if TYPE_CHECKING:
    import pandas as pd

Columns = dict[str, NDArray[Any]]

READABLE = (".csv", ".parquet", ".dta", ".sas7bdat", ".xpt", ".sav")
WRITABLE = (".csv", ".parquet")

_CHUNK = 65_536
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"


def read(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Return the table that a file holds; the extension says in which format.

    CSV is read as text, so that a code such as 007 stays what it is. Stata, SAS and SPSS files
    give the stored codes, not their labels, and dates as the numbers that the file stores.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in READABLE:
        raise BadInput(f"{path} cannot be read; the file must end in {', '.join(READABLE)}.")
    _check_readable(path)
    if suffix == ".csv":
        frame = _read_csv(path)
    elif suffix == ".parquet":
        frame = _read_parquet(path)
    else:
        frame = _read_statistical(path, suffix)
    check_header(frame, name=str(path))
    if frame.empty:
        raise BadInput(f"{path} has no records, only column names.")
    return frame


def _check_readable(path: Path) -> None:
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
    """Read CSV with the strict parser of the standard library.

    The faster ones forgive what loses records without a word: rows of the wrong length, and a
    stray quotation mark that swallows the lines up to the next one.
    """
    import pandas as pd

    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.reader(file, strict=True)
            header = next(rows, [])
            if not header:
                raise BadInput(f"{path} starts with a blank line; it must start with the header.")
            parts = [pd.DataFrame(chunk, dtype="str") for chunk in _chunks(rows, header, path)]
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not UTF-8 text; save it as CSV in UTF-8.") from None
    except csv.Error:
        raise BadInput(
            f"{path} is malformed near line {rows.line_num}; look for a quotation mark that is "
            "not closed, or for text after a closing one."
        ) from None
    parts = parts or [pd.DataFrame(columns=range(len(header)))]
    frame = pd.concat(parts, ignore_index=True)
    frame.columns = pd.Index(header, dtype=object)
    return frame


def _chunks(
    rows: Iterator[list[str]], header: list[str], path: Path
) -> Iterator[dict[int, tuple[str, ...]]]:
    """Yield the columns of a few records at a time, by position."""
    width = len(header)
    # A blank line holds no record, except where a record is one value: there it is a missing one.
    records = (row or [""] for row in rows) if width == 1 else filter(None, rows)
    first = 1
    while chunk := list(itertools.islice(records, _CHUNK)):
        for row, record in enumerate(chunk, start=first):
            if len(record) != width:
                raise BadInput(
                    f"row {row} of {path} has {len(record)} values where the header names "
                    f"{width} columns."
                )
        yield dict(enumerate(zip(*chunk, strict=True)))
        first += len(chunk)


def _read_parquet(path: Path) -> pd.DataFrame:
    import pandas as pd
    from pyarrow.lib import ArrowException

    try:
        frame = pd.read_parquet(path)
        named = [level for level in frame.index.names if level is not None]
        return frame.reset_index(level=named) if named else frame
    except (ArrowException, *_CORRUPT):
        raise _corrupt(path, "Parquet") from None


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
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, *_CORRUPT):
        raise _corrupt(path, kind) from None
    return frame


# What the readers were seen to raise on files with flipped bits and missing ends.
_CORRUPT = (ValueError, LookupError, TypeError, ArithmeticError, OSError)


def _corrupt(path: Path, kind: str) -> BadInput:
    return BadInput(f"{path} cannot be read as a {kind} file; it is damaged or of another format.")


def check_header(frame: pd.DataFrame, *, name: str = "the table") -> None:
    """Refuse columns without a usable name of their own.

    They are told by position: in a file without a header the names are the first record's values.
    """
    seen: dict[str, int] = {}
    for position, column in enumerate(frame.columns, start=1):
        if not isinstance(column, str):
            raise BadInput(f"column {position} of {name} has a name that is not text.")
        if not column:
            raise BadInput(f"column {position} of {name} has no name; name it or remove it.")
        if not writable(column):
            raise BadInput(
                f"column {position} of {name} has a name with a line break or control character."
            )
        if column in seen:
            raise BadInput(f"columns {seen[column]} and {position} of {name} have the same name.")
        seen[column] = position


def encode(
    frame: pd.DataFrame,
    schema: Schema,
    *,
    roles: tuple[Role, ...] = (Role.CONFIDENTIAL, Role.PUBLIC, Role.UNIT, Role.SURVEY_WEIGHT),
    name: str = "the table",
) -> Columns:
    """Return the columns of the given roles as arrays, or refuse what the schema does not allow."""
    check_header(frame, name=name)
    _check_declared(frame, schema, name)
    columns = schema.having(*(role for role in roles if role is not Role.IGNORE))
    for column in columns:
        if column.name not in frame.columns:
            raise BadInput(f"{name} has no column {column.name!r}, which the schema declares.")
    coded = {column.name: _encoder(column)(frame[column.name], column, name) for column in columns}
    if schema.unit is not None and schema.unit.name in coded:
        _check_rows_per_unit(coded[schema.unit.name], schema, name)
    return coded


def _encoder(column: Column) -> Callable[[pd.Series[Any], Column, str], NDArray[Any]]:
    if column.role is Role.UNIT:
        return _encode_units
    return _encode_numbers if column.numeric else _encode_levels


def _check_declared(frame: pd.DataFrame, schema: Schema, name: str) -> None:
    declared = set(schema.names)
    undeclared = [column for column in frame.columns if column not in declared]
    if len(undeclared) == len(frame.columns):
        # Without a header the names would be confidential values, so none of them is repeated.
        raise BadInput(
            f"{name} has none of the columns that the schema declares; is its first line a header?"
        )
    if undeclared:
        raise BadInput(
            f"{name} has a column {undeclared[0]!r} that the schema does not declare"
            f"{nearest(undeclared[0], schema.names)}; declare it, with role = 'ignore' if it is "
            "not wanted."
        )


def _encode_numbers(series: pd.Series[Any], column: Column, name: str) -> NDArray[np.float64]:
    values, missing = numbers(series)
    place = f"column {column.name!r} of {name}"
    if column.missing == "refuse":
        _refuse(missing, place, *_MISSING)
    _refuse(
        ~(np.isfinite(values) | missing), place, "is not a finite number", "correct it in the table"
    )
    if column.whole:
        _refuse(
            ~missing & (values != np.rint(values)),
            place,
            "is not a whole number",
            "correct it, or declare the column as continuous",
        )
    if column.outside == "refuse":
        _refuse(
            (values < column.lower) | (values > column.upper),
            place,
            "is outside the declared bounds",
            "correct it, declare wider bounds from public knowledge, or set outside = 'clamp'",
        )
    return np.clip(values, column.lower, column.upper)


def _encode_levels(series: pd.Series[Any], column: Column, name: str) -> NDArray[np.int64]:
    import pandas as pd

    text = _text(series)
    place = f"column {column.name!r} of {name}"
    missing = (text == "").to_numpy(dtype=bool)
    if column.missing == "refuse":
        _refuse(missing, place, *_MISSING)
    levels = pd.Index(column.levels or (), dtype="str")
    codes = levels.get_indexer(pd.Index(text)).astype(np.int64)
    unknown = (codes < 0) & ~missing
    spaced = text[unknown].str.strip().isin(levels).any()
    _refuse(
        unknown,
        place,
        "is not one of the declared levels",
        f"write it as one of them{', without spaces around it' if spaced else ''}, or declare the "
        "level from public knowledge",
    )
    return codes


def _encode_units(series: pd.Series[Any], column: Column, name: str) -> NDArray[np.int64]:
    """Number the units in the order in which they appear.

    Spaces around an id are not part of it: to take two units for one protects them together.
    """
    import pandas as pd

    text = _text(series).str.strip()
    place = f"column {column.name!r} of {name}"
    _refuse((text == "").to_numpy(dtype=bool), place, "is missing", "give every row its unit")
    return pd.factorize(text)[0].astype(np.int64)


def _check_rows_per_unit(units: NDArray[np.int64], schema: Schema, name: str) -> None:
    import pandas as pd

    turn = pd.Series(units).groupby(units).cumcount().to_numpy()
    surplus = np.flatnonzero(turn == schema.rows_per_unit)
    if surplus.size:
        assert schema.unit is not None
        others = f" (and {surplus.size - 1} other units)" if surplus.size > 1 else ""
        raise BadInput(
            f"the unit in row {surplus[0] + 1}{others} of column {schema.unit.name!r} of {name} "
            f"has more than rows_per_unit = {schema.rows_per_unit} rows: declare a larger number "
            "from public knowledge, or leave out its surplus rows."
        )


_MISSING = (
    "is missing",
    "fill in or leave out such records before the synthesis, or declare missing = 'model' if the "
    "column is confidential",
)


def _refuse(offends: NDArray[np.bool_], place: str, complaint: str, remedy: str) -> None:
    """Refuse the rows that offend, by the place of the first and the number of the others."""
    others = int(np.count_nonzero(offends)) - 1
    if others < 0:
        return
    also = f" (and in {others} other row{'s' if others > 1 else ''})" if others else ""
    row = int(np.argmax(offends)) + 1
    raise BadInput(f"the value in row {row}{also} of {place} {complaint}; {remedy}.")


def numbers(series: pd.Series[Any]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return each cell as a number, NaN where it is none, and which cells are missing.

    True and false are not numbers: whoever means 1 and 0 can say so in the table.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if series.dtype.kind in "iuf":
        stored = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return stored, np.isnan(stored)
    text = _text(series)
    trimmed = pc.utf8_trim_whitespace(pa.array(text, pa.large_string()))
    parsed = pc.cast(
        pc.if_else(pc.match_substring_regex(trimmed, _NUMBER), trimmed, None), pa.float64()
    )
    return parsed.to_numpy(zero_copy_only=False), (text == "").to_numpy(dtype=bool)


def _text(series: pd.Series[Any]) -> pd.Series[str]:
    """Return the cells in the form in which a CSV file would hold them, missing ones empty."""
    import pandas as pd

    if isinstance(series.dtype, pd.StringDtype):
        return series.astype("str").fillna("")
    if series.dtype != object:
        # Typed columns have few distinct values wherever their text matters: where they are levels.
        codes, distinct = pd.factorize(series)
        return pd.Series(np.array([*map(_cell, distinct), ""], dtype=object)[codes], dtype="str")
    try:
        return pd.Series([_cell(value) for value in series], dtype="str")
    except UnicodeEncodeError:
        raise BadInput(f"column {series.name!r} holds text that is not valid Unicode.") from None


def _cell(value: Any) -> str:
    import pandas as pd

    if isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating | Decimal):
        if value.is_nan() if isinstance(value, Decimal) else math.isnan(value):
            return ""
        # Statistical packages store whole codes as floating-point numbers.
        exact = abs(float(value)) <= LARGEST_INTEGER
        return str(int(value)) if exact and value == int(value) else str(value)
    return "" if value is None or value is pd.NA or value is pd.NaT else str(value)


def decode(columns: Columns, schema: Schema) -> pd.DataFrame:
    """Return a synthetic table in the order of the schema: the inverse of `encode`.

    Simulated numbers are brought into the declared domain, which is public and so costs nothing.
    Units and survey weights are in no table that is written.
    """
    import pandas as pd

    for name in columns:
        schema.column(name)
    return pd.DataFrame(
        {
            column.name: (_decode_numbers if column.numeric else _decode_levels)(
                np.asarray(columns[column.name]), column
            )
            for column in schema.having(Role.CONFIDENTIAL, Role.PUBLIC)
            if column.name in columns
        }
    )


def within_domain(columns: Columns, schema: Schema) -> Columns:
    """Return simulated columns as `encode` would code them, numbers within the declared domain."""
    inside: Columns = {}
    for name, values in columns.items():
        column = schema.column(name)
        inside[name] = np.array(values)
        if column.numeric:
            numeric = np.clip(inside[name].astype(np.float64), column.lower, column.upper)
            inside[name] = np.rint(numeric) if column.whole else numeric
    return inside


def _decode_numbers(values: NDArray[Any], column: Column) -> NDArray[Any] | pd.Series[Any]:
    import pandas as pd

    modelled = column.missing == "model"
    if not modelled and np.isnan(values).any():
        raise BadInput(f"the model simulated something that is not a number for {column.name!r}.")
    inside = np.clip(values.astype(np.float64), column.lower, column.upper)
    if column.whole and modelled:
        return pd.Series(np.rint(inside)).astype("Int64")
    return np.rint(inside).astype(np.int64) if column.whole else inside


def _decode_levels(codes: NDArray[Any], column: Column) -> pd.Series[str]:
    import pandas as pd

    # The code −1 of a missing value takes the last of these.
    levels = np.array([*(column.levels or ()), None], dtype=object)
    known = np.arange(-1 if column.missing == "model" else 0, len(levels) - 1)
    if not np.isin(codes, known).all():
        raise BadInput(f"the model simulated something that is not a level of {column.name!r}.")
    return pd.Series(levels[codes.astype(np.int64)], dtype="str")


def fingerprint(columns: Columns, *, salt: bytes, unit: str | None = None) -> str:
    """Return a keyed digest by which a table is recognised, whatever the order of its rows.

    Units are numbered as they appear, so their numbers are left out: a unit is the rows it has.
    """
    names = sorted(name for name in columns if name != unit)
    rows = np.stack([_bits(columns[name]) for name in names], axis=1)
    order = np.lexsort(rows.T)
    rows = rows[order]
    digest = hashlib.blake2b(json.dumps(names).encode(), key=salt, digest_size=32)
    digest.update(rows.tobytes())
    if unit is not None:
        digest.update(_by_unit(rows, columns[unit][order]))
    return digest.hexdigest()


def _bits(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Return each value as a whole number, the same for both zeros and for all that is missing.

    Seven digits tell one table from another, and a file may hold no more of them.
    """
    if values.dtype.kind == "f":
        with np.errstate(over="ignore"):
            short = values.astype(np.float32).astype(np.float64)
        values = np.where(np.isnan(values), np.nan, short + 0.0)
    return values.astype(values.dtype.newbyteorder("<")).view("<u8")


def _by_unit(rows: NDArray[np.uint64], units: NDArray[np.int64]) -> bytes:
    """Return which of the sorted rows belong together, the same for all numberings of the units."""
    ranks = np.cumsum(np.any(rows != np.roll(rows, 1, axis=0), axis=1)).astype("<u8")
    order = np.argsort(units, kind="stable")
    starts = np.flatnonzero(np.diff(units[order])) + 1
    groups = sorted(group.tobytes() for group in np.split(ranks[order], starts))
    return b"".join(len(group).to_bytes(8, "little") + group for group in groups)


def write(frame: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write a table as CSV or Parquet, by the extension; every number survives unchanged."""
    path = Path(path)
    check_writable(path)
    if path.suffix.lower() == ".csv":
        frame.to_csv(path, index=False, lineterminator="\n", encoding="utf-8")
    else:
        frame.to_parquet(path, index=False)


def check_writable(path: Path) -> None:
    """Refuse a file whose extension names no format that can be written."""
    if path.suffix.lower() not in WRITABLE:
        raise BadInput(f"{path} cannot be written; the file must end in {' or '.join(WRITABLE)}.")
