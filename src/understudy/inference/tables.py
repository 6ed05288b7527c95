"""Which tables of a whole table's columns to measure: of single columns first, of pairs then.

One-way tables have levels as they are and numbers in intervals, as many as noise allows. Pairs are
of groups of about equal mass, which the one-way tables made public: a cell that nobody is in would
cost as much noise as any other. ε is shared in proportion to the root of the number of cells, which
minimises the sum of all cells' noise for what is spent: Σ c/ε is least at ε ∝ √c for a given Σ ε.
With normal noise that is Σ c/√ρ for a given Σ ρ, so ρ is shared in proportion to c^⅔. Everything
depends on the schema, the declared size, ε and δ alone, or on what was published.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np

from understudy.domain.column import Column
from understudy.domain.schema import Schema
from understudy.inference.allowance import Allowance
from understudy.inference.cells import Cells, Pair, coarse
from understudy.inference.contribution import TableContribution
from understudy.models.base import Model

_FEWEST, _MOST = 3, 12
"""Groups of a number in a pair."""
_PER_CELL = 4.0
"""Records in a cell of a pair, in units of the noise, that groups are made for."""
_VALUES = 4096
_STEP = 16
"""Units of a weight for the root of one cell: weights are whole numbers."""


def first_share(schema: Schema, allowance: Allowance, size: float) -> float:
    """Return the share of ε, or of ρ, for one-way tables."""
    power = allowance.norm / (1 + allowance.norm)
    single = sum(c.count**power for c in one_way(schema, allowance, size))
    groups = group_count(schema, allowance, size)
    double = sum(
        (_most_groups(a, groups) * _most_groups(b, groups)) ** power for a, b in paired(schema)
    )
    return single / (single + double)


def one_way(schema: Schema, allowance: Allowance, size: float) -> tuple[Cells, ...]:
    """Return a table of each confidential column."""
    columns = schema.confidential
    information = allowance.information(size, among=len(columns))
    return tuple(coarse(column, information / 4) for column in columns)


def paired(schema: Schema) -> Sequence[tuple[Column, Column]]:
    """Return every two columns of which one is confidential at least."""
    among = itertools.combinations(schema.confidential, 2)
    return (*among, *itertools.product(schema.confidential, schema.public))


def group_count(schema: Schema, allowance: Allowance, size: float) -> int:
    """Return how many groups a number has in pairs."""
    information = allowance.information(size, among=max(len(paired(schema)), 1))
    return round(min(max(math.sqrt(information / _PER_CELL), _FEWEST), _MOST))


def pairs(schema: Schema, cells: Mapping[str, Cells]) -> tuple[Pair, ...]:
    """Return a table of every pair, from the cells of each column."""
    return tuple(Pair(cells[a.name], cells[b.name]) for a, b in paired(schema))


def grouped(column: Column, values: np.ndarray, groups: int) -> Cells:
    """Return the cells of a column: its levels, or groups of about equal mass among the values."""
    if column.levels is not None:
        return Cells(column)
    if column.whole and column.width < groups:
        return Cells(column, tuple((column.lower + 0.5 + np.arange(column.width)).tolist()))
    there = np.asarray(values)[~np.isnan(values)]
    edges = np.quantile(there, np.arange(1, groups) / groups) if len(there) else np.empty(0)
    if column.whole:
        edges = np.floor(edges) + 0.5
    inside = (edges > column.lower) & (edges < column.upper)
    return Cells(column, tuple(np.unique(edges[inside]).tolist()))


def standing_for(cells: Cells, counts: np.ndarray) -> np.ndarray:
    """Return values of a number that are spread as noisy counts of its cells say."""
    ends = np.array([cells.column.lower, *cells.edges, cells.column.upper])
    shares = np.maximum(counts[: len(ends) - 1], 0.0)
    if not shares.any():
        shares = np.ones_like(shares)
    below = np.concatenate([[0.0], np.cumsum(shares)]) / shares.sum()
    return np.interp((np.arange(_VALUES) + 0.5) / _VALUES, below, ends)


def weighted(model: Model, tables: Sequence[Cells | Pair], norm: int) -> TableContribution:
    """Return tables whose entries are as accurate as their number of cells deserves.

    Σ c/w is least for a given Σ w at w ∝ √c, and for a given Σ w² at w ∝ ∛c.
    """
    weights = tuple(round(_STEP * table.count ** (1 / (1 + norm))) for table in tables)
    return TableContribution(model, tuple(tables), weights, norm=norm)


def _most_groups(column: Column, groups: int) -> int:
    if column.levels is not None:
        return len(column.levels) + (column.missing == "model")
    numbers = min(groups, int(column.width) + 1) if column.whole else groups
    return numbers + (column.missing == "model")
