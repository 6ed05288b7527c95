"""Columns as codes on a fixed grid, and back: what a tool that counts needs.

A continuous column has 80 equal bins over its declared bounds, levels have a code each, and so do
whole numbers where there are at most a thousand; more of them share 80 bins. A value that may be
missing has one code more. Nothing is looked up in a table. On the way back a value is drawn evenly
within its bin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from understudy.domain.schema import Column, Schema

BINS = 80
WHOLE = 1000
"""As many whole numbers have a code each."""


def size(column: Column) -> int:
    """Return the number of codes of a column."""
    return _known(column) + (column.missing == "model")


def _known(column: Column) -> int:
    """Return the number of codes of values that are there."""
    if column.levels is not None:
        return len(column.levels)
    return int(column.width) + 1 if _single(column) else BINS


def _single(column: Column) -> bool:
    return column.whole and column.width < WHOLE


def _bin(column: Column) -> float:
    """Return the width of a bin; a whole number is as wide as 1."""
    return 1.0 if _single(column) else (column.width + column.whole) / BINS


def encode(table: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """Return the codes of a table's columns."""
    import pandas as pd

    coded = {}
    for column in schema.columns:
        values = table[column.name]
        known = _known(column)
        if column.levels is not None:
            codes = pd.Index(column.levels).get_indexer(pd.Index(values))
        else:
            numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
            steps = np.floor((numbers - column.lower) / _bin(column))
            codes = np.nan_to_num(np.clip(steps, 0, known - 1))
        coded[column.name] = np.where(values.isna(), known, codes)
    return pd.DataFrame(coded).astype(np.int64)


def decode(codes: pd.DataFrame, schema: Schema, random: np.random.Generator) -> pd.DataFrame:
    """Return values with the given codes."""
    import pandas as pd

    values = {}
    for column in schema.columns:
        own = codes[column.name].to_numpy(dtype=np.int64)
        absent = own == _known(column)
        if column.levels is not None:
            made = pd.Series(np.array([*column.levels, None], dtype=object)[own])
        elif _single(column):
            made = pd.Series(column.lower + own)
        else:
            place = column.lower + (own + random.random(len(own))) * _bin(column)
            inside = np.minimum(np.floor(place) if column.whole else place, column.upper)
            made = pd.Series(inside)
        values[column.name] = made.mask(absent) if absent.any() else made
    return pd.DataFrame(values)
