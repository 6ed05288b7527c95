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

import itertools
import math
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from understudy.domain.schema import Schema
from understudy.domain.tables import Columns

Floats = NDArray[np.float64]

_SIZES = range(12, 24)
"""Rows of a block, whichever leaves the fewest places empty. Larger blocks are of less similar
rows; in smaller ones, columns that are not neighbours' reason meet by a coarser chance."""
_SHORT, _FAR, _APART = 30, 0.1, 0.1
"""Rows of a short stretch; how far multiples of a step are to be from whole numbers, times which
multiple it is: 0.34 for the root of 2; and how far steps are to be apart, times how many."""
_MOST_PLACES = 2**62
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


def along(
    generator: np.random.Generator, rows: int, by: Sequence[NDArray[np.generic]], turn: int
) -> Floats:
    """Return a number from 0 to 1 for each row, evenly spread along rows in an order.

    They are the fractions of U, U + α, U + 2α, …, which are evenly spread over any stretch of rows,
    short or long, better than by blocks. α is the root of a prime of the column's own, so that two
    columns in the same order are evenly spread together (Weyl), and U is uniform: *each row by
    itself has exactly the model's distribution*, given all columns before.

    Args:
        generator: Where randomness comes from.
        rows: How many there are.
        by: What makes rows neighbours, the most important first, as for `evenly`.
        turn: Number of the column among those that are drawn one after the other.
    """
    order = np.lexsort((generator.random(rows), *_as_one(by)))
    spread = np.empty(rows)
    spread[order] = (generator.random() + np.arange(rows) * math.sqrt(_prime(turn))) % 1.0
    return np.minimum(spread, _LARGEST)


def _as_one(by: Sequence[NDArray[np.generic]]) -> list[NDArray[np.generic]]:
    """Return arrays of codes, the most important last, as one array in the same order, if it can.

    One is sorted faster than many.
    """
    sizes = [int(each.max(initial=0)) + 1 for each in by if each.dtype.kind == "i"]
    if len(by) < 2 or len(sizes) < len(by) or math.prod(sizes) > _MOST_PLACES:
        return list(reversed(by))
    one = np.zeros(len(by[0]), dtype=np.int64)
    for each, size in zip(by, sizes, strict=True):
        one = one * size + each.astype(np.int64)
    return [one]


@cache
def _prime(turn: int) -> int:
    """Return the prime of that number, from 0 on, among those that serve, one beside the others.

    By two roots with nearly the same fraction, or fractions that add up to nearly one, two columns
    in the same order would depend on each other.
    """
    before = [_prime(earlier) for earlier in range(turn)]
    places = np.sqrt(before) % 1.0
    either = np.append(places, 1.0 - places)

    def beside(number: int) -> bool:
        near = np.abs(either - math.sqrt(number) % 1.0)
        return _serves(number) and bool(np.all(near > _APART / (turn + 1)))

    return next(filter(beside, itertools.count(before[-1] + 1 if before else 2)))


@cache
def _serves(number: int) -> bool:
    """Return whether a number is a prime whose root is far from simple fractions.

    By a root near a whole number all rows of a short stretch would have nearly the same place, and
    by one near a half every other row.
    """
    if not all(number % divisor for divisor in range(2, math.isqrt(number) + 1)):
        return False
    steps = np.arange(1, _SHORT + 1)
    places = steps * math.sqrt(number) % 1.0
    return bool(np.min(steps * np.minimum(places, 1.0 - places)) > _FAR)


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
