"""Rows from a graphical model whose tables hang together in a tree.

Where the cliques of a model make a junction tree, the model is the product of their tables over
those of what neighbours share. So rows drawn from one clique's table, and then from each
neighbour's given what they share, have exactly the distribution of the model, and the table of all
columns is never made. Only NumPy is needed, and mbi for a model of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Clique = tuple[str, ...]


def rows_of(
    model: Any, rows: int, random: np.random.Generator, *, balanced: bool = False
) -> dict[str, NDArray[np.int64]]:
    """Draw rows from a model of mbi 1.1, which is post-processing.

    That version itself would make columns depend on each other that its model keeps apart
    (github.com/ryan112358/mbi/pull/145, mended in 2.0.0), so it is asked for the tables of the
    junction tree and not for rows.
    """
    from mbi import junction_tree, marginal_oracles

    tree, _ = junction_tree.make_junction_tree(model.domain, [set(c) for c in model.cliques])
    cliques = list(tree.nodes)
    tables = marginal_oracles.message_passing_stable(model.potentials.expand(cliques))
    own = {clique: np.asarray(tables[clique].values, dtype=np.float64) for clique in cliques}
    return draw(own, list(tree.edges), rows, random, balanced=balanced)


def draw(
    tables: Mapping[Clique, NDArray[np.float64]],
    edges: Sequence[tuple[Clique, Clique]],
    rows: int,
    random: np.random.Generator,
    *,
    balanced: bool = False,
) -> dict[str, NDArray[np.int64]]:
    """Return codes of rows that are drawn independently, or evenly spread.

    Args:
        tables: For each clique its probabilities up to a factor, an axis for each column. What is
            below 0 counts as 0.
        edges: The junction tree. Without edges between them, cliques are independent.
        rows: How many rows to draw.
        random: The source of randomness.
        balanced: Whether each clique is spread evenly along rows that are sorted by what they share
            with it, as `understudy` spreads columns.
    """
    drawn: dict[str, NDArray[np.int64]] = {}
    for clique in _outwards(list(tables), edges):
        table = np.maximum(tables[clique], 0)
        # One column after the other: every one of them can be spread evenly.
        for name in (each for each in clique if each not in drawn):
            shared = [each for each in clique if each in drawn]
            there = [each for each in clique if each in drawn or each == name]
            unknown = tuple(k for k, each in enumerate(clique) if each not in there)
            among = table.sum(axis=unknown)
            # What is left is in the order of the clique; the column itself is to be the last.
            among = np.moveaxis(among, there.index(name), -1)
            own = (
                np.ravel_multi_index([drawn[each] for each in shared], among.shape[:-1])
                if shared
                else np.zeros(rows, dtype=np.int64)
            )
            at = _along(random, own, len(drawn)) if balanced else random.random(rows)
            drawn[name] = _conditionally(among.reshape(-1, among.shape[-1]), own, at)
    return {name: codes.astype(np.int64) for name, codes in drawn.items()}


def _along(random: np.random.Generator, own: NDArray[np.int64], turn: int) -> NDArray[np.float64]:
    # Elsewhere this file is used without `understudy`.
    from understudy.models.balance import along

    return along(random, len(own), [own], turn)


def _conditionally(
    table: NDArray[np.float64], own: NDArray[np.int64], at: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return the column of the table at a place from 0 to 1 for each row that is named.

    A row of zeros is taken for even.
    """
    empty = table.sum(axis=1, keepdims=True) <= 0
    upto = np.cumsum(np.where(empty, 1.0, table), axis=1)
    # Each row has its own unit interval, so that one sorted search serves all.
    scaled = upto / upto[:, -1:] + np.arange(len(table))[:, None]
    found = np.searchsorted(scaled.ravel(), own + at, side="right")
    return np.clip(found - own * table.shape[1], 0, table.shape[1] - 1)


def _outwards(cliques: list[Clique], edges: Sequence[tuple[Clique, Clique]]) -> list[Clique]:
    """Return the cliques so that each but the first of a tree has a neighbour before it."""
    near: dict[Clique, list[Clique]] = {clique: [] for clique in cliques}
    for one, other in edges:
        near[one].append(other)
        near[other].append(one)
    order: dict[Clique, None] = {}
    for root in cliques:
        waiting = [root]
        while waiting:
            clique = waiting.pop()
            if clique not in order:
                order[clique] = None
                waiting += near[clique]
    return list(order)
