"""Which codes of a column are counted together: all apart in its own table, in groups in pairs.

A number with many codes would make pairs with more cells than noise allows. Groups have about equal
mass, as the column's own noisy table has it: a cell that nobody is in would cost as much noise as
any other, and effects of rare groups are left to the prior. Whole numbers with a few hundred values
are grouped as people group them, by twos, fives or tens, and a value that stands out is a group of
its own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from understudy.domain.tables import Columns
from understudy.inference.cells import Cells
from understudy.inference.columns import fit
from understudy.inference.noisy_tables import NoisyTable, Tables
from understudy.models.table.conditional import Conditional, Grouped
from understudy.models.table.variables import Variable, with_others

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

_ROUND = (1, 2, 5, 10, 20, 50, 100)
_RARE = 0.25
"""Share of an average group's mass below which a group is joined to the one before it."""
_STANDS_OUT = 0.5
"""Share of an average group's mass above which a spike is a group of its own."""


def cells_of(variable: Variable, groups: Codes | None = None) -> Cells:
    """Return the cells of a column's groups; of its codes, without groups."""
    column = variable.column
    if column.levels is not None:
        return Cells(column)
    found = np.arange(variable.count) if groups is None else groups
    begins = np.flatnonzero(np.diff(found[: variable.inner])) + 1
    spikes = found[variable.inner : variable.count - variable.kinds]
    apart = variable.spikes[spikes > found[variable.inner - 1]]
    edges = column.lower + begins - 0.5 if variable.edges is None else variable.edges[begins]
    return Cells(column, tuple(edges.tolist()), tuple(apart.tolist()))


def shares_of_codes(variable: Variable, table: NoisyTable) -> Floats:
    """Return how a column is distributed over its codes, as far as its own table tells."""
    alone = Grouped(variable, np.zeros(variable.count, dtype=np.int64))
    tables = Tables({variable.name: table}, {})
    found = fit(
        [Conditional(alone, ())],
        tables,
        {},
        size=None,
        rows=1,
        generator=np.random.default_rng(0),
    )
    return np.asarray(found.means[0] / found.means[0].sum())


def grouped(variable: Variable, shares: Floats, groups: int) -> Codes:
    """Return the group of each code: about so many groups of a number, each level its own.

    Args:
        variable: The column.
        shares: How it is distributed over its codes.
        groups: About how many.
    """
    inner = variable.inner
    if variable.column.levels is not None or variable.count - variable.kinds <= groups:
        return np.arange(variable.count)
    total = max(shares[: variable.count - variable.kinds].sum(), 1e-300)
    mass, spikes = shares[:inner] / total, shares[inner : variable.count - variable.kinds] / total
    apart = spikes > _STANDS_OUT / groups
    if len(variable.free) and not len(spikes):
        found = _rounded(variable, mass, groups)
    else:
        # Spikes that are not apart are where their intervals are.
        whole = mass + np.bincount(_places(variable), np.where(apart, 0.0, spikes), inner)
        middle = (np.cumsum(whole) - whole / 2) / max(whole.sum(), 1e-300)
        found = np.minimum((middle * groups).astype(np.int64), groups - 1)
    return with_others(variable, np.concatenate([[0], np.cumsum(np.diff(found) != 0)]), apart)


def _places(variable: Variable) -> Codes:
    if variable.edges is None:
        return np.empty(0, dtype=np.int64)
    return np.searchsorted(variable.edges[1:-1], variable.spikes, side="right").astype(np.int64)


def public_groups(variable: Variable, public: Columns, groups: int) -> Codes:
    """Return the groups of a public column, whose distribution everybody can see."""
    counts = np.bincount(variable.read(public), minlength=variable.count)
    return grouped(variable, counts / max(counts.sum(), 1), groups)


def public_cells(variable: Variable, public: Columns, groups: int) -> Cells:
    """Return the cells of those groups."""
    return cells_of(variable, public_groups(variable, public, groups))


def _rounded(variable: Variable, mass: Floats, groups: int) -> Codes:
    """Return groups of whole numbers between round ones: about so many that are not rare."""
    values = np.asarray(variable.column.lower + np.arange(len(mass)), dtype=np.float64)
    found = [_by_width(values, mass, width, groups) for width in _ROUND]
    counts = np.array([each.max() + 1 for each in found])
    return found[int(np.argmin(np.abs(np.log(counts / groups))))]


def _by_width(values: Floats, mass: Floats, width: int, groups: int) -> Codes:
    """Return groups between multiples of a number; what stands out is apart."""
    found = np.cumsum(np.append(0, np.diff(values // width) != 0))
    alone = mass > 1 / groups
    found = 2 * found + np.cumsum(alone | np.append(False, alone[:-1]))
    _, found = np.unique(found, return_inverse=True)
    while len(each := np.bincount(found, mass)) > 2 and (rare := each < _RARE / len(each)).any():
        place = int(np.argmax(rare))
        found = np.where(found >= max(place, 1), found - 1, found)
    return np.asarray(found, dtype=np.int64)
