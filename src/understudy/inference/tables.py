"""Which tables of a whole table's columns to measure, how accurately, and in how many rounds.

Single columns come first, code by code. Pairs are of groups that these made public. The share of ε
of a table is in proportion to the root of the number of its cells, which minimises the sum of all
cells' noise: Σ c/ε is least at ε ∝ √c for a given Σ ε. With normal noise that is Σ c/√ρ for a given
Σ ρ, so ρ is shared in proportion to c^⅔. A column's own table counts twice, since every pair leans
on it, and a number in it for no more than 32 cells: its shape is smooth.

Up to a dozen columns, all pairs are measured, but for those of a column that is nearly constant:
where fewer records differ from the commonest group than noise would hide, there is nothing to
learn. Of more columns, pairs are chosen in rounds, by how badly what is known so far explains them
(`mechanisms/choosing.py`). Everything depends on the schema, the declared size, ε and δ alone, or
on what was published.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.domain.schema import Schema
from understudy.inference.allowance import Allowance
from understudy.inference.cells import Pair
from understudy.inference.contribution import TableContribution
from understudy.inference.grouping import cells_of
from understudy.models.base import Model
from understudy.models.table.coding import variable
from understudy.models.table.variables import Variable

_FEWEST, _MOST = 3, 20
"""Groups of a number in a pair."""
_PER_CELL = 2.4
"""Records in a cell of a pair, in units of the noise, that groups are made for."""
_SINGLE, _SMOOTH = 2.0, 32
"""How much more accurate the table of one column is, and for how many cells a number counts there.
Settled on samples of the CPS of 1992 and of the ACS; the two above on the CPS of 1992, and seen
on the ACS: docs/summary.md."""
_CONSTANT = 0.1
"""Share of records away from the commonest group, below which a column may be left out of pairs."""
_STEP = 16
"""Units of a weight for the root of one cell: weights are whole numbers."""
ALL_PAIRS = 66
"""Up to so many pairs, none is chosen: twelve columns."""
_ROUNDS, _PER_COLUMN, _CHOOSING = 3, 2.0, 0.15
"""Rounds of choosing, pairs for each column in all, and the share of ε that choosing costs."""


@dataclass(frozen=True)
class TablePlan:
    """What is measured of a model of whole tables, known before anything is."""

    shares: tuple[Allowance, ...]
    """Of single columns, then of pairs; or, round by round, of choosing and of pairs."""
    groups: int
    """Of a number in pairs."""
    picks: tuple[int, ...]
    """Pairs that each round chooses; none where all are measured."""


def table_plan(model: Model, allowance: Allowance, size: float) -> TablePlan:
    """Return what to measure at this price.

    Args:
        model: Of a row. Pairs are chosen for columns in turn, which can be fitted to any of them.
        allowance: For all of it.
        size: How many records there are, or are declared to be.
    """
    variables = variables_of(model.schema)
    own = [variables[column.name] for column in model.schema.confidential]
    candidates = paired(model.schema)
    many = len(candidates) > ALL_PAIRS and model.in_turn is not None
    picks = _picks(len(variables), len(candidates)) if many else ()
    measured = sum(picks) if many else len(candidates)
    information = allowance.information(size, among=max(measured, 1))
    groups = round(min(max(math.sqrt(information / _PER_CELL), _FEWEST), _MOST))
    if not candidates:
        return TablePlan((allowance,), groups, ())
    norm = allowance.norm
    single = sum(single_weight(each, norm) ** norm for each in own)
    cells = [
        _most_groups(variables[a], groups) * _most_groups(variables[b], groups)
        for a, b in candidates
    ]
    each_pair = float(np.mean([_root(count, norm) ** norm for count in cells]))
    first, rest = allowance.split(single / (single + measured * each_pair))
    if not many:
        return TablePlan((first, rest), groups, ())
    shares = [first]
    for k, count in enumerate(picks):
        own_share, rest = rest.split(count / sum(picks[k:])) if k < len(picks) - 1 else (rest, rest)
        shares += own_share.split(_CHOOSING)
    return TablePlan(tuple(shares), groups, picks)


def _picks(columns: int, candidates: int) -> tuple[int, ...]:
    total = min(round(_PER_COLUMN * columns), candidates)
    return tuple(len(part) for part in np.array_split(np.arange(total), _ROUNDS))


def variables_of(schema: Schema) -> dict[str, Variable]:
    """Return what a model of whole tables sees of each column, public ones first."""
    return {column.name: variable(column) for column in (*schema.public, *schema.confidential)}


def paired(schema: Schema) -> Sequence[tuple[str, str]]:
    """Return every two columns of which one is confidential at least."""
    own = [column.name for column in schema.confidential]
    among = itertools.combinations(own, 2)
    return (*among, *itertools.product((column.name for column in schema.public), own))


def single_weight(variable: Variable, norm: int) -> float:
    """Return how much a table of one column weighs, in roots of a cell."""
    smooth = variable.column.levels is None
    return _SINGLE * _root(min(variable.count, _SMOOTH) if smooth else variable.count, norm)


def weighted(
    model: Model, variables: Sequence[Variable], pairs: Sequence[Pair], norm: int
) -> TableContribution:
    """Return tables of single columns, code by code, and of pairs, each as accurate as it deserves.

    Args:
        model: Of a row.
        variables: Columns that have a table of their own.
        pairs: Pairs of columns, in groups.
        norm: By which length is bounded.
    """
    weights = [single_weight(each, norm) for each in variables]
    weights += [_root(pair.count, norm) for pair in pairs]
    whole = tuple(max(round(_STEP * weight), 1) for weight in weights)
    return TableContribution(model, (*map(cells_of, variables), *pairs), whole, norm=norm)


def _root(count: int, norm: int) -> float:
    """Σ c/w is least for a given Σ w at w ∝ √c, and for a given Σ w² at w ∝ ∛c."""
    return float(count ** (1 / (1 + norm)))


def worth_pairing(
    counts: Mapping[str, NDArray[Any]], pairs: Sequence[Pair], allowance: Allowance, size: float
) -> set[str]:
    """Return the columns that there is something to learn about from pairs.

    Args:
        counts: How many records each column has in each of its groups, as far as that is known.
        pairs: All that could be measured.
        allowance: For all of them.
        size: How many records there are, or are declared to be.
    """
    norm = allowance.norm
    length = sum(_root(pair.count, norm) ** norm for pair in pairs) ** (1 / norm)
    costs: dict[str, list[float]] = {name: [] for name in counts}
    for pair in pairs:
        scale = length / (_root(pair.count, norm) * allowance.rate)
        for cells in (pair.one, pair.other):
            costs[cells.column.name].append(pair.count * scale / (2 * size))
    worth = set()
    for name, each in counts.items():
        shares = np.maximum(each, 0.0) / max(np.maximum(each, 0.0).sum(), 1e-300)
        if 1 - shares.max() >= min(_CONSTANT, float(np.mean(costs[name] or [0.0]))):
            worth.add(name)
    return worth if len(worth) > 1 else set(counts)


def _most_groups(variable: Variable, groups: int) -> int:
    if variable.column.levels is not None:
        return variable.count
    return min(variable.count, groups + variable.kinds)
