"""A column in a few public cells, levels as they are and numbers by intervals; or two columns.

The intervals of a coarse table are even on the scale

    u = (y − lower) / (upper − lower),      t = log((u + δ) / (1 − u + 10⁻²)),

which is logarithmic near either bound. Each is 0.77 wide; the more of them noise allows, the closer
to the lower bound they reach: 12 down to δ = 10⁻², 24 down to δ = 10⁻⁶, which tells amounts apart
even where the upper bound was declared a thousand times too high.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.domain.column import Column
from understudy.domain.kinds import kinds_of
from understudy.domain.tables import Columns

Codes = NDArray[np.int64]

_FEWEST, _MOST = 12, 24
"""Intervals of a coarse table. Settled on Beta(0.8, 5), Beta(60, 15) and Beta(150, 350)."""
_NOISY, _CLEAR = 60.0, 480.0
"""ε times size at which there are fewest, and most."""
_HIGH = 1e-2
_WIDTH = 0.77


@dataclass(frozen=True)
class Cells:
    """Where each value of a column is counted: levels or intervals, spikes, kinds of missing."""

    column: Column
    edges: tuple[float, ...] = ()
    """Where one interval of a number ends and the next begins; a value on an edge is above it."""
    spikes: tuple[float, ...] = ()
    """Values with cells of their own, in order, whichever interval they lie in."""

    @property
    def inner(self) -> int:
        """How many levels or intervals there are."""
        levels = self.column.levels
        return len(self.edges) + 1 if levels is None else len(levels)

    @property
    def count(self) -> int:
        """How many cells there are."""
        return self.inner + len(self.spikes) + self.column.kinds

    def codes(self, columns: Columns) -> Codes:
        """Return the cell of each record."""
        values, last = columns[self.column.name], self.inner + len(self.spikes)
        if not self.column.numeric:
            return np.where(values < 0, last - 1 - values, values).astype(np.int64)
        codes = np.searchsorted(np.asarray(self.edges), values, side="right")
        if self.spikes:
            place = np.minimum(np.searchsorted(self.spikes, values), len(self.spikes) - 1)
            at = np.asarray(self.spikes)[place] == values
            codes = np.where(at, self.inner + place, codes)
        if self.column.kinds:
            codes = np.where(np.isnan(values), last + kinds_of(columns, self.column.name), codes)
        return np.asarray(codes, dtype=np.int64)

    def to_dict(self) -> dict[str, Any]:
        """Return the column, where its intervals end, and its spikes if there are any."""
        spikes = {"spikes": list(self.spikes)} if self.spikes else {}
        return {"column": self.column.name, "edges": list(self.edges)} | spikes


@dataclass(frozen=True)
class Pair:
    """Every cell of one column together with every cell of another."""

    one: Cells
    other: Cells

    @property
    def count(self) -> int:
        """How many cells there are."""
        return self.one.count * self.other.count

    def codes(self, columns: Columns) -> Codes:
        """Return the cell of each record."""
        return self.one.codes(columns) * self.other.count + self.other.codes(columns)

    def to_dict(self) -> dict[str, Any]:
        """Return both columns and where their intervals end."""
        return {"pair": [self.one.to_dict(), self.other.to_dict()]}


def coarse(column: Column, information: float) -> Cells:
    """Return the cells of a first table of a column, where ε times the size is `information`."""
    if column.levels is not None:
        return Cells(column)
    share = math.log(max(information, 1e-9) / _NOISY) / math.log(_CLEAR / _NOISY)
    count = round(_FEWEST + (_MOST - _FEWEST) * min(max(share, 0.0), 1.0))
    if column.whole and column.width < count:
        return Cells(column, tuple((column.lower + 0.5 + np.arange(column.width)).tolist()))
    highest = -math.log(_HIGH)
    offset = math.exp(highest - _WIDTH * count)
    odds = np.exp(highest - _WIDTH * np.arange(count - 1, 0, -1))
    edges = column.lower + column.width * (odds * (1 + _HIGH) - offset) / (1 + odds)
    if column.whole:
        edges = np.floor(edges) + 0.5
    inside = (edges > column.lower) & (edges < column.upper)
    return Cells(column, tuple(np.unique(edges[inside]).tolist()))
