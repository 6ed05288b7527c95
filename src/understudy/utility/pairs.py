"""How well a synthetic table keeps what two columns have to do with each other.

Both columns are cut into cells that are fixed by their declarations, never by a table, so that
two-way tables of different syntheses, periods and files can be compared: a level is a cell, and a
numeric column is cut into at most 20 equal parts of its declared bounds, of a continuous column
exactly 20, of whole numbers as many as give each part equally many numbers.

Let p and q be the shares of the cells of the two-way table among the confidential and the synthetic
records in which neither column is missing.

    total variation = ½ Σ |p − q|

is the largest error in the share of any set of cells, so of any statement about the two columns at
this resolution: 0 where the tables agree, at most 1. Some of it is noise that no synthesis can
avoid. Two samples of n and m records from one population with shares r differ by about

    expected = ½ Σ √( 2/π · r(1 − r)(1/n + 1/m) ),

the mean of the absolute value of a normal variable in each cell; r is estimated by the pooled
shares. Where columns are copied from one table to the other there is less noise than that.

The association itself is given for each table by Cramér's V, for columns of any type, from 0
(independent) to 1 (one determines the other), with the correction without which V grows with the
number of cells: for a table of R × C cells that are not all empty and φ² = χ²/n,

    V = √( max(0, φ² − (R−1)(C−1)/(n−1)) / min(R′ − 1, C′ − 1) ),    R′ = R − (R−1)²/(n−1),

and C′ alike; and for two numeric columns also by Pearson's correlation of the values themselves.

W. Bergsma (2013), A bias-correction for Cramér's V and Tschuprow's T, Journal of the Korean
Statistical Society 42(3), 323-328, doi:10.1016/j.jkss.2012.10.002.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.domain.schema import Column
from understudy.errors import BadInput

if TYPE_CHECKING:
    from pandas import DataFrame, Series

BINS = 20
MISSING = -1

Codes = NDArray[np.int64]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class InBothTables:
    """One number for each table; None where the table does not determine it."""

    confidential: float | None
    synthetic: float | None


@dataclass(frozen=True, kw_only=True)
class PairUtility:
    """The utility of two columns together; None where no record has both."""

    columns: tuple[str, str]
    total_variation: float | None
    expected: float | None
    """What the total variation of two samples from one population would be, about."""
    cramers_v: InBothTables
    correlation: InBothTables | None
    """None where one of the columns is not numeric."""


def measure_pairs(
    confidential: DataFrame, synthetic: DataFrame, columns: Sequence[Column]
) -> tuple[PairUtility, ...]:
    """Return the utility of every pair of the columns, which both tables must have."""
    frames = (confidential, synthetic)
    coded = [
        {column.name: codes(frame[column.name], column, name) for column in columns}
        for name, frame in zip(("confidential", "synthetic"), frames, strict=True)
    ]
    pairs = []
    for a, b in itertools.combinations(columns, 2):
        counts = [counted(table[a.name], table[b.name], (a, b)) for table in coded]
        numeric = a.numeric and b.numeric
        correlations = [_correlation(frame, a.name, b.name) for frame in frames if numeric]
        pairs.append(measure_pair((a, b), counts, correlations))
    return tuple(pairs)


def measure_pair(
    pair: tuple[Column, Column], counts: Sequence[Counts], correlations: Sequence[float | None]
) -> PairUtility:
    """Return the utility of two columns.

    Args:
        pair: The columns.
        counts: How often each two of their cells occur, in the confidential and the synthetic
            table.
        correlations: In both tables; they matter where both columns are numeric.
    """
    some = all(table.any() for table in counts)
    return PairUtility(
        columns=(pair[0].name, pair[1].name),
        total_variation=total_variation(*counts) if some else None,
        expected=expected_total_variation(*counts) if some else None,
        cramers_v=InBothTables(*map(cramers_v, counts)),
        correlation=InBothTables(*correlations) if all(c.numeric for c in pair) else None,
    )


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
    return cells_of(numbers, column)


def cells_of(numbers: NDArray[np.float64], column: Column) -> Codes:
    """Return the cell of each number within the bounds, and −1 of what is none."""
    missing = np.isnan(numbers)
    width = _numbers_per_cell(column) if column.whole else column.width / BINS
    cell = np.floor((np.where(missing, column.lower, numbers) - column.lower) / width)
    # The upper bound itself belongs to the last cell.
    return np.where(missing, MISSING, np.minimum(cell, cells(column) - 1)).astype(np.int64)


def _numbers_per_cell(column: Column) -> int:
    return math.ceil((int(column.width) + 1) / BINS)


def counted(a: Codes, b: Codes, pair: tuple[Column, Column]) -> Counts:
    """Return how many records have each two cells, of those in which no column is missing."""
    shape = cells(pair[0]), cells(pair[1])
    complete = (a >= 0) & (b >= 0)
    flat = a[complete] * shape[1] + b[complete]
    return np.bincount(flat, minlength=shape[0] * shape[1]).reshape(shape)


def total_variation(confidential: Counts, synthetic: Counts) -> float:
    """Return half the sum of the absolute differences of the shares of two tables of counts."""
    n, m = int(confidential.sum()), int(synthetic.sum())
    # Exact integers up to the one division, so that equal shares are at distance 0, unless tables
    # are so large that their products are not held by 64 bits.
    number = np.int64 if n * m < 2**62 else np.float64
    apart = np.abs(confidential.astype(number) * m - synthetic.astype(number) * n)
    return float(apart.sum() / (2 * n * m))


def expected_total_variation(confidential: Counts, synthetic: Counts) -> float:
    """Return about what the total variation of two samples from one population would be."""
    n, m = int(confidential.sum()), int(synthetic.sum())
    pooled = (confidential + synthetic) / (n + m)
    spread = np.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
    return float(math.sqrt(2 / math.pi) * spread.sum() / 2)


def cramers_v(counts: Counts) -> float | None:
    """Return the corrected Cramér's V of a two-way table; None where a column has one value."""
    counts = counts[counts.any(axis=1)][:, counts.any(axis=0)]
    n, (rows, columns) = int(counts.sum()), counts.shape
    if min(rows, columns) < 2:
        return None
    independent = counts.sum(axis=1, keepdims=True) / n * counts.sum(axis=0, keepdims=True)
    phi = float(((counts - independent) ** 2 / independent).sum()) / n
    corrected = max(0.0, phi - (rows - 1) * (columns - 1) / (n - 1))
    sizes = [size - (size - 1) ** 2 / (n - 1) for size in (rows, columns)]
    # With hardly more records than cells, the correction leaves nothing to divide by.
    return math.sqrt(min(1.0, corrected / (min(sizes) - 1))) if min(sizes) > 1 else None


def _correlation(frame: DataFrame, a: str, b: str) -> float | None:
    x, y = (frame[name].to_numpy(dtype=np.float64, na_value=np.nan) for name in (a, b))
    complete = ~(np.isnan(x) | np.isnan(y))
    x, y = x[complete], y[complete]
    if x.size < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return float(np.clip(np.corrcoef(x, y)[0, 1], -1, 1))
