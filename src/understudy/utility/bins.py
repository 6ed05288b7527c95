"""Every column as a few cells that are fixed by its declaration, never by a table.

Two-way tables of different syntheses, periods and files can be compared only if their cells are the
same. So a level is a cell, and a numeric column is cut into at most 20 equal parts of its declared
bounds: of a continuous column exactly 20, of whole numbers as many as give each part equally many
numbers.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.domain.schema import Column
from understudy.errors import BadInput

if TYPE_CHECKING:
    from pandas import Series

BINS = 20
MISSING = -1

Codes = NDArray[np.int64]


def cells(column: Column) -> int:
    """Return the number of cells of a column."""
    if column.levels is not None:
        return len(column.levels)
    if not column.whole:
        return BINS
    numbers = int(column.width) + 1
    return math.ceil(numbers / _numbers_per_cell(column))


def codes(values: Series[Any], column: Column, table: str) -> Codes:
    """Return the cell of each value, and −1 where it is missing."""
    import pandas as pd

    missing = values.isna().to_numpy(dtype=bool)
    if column.levels is not None:
        positions = pd.Index(column.levels).get_indexer(pd.Index(values)).astype(np.int64)
        undeclared = np.flatnonzero((positions < 0) & ~missing)
        if undeclared.size:
            raise BadInput(
                f"column {column.name!r} of the {table} table holds no declared level in record "
                f"{undeclared[0] + 1}."
            )
        return positions
    numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
    beyond = np.flatnonzero(~missing & ~((numbers >= column.lower) & (numbers <= column.upper)))
    if beyond.size:
        raise BadInput(
            f"column {column.name!r} of the {table} table is outside the declared bounds in record "
            f"{beyond[0] + 1}."
        )
    width = _numbers_per_cell(column) if column.whole else column.width / BINS
    cell = np.floor((np.where(missing, column.lower, numbers) - column.lower) / width)
    # The upper bound itself belongs to the last cell.
    return np.where(missing, MISSING, np.minimum(cell, cells(column) - 1)).astype(np.int64)


def _numbers_per_cell(column: Column) -> int:
    return math.ceil((int(column.width) + 1) / BINS)
