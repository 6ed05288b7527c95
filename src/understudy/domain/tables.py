"""Tables on disk and in memory, checked against the schema.

`read` gives what a file holds, `encode` checks it against the declared domain and gives arrays:
numbers as float64, levels as their int64 positions. Where the schema says that missing values are
modelled, a missing number is NaN and a missing level −1. `decode` and `write` go the other way for
synthetic tables.

What does not fit the schema is refused with the place of the first offence, without which nobody
could mend the table. The sentence holds no value, and not how many rows offend: values and numbers
of records are confidential, and what a program says ends up in logs. It does say that there are
others, because whoever mends the first has to look for them.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.domain.column import LARGEST_INTEGER
from understudy.domain.schema import Column, Role, Schema
from understudy.domain.table_files import check_header, check_writable, read, write
from understudy.errors import BadInput, nearest

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Columns",
    "check_writable",
    "decode",
    "encode",
    "numbers",
    "read",
    "within_domain",
    "write",
]

Columns = dict[str, NDArray[Any]]
"""A coded table: an array for each column."""

_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"


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
    coded = {column.name: _encoded(frame[column.name], column, name) for column in columns}
    if schema.unit is not None and schema.unit.name in coded:
        _check_rows_per_unit(coded[schema.unit.name], schema, name)
    return coded


def _encoded(series: pd.Series[Any], column: Column, name: str) -> NDArray[Any]:
    place = f"column {column.name!r} of {name}"
    if column.role is Role.UNIT:
        return _encode_units(series, place)
    return (_encode_numbers if column.numeric else _encode_levels)(series, column, place)


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


def _encode_numbers(series: pd.Series[Any], column: Column, place: str) -> NDArray[np.float64]:
    values, missing = numbers(series)
    if column.missing == "refuse":
        _refuse(missing, place, *_MISSING)
    _refuse(~(np.isfinite(values) | missing), place, *_INFINITE)
    if column.whole:
        _refuse(~missing & (values != np.rint(values)), place, *_BROKEN)
    if column.outside == "refuse":
        _refuse((values < column.lower) | (values > column.upper), place, *_OUTSIDE)
    return np.clip(values, column.lower, column.upper)


def _encode_levels(series: pd.Series[Any], column: Column, place: str) -> NDArray[np.int64]:
    import pandas as pd

    text = _text(series)
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


def _encode_units(series: pd.Series[Any], place: str) -> NDArray[np.int64]:
    """Number the units in the order in which they appear.

    Spaces around an id are not part of it: to take two units for one protects them together.
    """
    import pandas as pd

    text = _text(series).str.strip()
    _refuse((text == "").to_numpy(dtype=bool), place, "is missing", "give every row its unit")
    return pd.factorize(text)[0].astype(np.int64)


def _check_rows_per_unit(units: NDArray[np.int64], schema: Schema, name: str) -> None:
    import pandas as pd

    turn = pd.Series(units).groupby(units).cumcount().to_numpy()
    surplus = np.flatnonzero(turn == schema.rows_per_unit)
    if surplus.size:
        assert schema.unit is not None
        others = " (and others)" if surplus.size > 1 else ""
        raise BadInput(
            f"the unit in row {surplus[0] + 1}{others} of column {schema.unit.name!r} of {name} "
            f"has more than rows_per_unit = {schema.rows_per_unit} rows: declare a larger number "
            "from public knowledge, or leave out its surplus rows."
        )


_INFINITE = ("is not a finite number", "correct it in the table")
_BROKEN = ("is not a whole number", "correct it, or declare the column as continuous")
_OUTSIDE = (
    "is outside the declared bounds",
    "correct it, declare wider bounds from public knowledge, or set outside = 'clamp'",
)
_MISSING = (
    "is missing",
    "fill in or leave out such records before the synthesis, or declare missing = 'model' if the "
    "column is confidential",
)


def _refuse(offends: NDArray[np.bool_], place: str, complaint: str, remedy: str) -> None:
    """Refuse the rows that offend, by the place of the first."""
    rows = np.flatnonzero(offends)
    if rows.size:
        others = " (and in others)" if rows.size > 1 else ""
        raise BadInput(f"the value in row {rows[0] + 1}{others} of {place} {complaint}; {remedy}.")


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

    inside = within_domain(columns, schema)
    return pd.DataFrame(
        {
            column.name: (_decode_numbers if column.numeric else _decode_levels)(
                inside[column.name], column
            )
            for column in schema.having(Role.CONFIDENTIAL, Role.PUBLIC)
            if column.name in inside
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
    if not column.whole:
        return values
    return pd.Series(values).astype("Int64") if modelled else values.astype(np.int64)


def _decode_levels(codes: NDArray[Any], column: Column) -> pd.Series[str]:
    import pandas as pd

    # The code −1 of a missing value takes the last of these.
    levels = np.array([*(column.levels or ()), None], dtype=object)
    known = np.arange(-1 if column.missing == "model" else 0, len(levels) - 1)
    if not np.isin(codes, known).all():
        raise BadInput(f"the model simulated something that is not a level of {column.name!r}.")
    return pd.Series(levels[codes.astype(np.int64)], dtype="str")
