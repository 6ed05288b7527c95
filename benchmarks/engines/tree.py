"""A junction tree: mbi's graphical model of as many of the measured pairs as it can hold.

All pairs of many columns make one clique of all columns. So pairs are added one by one, those that
are farthest from independent first, as long as the tables of the junction tree have no more cells
in all than `CELLS`. How far a pair is from independent is seen from the noisy tables,

    Σ |T − m m′ / N|, less the error that noise would cause anyway,

as `summary` scores what it chooses; a pair that is not more than that is left out, since mbi has no
prior to shrink what noise has made of it. Single columns are counted by groups, the sums of noisy
codes, each as accurate as it is. mbi minimises the squared errors, by how accurate tables are.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from engines.published import Floats, Published
from peers.trees import rows_of

if TYPE_CHECKING:
    import pandas as pd

CELLS, STEPS = 2**21, 1000
Pair = tuple[str, str]


def tree(published: Published, generator: np.random.Generator) -> tuple[pd.DataFrame, Any]:
    """Return rows by systematic sampling, clique after clique."""
    from mbi import LinearMeasurement, estimation

    tables, columns = published.tables, published.columns
    kept = pairs(published)
    measured = [
        LinearMeasurement(table.values.ravel(), pair, np.sqrt(table.variance))
        for pair, table in tables.pairs.items()
        if pair in kept
    ]
    for name, table in tables.single.items():
        groups = columns[name].groups
        deviation = np.sqrt(np.bincount(groups) * table.variance)
        counts = np.bincount(groups, table.values) / deviation
        measured.append(LinearMeasurement(counts, (name,), 1.0, partial(_in_units, deviation)))
    known = domain(published)
    model = estimation.mirror_descent(known, measured, known_total=tables.size, iters=STEPS)
    rows = rows_of(model, published.rows, generator, balanced=True)
    told = {"pairs_kept": len(kept), "cells": cells(published, kept)}
    return published.frame(rows, generator), told


def _in_units(deviation: Floats, factor: Any) -> Any:
    return factor.datavector() / deviation


def domain(published: Published) -> Any:
    """Return how many groups each column has."""
    from mbi import Domain

    return Domain.fromdict({name: each.count for name, each in published.columns.items()})


def cells(published: Published, kept: list[Pair]) -> int:
    """Return how many cells the tables of the junction tree of these pairs have in all."""
    from mbi import junction_tree

    known = domain(published)
    made, _ = junction_tree.make_junction_tree(known, kept)
    return int(sum(known.size(clique) for clique in made.nodes))


def pairs(published: Published, most: int = CELLS) -> list[Pair]:
    """Return the pairs that the tree holds, the farthest from independent first.

    Args:
        published: What was measured.
        most: Cells of the tree's tables.
    """
    told = {pair: surplus(published, pair) for pair in published.tables.pairs}
    kept: list[Pair] = []
    for pair in sorted(told, key=lambda pair: -told[pair]):
        if told[pair] > 0 and cells(published, [*kept, pair]) <= most:
            kept.append(pair)
    return kept


def surplus(published: Published, pair: Pair) -> float:
    """Return how many records more than noise explains are elsewhere than if independent."""
    table = published.tables.pairs[pair]
    one, other = (published.groups[name] for name in pair)
    apart = published.tables.size * np.outer(one, other)
    return float(np.abs(table.values - apart).sum() - table.values.size * table.scale)
