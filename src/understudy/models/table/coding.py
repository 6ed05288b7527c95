"""How a column becomes codes: levels, values or intervals, spikes, and kinds of missing values.

Levels are codes as they are, and so are whole numbers with up to a few hundred values, any of which
may stand out. Other numbers are told apart by narrow public intervals of the scale

    u = (y − lower) / (upper − lower),      t = log((u + δ) / (1 − u + δ)),      δ = 0.01,

which is logarithmic near either bound, as skewed amounts want it, and even in between; within an
interval every value is equally likely. Declared spikes and the multiples of a declared
grid have codes of their own after them, and so has each kind of missing values, last.
"""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal

import numpy as np

from understudy.domain.schema import Column, Type
from understudy.models.balance import Floats
from understudy.models.table.shapes import contrasts, polynomials, waves
from understudy.models.table.variables import Codes, Variable

FEW, MANY = 20, 300
"""Whole numbers with at most so many values are told apart one by one: by polynomials of their own,
and by the smooth shapes of other numbers."""
OFFSET = 0.01
REACH = math.log((1 + OFFSET) / OFFSET)
"""t at the upper bound; −t at the lower."""
INTERVALS = 64
WAVES = 10
WAVE_LENGTH = 0.8
CURVE, WAVE = 5.0, 2.0
"""Widths of the line and parabola in t, and of what waves add to them."""
SPIKE = 3.0
"""Width of what a declared spike, or all multiples of a grid, add to their log probability."""
CONSTANT, MAIN, PAIR = 1.5, 0.5, 0.25
"""Widths of log probabilities, by the number of other variables that an effect is of."""
_MISSING_SHARE, _SPIKE_SHARE = 0.1, 0.02
_NEVER = 1e-22
"""In place of a probability of zero: that of an interval whose values are spikes, every one."""
_FEATURE_DEGREE = 2


def variable(column: Column) -> Variable:
    """Return what the model sees of a column."""
    if column.levels is not None:
        plain = (_steps if column.ordered else _levels)(column, len(column.levels))
    elif column.whole and column.width < FEW:
        plain = _steps(column, int(column.width) + 1)
    else:
        plain = _with_spikes(_number(column))
    return _with_missing(plain) if column.kinds else plain


def _levels(column: Column, count: int) -> Variable:
    directions = contrasts(count)
    even = np.ones(count - 1)
    return Variable(
        column=column,
        base=np.zeros(count),
        unit=np.zeros(count),
        directions=directions,
        widths=(CONSTANT * even, MAIN * even, PAIR * even),
        features=directions,
    )


def _steps(column: Column, count: int) -> Variable:
    """Few whole numbers, or levels in an order."""
    directions = polynomials(np.arange(float(count)), count - 1)
    decay = np.arange(1.0, count) ** -1.5
    return Variable(
        column=column,
        base=np.zeros(count),
        unit=np.zeros(count),
        directions=directions,
        widths=(CONSTANT * decay, MAIN * decay[:4], PAIR * decay[:2]),
        features=directions[:, :_FEATURE_DEGREE],
        free=np.arange(count),
    )


def _number(column: Column) -> Variable:
    margin = 0.5 if column.whole else 0.0
    lower, width = column.lower - margin, column.width + 2 * margin
    apart = column.whole and column.width < MANY
    if apart:
        edges = lower + np.arange(column.width + 2)
        ends = np.linspace(-REACH, REACH, len(edges))
    elif column.type is Type.DATE:
        edges = np.unique(np.rint(np.linspace(lower, lower + width, INTERVALS + 1) - 0.5) + 0.5)
        ends = REACH * (2 * (edges - lower) / width - 1)
    else:
        edges = _intervals(lower, width, column.whole)
        u = (edges - lower) / width
        ends = np.log((u + OFFSET) / (1 - u + OFFSET))
    middles = (ends[1:] + ends[:-1]) / 2
    plain = np.column_stack([middles, middles**2 / 2])
    shapes, sizes = waves(middles, WAVE_LENGTH, WAVES)
    within = np.diff(edges) if column.whole else np.diff(edges) / width
    return Variable(
        column=column,
        base=np.log(np.diff(ends) / (2 * REACH)),
        unit=-np.log(within),
        directions=np.column_stack([plain, shapes]),
        widths=(
            np.array([CURVE, CURVE, *(WAVE * sizes)]),
            MAIN * np.array([1.0, 0.5, *(0.5 * sizes[:3])]),
            PAIR * np.array([1.0]),
        ),
        features=3.0 * np.column_stack([middles, middles**2 / REACH]),
        edges=edges,
        free=np.arange(len(middles)) if apart else np.empty(0, dtype=np.int64),
    )


def _intervals(lower: float, width: float, whole: bool) -> Floats:
    """Return the ends of the intervals, even on the scale t; those of whole numbers at halves."""
    share = (1 + 2 * OFFSET) / (1 + np.exp(-np.linspace(-REACH, REACH, INTERVALS + 1))) - OFFSET
    edges = lower + width * np.clip(share, 0.0, 1.0)
    edges[0], edges[-1] = lower, lower + width
    return np.unique(np.rint(edges - 0.5) + 0.5) if whole else edges


def _with_spikes(plain: Variable) -> Variable:
    """Return the variable with a code for each declared spike, and for each multiple of the grid.

    A multiple is as likely as its neighbours are in the smooth shape, times one factor for all of
    them, and may stand out by itself. A spike is likely by itself alone.
    """
    column, edges = plain.column, plain.edges
    values = heaps(column)
    if len(plain.free) or not len(values) or edges is None:
        return plain
    place = np.searchsorted(edges[1:-1], values, side="right")
    alone = np.isin(values, column.spikes)
    width = np.diff(edges)[place] / (column.grid or 1.0)
    added = np.column_stack([~alone, np.eye(len(values))[:, alone]]).astype(np.float64)
    left = _left(plain, edges, place)
    smooth = np.where(alone[:, None], 0.0, plain.directions[place])
    return replace(
        plain,
        base=np.append(
            plain.base - np.log(np.exp(plain.base).sum()) + np.log(np.maximum(left, _NEVER)),
            np.where(
                alone, math.log(_SPIKE_SHARE), plain.base[place] - np.log(np.maximum(width, 1))
            ),
        ),
        unit=np.append(plain.unit - np.log(np.where(left > 0, left, 1.0)), np.zeros(len(values))),
        directions=np.block(
            [
                [np.zeros((plain.count, added.shape[1])), plain.directions],
                [added, smooth],
            ]
        ),
        widths=tuple(
            np.append(np.full(added.shape[1], wide), each)
            for wide, each in zip((SPIKE, MAIN, PAIR), plain.widths, strict=True)
        ),
        features=np.vstack([plain.features, plain.features[place]]),
        spikes=values,
        free=plain.count + np.flatnonzero(~alone),
    )


def _left(plain: Variable, edges: Floats, place: Codes) -> Floats:
    """Return the share of each interval's values that are no spikes: of whole numbers, not all."""
    if not plain.column.whole:
        return np.ones(plain.count)
    return 1.0 - np.bincount(place, minlength=plain.count) / np.rint(np.diff(edges))


def heaps(column: Column) -> Floats:
    """Return the declared spikes of a number and the multiples of its grid, in order."""
    grid: Floats = np.empty(0)
    if column.grid is not None:
        first, last = math.ceil(column.lower / column.grid), math.floor(column.upper / column.grid)
        # As a table writes them: three times 0.1 is 0.3, and not the next number above it.
        digits = max(0, -int(Decimal(repr(float(column.grid))).as_tuple().exponent))
        grid = np.round(column.grid * np.arange(first, last + 1.0), digits)
    return np.unique(np.concatenate([np.asarray(column.spikes, dtype=np.float64), grid]))


def _with_missing(plain: Variable) -> Variable:
    """Return the variable with a code for each kind of missing values, unlike any other."""
    kinds = plain.column.kinds

    def also(rows: Floats) -> Floats:
        """Put directions of the new codes' own before the others."""
        nothing = np.zeros((len(rows), kinds))
        return np.block([[nothing, rows], [np.eye(kinds), np.zeros((kinds, rows.shape[1]))]])

    total = np.log(np.exp(plain.base).sum())
    share = math.log(_MISSING_SHARE / kinds)
    return replace(
        plain,
        base=np.append(plain.base - total, np.full(kinds, share)),
        unit=np.append(plain.unit, np.zeros(kinds)),
        directions=also(plain.directions),
        widths=tuple(
            np.append(np.full(kinds, wide), each)
            for wide, each in zip((CONSTANT, MAIN, PAIR), plain.widths, strict=True)
        ),
        features=also(plain.features),
        kinds=kinds,
    )
