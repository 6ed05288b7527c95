"""The measures of columns and of pairs, of tables too large to be held: from counts of all records.

Counts are sums over records, so that a table need only be passed (`Records.total`). Levels and the
cells of pairs are counted as `marginal` and `pairs` say, and their measures are the same to the
last bit. Between numbers, cuts are laid: 4096 quantiles of the records that are held (fewer of
hundreds of columns), and a cut just below each number that many of them share. So the distribution
functions F and G are exact at every cut, and since F hardly grows from one cut to the next, but by
a number that many share,

    max-ECDF    is off by no more than F grows between cuts, about 1/4096;
    quantiles   are those of all records, rounded up to the next cut.

Means and correlations are computed from sums of whole numbers, of products as fine as 64 bits allow
for so many records. Pairs are counted while all counts together are few enough to be held for each
batch that is read; the pairs of more columns, or of columns of thousands of levels, are not.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from understudy.domain.records import Records, Wholes
from understudy.domain.schema import Column, Role, Schema
from understudy.domain.tables import Columns
from understudy.support.confidential import Confidential
from understudy.utility.marginal import (
    ColumnStatistics,
    ColumnUtility,
    MissingShares,
    Utility,
    nothing_to_measure,
    of_shares,
)
from understudy.utility.pairs import (
    Codes,
    Counts,
    PairUtility,
    cells,
    cells_of,
    counted,
    measure_pair,
)

Floats = NDArray[np.float64]
Pair = tuple[str, str]

CUTS = 4096
_LARGEST = 2**20
"""Counts that are taken, 8 MiB for each part being read, however many pairs there are."""


@dataclass(frozen=True, repr=False)
class Counted(Confidential):
    """What is counted of a table, to be compared with what is counted alike of another."""

    counting: Counting
    rows: int
    columns: Mapping[str, Wholes]
    """Of each column, how many records have each level, or lie at or below each cut and above
    the one before."""
    means: Mapping[str, float]
    """Of each numeric column."""
    pairs: Mapping[Pair, Counts]
    correlations: Mapping[Pair, float | None]

    def utility(self, synthetic: Counted) -> dict[str, ColumnUtility]:
        """Return the utility of every confidential column, by name.

        Args:
            synthetic: The synthetic table.
        """
        return {
            column.name: self._column(column, synthetic)
            for column in self.counting.columns
            if column.treated_as is Role.CONFIDENTIAL
        }

    def pair_utility(self, synthetic: Counted) -> tuple[PairUtility, ...]:
        """Return the utility of every pair of columns, where pairs were counted.

        Args:
            synthetic: The synthetic table.
        """
        measured = []
        for a, b in self.counting.pairs:
            pair, both = (a.name, b.name), (self, synthetic)
            counts = [table.pairs[pair] for table in both]
            correlations = [table.correlations[pair] for table in both]
            measured.append(measure_pair((a, b), counts, correlations))
        return tuple(measured)

    def _column(self, column: Column, synthetic: Counted) -> ColumnUtility:
        both = self, synthetic
        counts = [table.columns[column.name] for table in both]
        present = [int(each.sum()) for each in counts]
        measured: ColumnUtility
        if not all(present):
            measured = nothing_to_measure(column, apart=any(present))
        elif column.levels is None:
            means = [table.means[column.name] for table in both]
            measured = _numbers(self.counting.cuts[column.name], counts, means)
        else:
            by_table = [
                dict(zip(column.levels, map(float, k / k.sum()), strict=True)) for k in counts
            ]
            measured = of_shares(*by_table)
        if column.missing != "model":
            return measured
        shares = (1 - n / table.rows for n, table in zip(present, both, strict=True))
        return replace(measured, missing=MissingShares(*shares))


@dataclass(frozen=True, repr=False)
class Counting(Confidential):
    """How tables are counted, which are compared by it."""

    columns: tuple[Column, ...]
    """Confidential and public ones."""
    pairs: tuple[tuple[Column, Column], ...]
    """All of them; none where they have too many cells."""
    cuts: Mapping[str, Floats]
    """Of each numeric column, in order; the last one is its upper bound."""
    centres: Mapping[str, float]
    """Of each numeric column, a number near its mean: less is lost on the way to a correlation."""

    @classmethod
    def like(cls, columns: Columns, schema: Schema) -> Counting:
        """Lay cuts where records lie.

        Args:
            columns: Some records.
            schema: What they are declared to hold.
        """
        compared = schema.having(Role.CONFIDENTIAL, Role.PUBLIC)
        pairs = tuple(itertools.combinations(compared, 2))
        few = sum(_OfPair(*pair).size for pair in pairs) <= _LARGEST
        most = min(CUTS, _LARGEST // len(compared))
        known = {c.name: _known(columns[c.name], c) for c in compared if c.numeric}
        return cls(
            compared,
            pairs if few else (),
            {c.name: _cuts(known[c.name], c, most) for c in compared if c.numeric},
            {name: float(values.mean()) for name, values in known.items()},
        )

    def of(self, records: Records) -> Counted:
        """Count a table, in one pass.

        Args:
            records: Of the table.
        """
        unit = 2.0 ** (62 - records.count.bit_length())
        pieces: list[_Piece] = [
            _OfColumn(column, len(self.cuts.get(column.name, ()))) for column in self.columns
        ]
        pieces += [_OfPair(*pair) for pair in self.pairs]
        total = records.total(partial(_added, self, pieces, unit))
        ends = np.cumsum([piece.size for piece in pieces])
        found = dict(zip(pieces, np.split(total, ends[:-1]), strict=True))
        return self._read(records.count, found, unit)

    def _read(self, rows: int, found: Mapping[_Piece, Wholes], unit: float) -> Counted:
        """Return what was counted, by the columns."""
        columns, means = dict[str, Wholes](), dict[str, float]()
        pairs, correlations = dict[Pair, Counts](), dict[Pair, float | None]()
        for piece, numbers in found.items():
            if isinstance(piece, _OfPair):
                pair, shape = (piece.a.name, piece.b.name), piece.shape
                pairs[pair] = numbers[: math.prod(shape)].reshape(shape)
                sums = numbers[math.prod(shape) :] / unit
                count = int(pairs[pair].sum())
                correlations[pair] = _correlation(count, sums) if len(sums) else None
                continue
            column = piece.column
            if not column.numeric:
                columns[column.name] = numbers
                continue
            *counts, total = numbers
            columns[column.name] = np.array(counts)
            present = int(columns[column.name].sum())
            moved = column.width * (total / unit) / present if present else math.nan
            means[column.name] = self.centres[column.name] + moved
        return Counted(self, rows, columns, means, pairs, correlations)


_QUANTILES = {"median": 0.5, "q15": 0.15, "q90": 0.9}


class _Ready(NamedTuple):
    """A column of some records, as pieces count it."""

    cells: Codes
    """By which pairs count it; −1 where it is missing."""
    places: Codes
    """Of numbers that are there, the first cut at or above each; of other columns the cells."""
    scaled: Floats | None
    """Numbers beside the centre as a share of the width; NaN where they are missing."""


class _OfColumn(NamedTuple):
    """The counts of a column, and for numbers their sum."""

    column: Column
    cuts: int

    @property
    def size(self) -> int:
        return self.cuts + 1 if self.column.numeric else cells(self.column)

    @property
    def columns(self) -> tuple[Column, ...]:
        return (self.column,)

    def added(self, ready: Mapping[str, _Ready], unit: float) -> Wholes:
        column = ready[self.column.name]
        if column.scaled is None:
            return np.bincount(column.places[column.places >= 0], minlength=self.size)
        counts = np.bincount(column.places, minlength=self.cuts)
        return np.append(counts, _whole(column.scaled[column.cells >= 0], unit))


class _OfPair(NamedTuple):
    """The counts of a pair of columns, and for numbers what their correlation is computed from."""

    a: Column
    b: Column

    @property
    def shape(self) -> tuple[int, int]:
        return cells(self.a), cells(self.b)

    @property
    def size(self) -> int:
        return math.prod(self.shape) + (5 if self.a.numeric and self.b.numeric else 0)

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.a, self.b

    def added(self, ready: Mapping[str, _Ready], unit: float) -> Wholes:
        a, b = ready[self.a.name], ready[self.b.name]
        counts = counted(a.cells, b.cells, (self.a, self.b)).ravel()
        if a.scaled is None or b.scaled is None:
            return counts
        complete = (a.cells >= 0) & (b.cells >= 0)
        x, y = a.scaled[complete], b.scaled[complete]
        sums = [_whole(each, unit) for each in (x, y, x * x, y * y, x * y)]
        return np.concatenate([counts, sums])


_Piece = _OfColumn | _OfPair


def _added(counting: Counting, pieces: Sequence[_Piece], unit: float, records: Columns) -> Wholes:
    """Return what some records add to the counts of some pieces."""
    wanted = {column.name: column for piece in pieces for column in piece.columns}
    ready = {name: _ready(counting, column, records[name]) for name, column in wanted.items()}
    return np.concatenate([piece.added(ready, unit) for piece in pieces])


def _ready(counting: Counting, column: Column, values: NDArray[np.generic]) -> _Ready:
    if not column.numeric:
        codes = np.asarray(values, dtype=np.int64)
        return _Ready(codes, codes, None)
    numbers = np.asarray(values, dtype=np.float64)
    places = np.searchsorted(counting.cuts[column.name], numbers[~np.isnan(numbers)])
    scaled = (numbers - counting.centres[column.name]) / column.width
    return _Ready(cells_of(numbers, column), places, scaled)


def _whole(values: Floats, unit: float) -> int:
    """Return a sum in whole units, which depends on no order."""
    return int(np.rint(values * unit).astype(np.int64).sum())


def _known(values: NDArray[np.generic], column: Column) -> Floats:
    numbers = np.asarray(values, dtype=np.float64)
    present = numbers[~np.isnan(numbers)]
    return present if present.size else np.array([column.upper])


def _cuts(known: Floats, column: Column, most: int) -> Floats:
    if column.whole and column.width < most:
        return np.arange(column.lower, column.upper + 1)
    ordered = np.sort(known)
    places = np.unique(np.linspace(0, ordered.size - 1, most).astype(np.int64))
    numbers, times = np.unique(ordered[places], return_counts=True)
    below = np.nextafter(numbers[times > 1], -np.inf)
    return np.unique(np.concatenate([below, numbers, [column.upper]]))


def _quantile(counts: Wholes, cuts: Floats, share: float) -> float:
    """Return a quantile as NumPy interpolates it, of numbers that are where their cuts are."""
    place = share * (int(counts.sum()) - 1)
    below = math.floor(place)
    upto = np.cumsum(counts)
    low, high = cuts[np.searchsorted(upto, [below, math.ceil(place)], side="right")]
    return float(low + (place - below) * (high - low))


def _numbers(cuts: Floats, counts: Sequence[Wholes], means: Sequence[float]) -> Utility:
    upto = [np.cumsum(each) / each.sum() for each in counts]
    gaps = np.abs(upto[0] - upto[1])
    pooled = counts[0] + counts[1]
    statistics = [
        ColumnStatistics(mean=mean, **{k: _quantile(each, cuts, q) for k, q in _QUANTILES.items()})
        for each, mean in zip(counts, means, strict=True)
    ]
    return Utility(
        max_ecdf=float(gaps.max()),
        avg_ecdf=float(np.square(gaps) @ (pooled / pooled.sum())),
        confidential=statistics[0],
        synthetic=statistics[1],
    )


def _correlation(count: int, sums: Floats) -> float | None:
    """Return Pearson's correlation from sums; None where a column is constant."""
    if count < 2:
        return None
    x, y, xx, yy, xy = sums / count
    variances = xx - x * x, yy - y * y
    if min(variances) <= 0:
        return None
    return float(np.clip((xy - x * y) / math.sqrt(variances[0] * variances[1]), -1, 1))
