"""Tables on disk and in memory, checked against the schema.

`read` gives what a file holds, `encode` checks it against the declared domain and gives arrays:
numbers as float64, dates as numbers of days, levels as their int64 positions. Where missing values
are modelled, a missing number is NaN and a missing level −1; `kinds.py` says how several kinds of
missing values are told apart. `decode` and `write` go the other way for synthetic tables.

What does not fit the schema is refused with the place of the first offence, without which nobody
could mend the table. The sentence holds no value, and not how many rows offend: values and numbers
of records are confidential, and what a program says ends up in logs. It does say that there are
others, because whoever mends the first has to look for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from understudy.domain.cells import days, numbers, text_of
from understudy.domain.dates import iso
from understudy.domain.kinds import kinds_of
from understudy.domain.schema import Column, Role, Schema, Type
from understudy.domain.table_files import check_header, read
from understudy.domain.writing import check_writable, write, write_all
from understudy.errors import BadInput, nearest

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "ENCODED",
    "Columns",
    "check_columns",
    "check_writable",
    "count_records",
    "decode",
    "encode",
    "numbers",
    "read",
    "within_domain",
    "write",
    "write_all",
]

Columns = dict[str, NDArray[Any]]
"""A coded table: an array for each column, and one more for each with several kinds of missing
numbers."""

ENCODED = (Role.CONFIDENTIAL, Role.PUBLIC, Role.UNIT, Role.SURVEY_WEIGHT)
"""Roles of the columns that are coded, where nothing else is asked for."""


class _Place(NamedTuple):
    """Where a column is, for a sentence that refuses one of its values."""

    column: str
    first: int
    """The number of its first row in the whole table."""


def encode(
    frame: pd.DataFrame,
    schema: Schema,
    *,
    roles: tuple[Role, ...] = ENCODED,
    name: str = "the table",
    first: int = 1,
) -> Columns:
    """Return the columns of the given roles as arrays, or refuse what the schema does not allow.

    Of a table that is read piece by piece, `first` is the number of the first row of this one.
    """
    roles = tuple(role for role in roles if role is not Role.IGNORE)
    check_columns(frame, schema, roles=roles, name=name)
    coded: Columns = {}
    for column in schema.having(*roles):
        place = _Place(f"column {column.name!r} of {name}", first)
        coded |= _encoded(frame[column.name], column, place)
    if schema.unit is not None and schema.unit.name in coded:
        _check_rows_per_unit(coded[schema.unit.name], schema, name)
    return coded


def check_columns(
    frame: pd.DataFrame, schema: Schema, *, roles: tuple[Role, ...] = ENCODED, name: str
) -> None:
    """Refuse a table whose columns are not those that the schema declares."""
    check_header(frame, name=name)
    _check_declared(frame, schema, name)
    for column in schema.having(*roles):
        if column.name not in frame.columns:
            raise BadInput(f"{name} has no column {column.name!r}, which the schema declares.")


def _encoded(series: pd.Series[Any], column: Column, place: _Place) -> Columns:
    """Return the array of a column, and its companion where it has one."""
    if column.role is Role.UNIT:
        return {column.name: _encode_units(series, place)}
    if not column.numeric:
        return {column.name: _encode_levels(series, column, place)}
    values, kinds = _encode_numbers(series, column, place)
    return {column.name: values} | ({} if column.beside is None else {column.beside: kinds})


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


def _encode_numbers(
    series: pd.Series[Any], column: Column, place: _Place
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the numbers, and why they are missing, −1 where they are not."""
    dated = column.type is Type.DATE
    values, blank = (days if dated else numbers)(series)
    written = bool(column.codes) and series.dtype.kind not in "iufM"
    kinds = _kinds(text_of(series) if written else None, blank, column, place)
    missing = kinds >= 0
    _refuse(~(np.isfinite(values) | missing), place, *(_NO_DATE if dated else _INFINITE))
    if column.whole:
        _refuse(~missing & (values != np.rint(values)), place, *_BROKEN)
    if column.outside == "refuse":
        _refuse((values < column.lower) | (values > column.upper), place, *_OUTSIDE)
    return np.clip(values, column.lower, column.upper), kinds


def _kinds(
    text: pd.Series[str] | None, blank: NDArray[np.bool_], column: Column, place: _Place
) -> NDArray[np.int64]:
    """Return the kind of each missing value, −1 where there is one, or refuse what is missing.

    Without a text, cells are stored as numbers or dates, and none but a blank one can be a code.
    """
    import pandas as pd

    if column.missing == "refuse":
        _refuse(blank, place, *_MISSING)
    if not column.codes:
        return np.where(blank, 0, -1)
    codes = pd.Index(column.code_texts, dtype="str")
    if text is None:
        kinds = np.where(blank, codes.get_indexer(pd.Index([""], dtype="str"))[0], -1)
    else:
        kinds = codes.get_indexer(pd.Index(text))
    _refuse(blank & (kinds < 0), place, *_BLANK)
    return kinds.astype(np.int64)


def _encode_levels(series: pd.Series[Any], column: Column, place: _Place) -> NDArray[np.int64]:
    import pandas as pd

    text = text_of(series)
    kinds = _kinds(text, (text == "").to_numpy(dtype=bool), column, place)
    levels = pd.Index(column.levels or (), dtype="str")
    positions = levels.get_indexer(pd.Index(text)).astype(np.int64)
    unknown = (positions < 0) & (kinds < 0)
    spaced = text[unknown].str.strip().isin(levels).any()
    _refuse(
        unknown,
        place,
        f"is not one of the declared levels{' or codes' if column.codes else ''}",
        f"write it as one of them{', without spaces around it' if spaced else ''}, or declare the "
        "level from public knowledge",
    )
    return np.where(kinds < 0, positions, -1 - kinds)


def _encode_units(series: pd.Series[Any], place: _Place) -> NDArray[np.int64]:
    """Number the units in the order in which they appear.

    Spaces around an id are not part of it: to take two units for one protects them together.
    """
    import pandas as pd

    text = text_of(series).str.strip()
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
_NO_DATE = (
    "is not a date without a time of day",
    "write it as YYYY-MM-DD, such as 2019-01-31",
)
_BLANK = (
    "is blank, and none of the declared codes stands for a blank cell",
    'write the code that says why it is missing, or declare an empty code, ""',
)
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


def _refuse(offends: NDArray[np.bool_], place: _Place, complaint: str, remedy: str) -> None:
    """Refuse the rows that offend, by the place of the first."""
    rows = np.flatnonzero(offends)
    if rows.size:
        others = " (and in others)" if rows.size > 1 else ""
        row = rows[0] + place.first
        raise BadInput(f"the value in row {row}{others} of {place.column} {complaint}; {remedy}.")


def count_records(columns: Columns) -> int:
    """Return the number of records of a table that has at least one column."""
    return len(next(iter(columns.values())))


def decode(columns: Columns, schema: Schema) -> pd.DataFrame:
    """Return a synthetic table in the order of the schema: the inverse of `encode`.

    Simulated numbers are brought into the declared domain, which is public and so costs nothing.
    Units, and survey weights that are not released, are in no table that is written.
    """
    import pandas as pd

    inside = within_domain(columns, schema)
    return pd.DataFrame(
        {
            column.name: (_decode_numbers if column.numeric else _decode_levels)(inside, column)
            for column in schema.having(Role.CONFIDENTIAL, Role.PUBLIC)
            if column.name in inside
        }
    )


def within_domain(columns: Columns, schema: Schema) -> Columns:
    """Return simulated columns as `encode` would code them, numbers within the declared domain."""
    inside: Columns = {}
    companions = {column.beside for column in schema.columns}
    for name in columns:
        if name in companions:
            continue
        column = schema.column(name)
        if column.numeric:
            numbers = np.asarray(columns[name], dtype=np.float64)
            numeric = np.clip(numbers, column.lower, column.upper)
            inside[name] = np.rint(numeric) if column.whole else numeric
        else:
            inside[name] = np.array(columns[name])
        if column.beside is not None:
            kinds = kinds_of(columns, name)
            if not np.isin(kinds[np.isnan(inside[name])], np.arange(column.kinds)).all():
                raise BadInput(f"the model simulated a reason that {name!r} has no code for.")
            inside[column.beside] = kinds
    return inside


def _decode_numbers(columns: Columns, column: Column) -> NDArray[Any] | pd.Series[Any]:
    import pandas as pd

    values, modelled = columns[column.name], column.missing == "model"
    if not modelled and np.isnan(values).any():
        raise BadInput(f"the model simulated something that is not a number for {column.name!r}.")
    if column.codes or column.type is Type.DATE:
        return _as_text(values, kinds_of(columns, column.name), column)
    if not column.whole:
        return values
    return pd.Series(values).astype("Int64") if modelled else values.astype(np.int64)


def _as_text(
    values: NDArray[np.float64], kinds: NDArray[np.int64], column: Column
) -> pd.Series[str]:
    """Return dates, or numbers among codes of missing values, as a CSV file would hold them."""
    import pandas as pd

    there = kinds < 0
    cells = np.array(_code_cells(column), dtype=object)[kinds]
    if column.type is Type.DATE:
        cells[there] = [iso(value) for value in values[there]]
    else:
        # The shortest text that is read back as the same number.
        plain = values[there].astype(np.int64 if column.whole else np.float64)
        cells[there] = [repr(value) for value in plain.tolist()]
    return pd.Series(cells, dtype="str")


def _decode_levels(columns: Columns, column: Column) -> pd.Series[str]:
    import pandas as pd

    codes, names = columns[column.name], column.levels or ()
    if not np.isin(codes, np.arange(-column.kinds, len(names))).all():
        raise BadInput(f"the model simulated something that is not a level of {column.name!r}.")
    # The code −1 of a missing value of the first kind takes the last of these.
    cells = np.array([*names, *reversed(_code_cells(column))], dtype=object)
    return pd.Series(cells[codes.astype(np.int64)], dtype="str")


def _code_cells(column: Column) -> list[str | None]:
    """Return what a table holds for each kind of missing value; None is a blank cell."""
    return [code or None for code in column.code_texts] or [None]
