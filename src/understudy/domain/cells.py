"""Cells of a table as text, as numbers and as days, however the table stores them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.domain.column import LARGEST_INTEGER, Column, Type
from understudy.domain.dates import day_in
from understudy.domain.kinds import NUMBER
from understudy.errors import BadInput

if TYPE_CHECKING:
    import pandas as pd


def numbers(series: pd.Series[Any]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return each cell as a number, NaN where it is none, and which cells are missing.

    True and false are not numbers: whoever means 1 and 0 can say so in the table.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if series.dtype.kind in "iuf":
        stored = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return stored, np.isnan(stored)
    text = text_of(series)
    trimmed = pc.utf8_trim_whitespace(pa.array(text, pa.large_string()))
    written = pc.match_substring_regex(trimmed, f"^{NUMBER}$")
    parsed = pc.cast(pc.if_else(written, trimmed, None), pa.float64())
    return parsed.to_numpy(zero_copy_only=False), (text == "").to_numpy(dtype=bool)


def days(series: pd.Series[Any]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return each cell as the number of a day, NaN where it names none, and which are missing.

    A moment names a day at midnight only: at any other time something would be lost. Numbers are
    no dates, because every program counts days from another one.
    """
    import pandas as pd

    if isinstance(series.dtype, np.dtype | pd.DatetimeTZDtype) and series.dtype.kind == "M":
        stored = series.dt.tz_localize(None).to_numpy()
        day = stored.astype("datetime64[D]")
        missing = np.isnat(stored)
        whole = (stored == day) & ~missing
        return np.where(whole, day.astype(np.int64).astype(np.float64), np.nan), missing
    text = text_of(series)
    trimmed = text.str.strip()
    if not isinstance(series.dtype, pd.StringDtype):
        trimmed = trimmed.str.removesuffix(" 00:00:00")
    codes, distinct = pd.factorize(trimmed)
    found = [day_in(each) for each in distinct]
    parsed = np.array([math.nan if day is None else day for day in found], dtype=np.float64)
    return parsed[codes], (text == "").to_numpy(dtype=bool)


def measurable(frame: pd.DataFrame, columns: Sequence[Column]) -> pd.DataFrame:
    """Return a decoded table for those who compute with it.

    Dates are numbers of days, and codes of missing values are missing values.
    """
    changed: dict[str, Any] = {}
    for column in columns:
        series = frame.get(column.name)
        if series is None or not (column.codes or column.type is Type.DATE):
            continue
        if column.numeric and series.dtype.kind in "iuf":
            continue  # It was made so before.
        known = series.mask(series.isin(column.code_texts))
        read = days if column.type is Type.DATE else numbers
        changed[column.name] = read(known)[0] if column.numeric else known
    return frame.assign(**changed) if changed else frame


def text_of(series: pd.Series[Any]) -> pd.Series[str]:
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
