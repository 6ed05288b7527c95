"""The K-marginal score of two tables, K = 3: how far the shares of three columns at once differ.

For three columns that were cut into groups, let p and q be the shares of their cells in the
confidential and in the synthetic table. The distance of the three is Σ|p − q|, between 0 and 2; its
mean m over all triples of columns makes the score

    1000 · (1 − m/2),

1000 for equal shares and 0 for tables without a cell in common. It is the score of NIST's
Collaborative Research Cycle, over all triples. There, and here, a second sample is as many records
of the confidential table drawn again, with replacement.

A column with levels has a group for each. A number is cut in steps from its declared lower bound
where a step is named (five years of age), and else into ten groups of equal mass of the
confidential table, for the score alone; values that are often repeated make fewer. A missing value
is a group of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

    from understudy.domain.schema import Column, Schema

GROUPS = 10
Codes = NDArray[np.int64]


def k_marginal(
    real: pd.DataFrame,
    made: pd.DataFrame,
    schema: Schema,
    steps: Mapping[str, float] | None = None,
) -> float:
    """Return the score of a synthetic table.

    Args:
        real: The confidential table.
        made: The synthetic table, which may have more or fewer rows.
        schema: What both are declared to hold: the columns, of which there are at least three.
        steps: The width of a group for each number that is cut evenly.
    """
    if not len(real) or not len(made) or len(schema.columns) < 3:
        raise ValueError("the score needs two tables with rows, and three columns")
    widths = steps or {}
    codes = [
        np.concatenate(_groups(real[c.name], made[c.name], c, widths.get(c.name)))
        for c in schema.columns
    ]
    return 1000 * (1 - mean_distance(codes, len(real)) / 2)


def mean_distance(codes: list[Codes], first: int) -> float:
    """Return the mean of Σ|p − q| over all triples of columns.

    Args:
        codes: For each column the groups of all rows, those of one table before the other's.
        first: How many rows the first table has.
    """
    # A row counts for its own table and against the other: one histogram holds p − q.
    share = np.repeat([1 / first, -1 / (len(codes[0]) - first)], [first, len(codes[0]) - first])
    # Widest first: the two widest of three are numbered by the pairs that occur, and the cells of
    # the third beside them stay few.
    small = sorted(map(_renumbered, codes), key=lambda code: -_size(code))
    total, triples = 0.0, 0
    for i, j in itertools.combinations(range(len(small)), 2):
        if j + 1 == len(small):
            continue
        pair = _renumbered(small[i] * _size(small[j]) + small[j])
        for third in small[j + 1 :]:
            cells = np.bincount(pair * _size(third) + third, weights=share)
            total += float(np.abs(cells).sum())
            triples += 1
    return total / triples


def _size(code: Codes) -> int:
    return int(code.max()) + 1


def _renumbered(code: Codes) -> Codes:
    """Return the codes 0, 1, ... of the values that occur."""
    return np.unique(code, return_inverse=True)[1].astype(np.int64)


def _groups(
    real: pd.Series, made: pd.Series, column: Column, step: float | None
) -> tuple[Codes, Codes]:
    if column.levels is not None:
        return _levels(real, column), _levels(made, column)
    numbers = [values.to_numpy(dtype=np.float64) for values in (real, made)]
    if step is not None:
        inner = np.arange(column.lower + step, column.upper + step, step)
    else:
        known = numbers[0][~np.isnan(numbers[0])]
        inner = np.unique(np.quantile(known, np.arange(1, GROUPS) / GROUPS, method="lower"))
    # A value at an edge is in the group above it; a missing one in the last.
    cut = [np.searchsorted(inner, each, side="right") for each in numbers]
    one, other = (
        np.where(np.isnan(each), len(inner) + 1, code).astype(np.int64)
        for each, code in zip(numbers, cut, strict=True)
    )
    return one, other


def _levels(values: pd.Series, column: Column) -> Codes:
    import pandas as pd

    assert column.levels is not None
    code = pd.Index(column.levels).get_indexer(pd.Index(values.astype(object)))
    absent = values.isna().to_numpy()
    if ((code < 0) & ~absent).any():
        raise ValueError(f"column {column.name!r} has a value that is not declared")
    return np.where(absent, len(column.levels), code).astype(np.int64)
