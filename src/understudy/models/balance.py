"""Balanced rows: systematic sampling in place of independent draws, from the same θ.

A row is F⁻¹(u) of the model's distribution function given the row's public values, where u is
uniform from 0 to 1. Independent rows have independent u; balanced rows have u that are evenly
spread, over the whole table and among neighbours:

    u = (d M + σ_d(m) + U) / (B M),      M blocks of B neighbours,    U ~ Uniform(0, 1).

The d of the rows of block m are a random order of 0, ..., B − 1, so that every block has one u in
each B-th of the unit interval; σ_d is a random order of the blocks, so that the table has one u in
each of B·M intervals. A given row's d is uniform, σ_d(m) is uniform given d, and so u is uniform:
*each row by itself has exactly the model's distribution*. What is less than independent is how much
a table's distributions differ from the model's: by about 1/n instead of 1/√n for the whole of a
table without predictors, and by a quarter of what independent rows would for groups of neighbours.

Columns that are drawn one after the other have orders and a U of their own. Given all that was
drawn before, a row's u is uniform, so no column depends on another but as the model has it. An
evenly spread sequence along the rows, such as multiples of the golden ratio, would not do: two
columns with the same neighbours would have the same sequence, but for a shift.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from understudy.domain.schema import Schema
from understudy.domain.tables import Columns

Floats = NDArray[np.float64]

_SIZES = range(12, 24)
"""Rows of a block, whichever leaves the fewest places empty. Larger blocks are of less similar
rows; in smaller ones, columns that are not neighbours' reason meet by a coarser chance."""
_SMALLEST = 1e-300
_LARGEST = np.nextafter(1.0, 0.0)


def evenly(
    generator: np.random.Generator, rows: int, by: Sequence[NDArray[np.generic]] = ()
) -> Floats:
    """Return a number from 0 to 1 for each row, evenly spread over all rows and over neighbours.

    Args:
        generator: Where randomness comes from.
        rows: How many there are.
        by: What makes rows neighbours, an array with a value for each, the most important first.
            Those with the same values are in a random order; without any, all rows are alike.
    """
    order = np.lexsort((generator.random(rows), *reversed(by)))
    size = _block_size(rows) if by else 1
    blocks = -(-rows // size)
    coarse = generator.permuted(np.tile(np.arange(size), (blocks, 1)), axis=1)
    fine = generator.permuted(np.tile(np.arange(blocks), (size, 1)), axis=1)
    places = coarse * blocks + fine[coarse, np.arange(blocks)[:, None]]
    spread = np.empty(rows)
    spread[order] = (places.ravel()[:rows] + generator.random()) / max(size * blocks, 1)
    return np.minimum(spread, _LARGEST)


def _block_size(rows: int) -> int:
    if rows <= _SIZES[-1]:
        return max(rows, 1)
    return min(_SIZES, key=lambda size: -rows % size)


def among_public(schema: Schema, public: Columns) -> list[NDArray[np.generic]]:
    """Return the public columns by which rows are neighbours: levels, few before many; numbers."""
    columns = sorted(
        (column for column in schema.public if column.name in public),
        key=lambda column: (column.numeric, len(column.levels or ())),
    )
    return [np.asarray(public[column.name]) for column in columns]


def codes_at(
    u: Floats, shares: ArrayLike, which: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.int64], Floats]:
    """Return the code at u of each row's distribution over codes, and how far within it u lies.

    The latter is uniform from 0 to 1 whatever the code: it places a value inside an interval.

    Args:
        u: A number from 0 to 1 for each row.
        shares: Distributions, each up to a constant, shape (distributions, codes).
        which: The distribution of each row; by default every row has its own.
    """
    cumulative = np.cumsum(np.asarray(shares, dtype=np.float64), axis=1)
    cumulative = cumulative if which is None else cumulative[which]
    target = u * cumulative[:, -1]
    codes = np.asarray(np.sum(cumulative[:, :-1] <= target[:, None], axis=1), dtype=np.int64)
    rows = np.arange(len(codes))
    before = np.where(codes > 0, cumulative[rows, codes - 1], 0.0)
    own = np.maximum(cumulative[rows, codes] - before, _SMALLEST)
    return codes, np.clip((target - before) / own, 0.0, _LARGEST)
