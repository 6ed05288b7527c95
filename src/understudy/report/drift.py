"""How the synthetic columns moved since the last period's release.

Both tables are synthetic, so the movement is public; what stands beside it in the report is not.
Two releases of an unchanged population differ as well: by the chance of their rows, which is told
with every distance, and by that of their private draws, which is not known.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy.domain.schema import Column, Schema
from understudy.report import figures
from understudy.report.svg import shortened
from understudy.report.wording import number_row, readable, share_row
from understudy.utility.marginal import ColumnUtility, Utility, compare, complete
from understudy.utility.pairs import expected_total_variation

if TYPE_CHECKING:
    from pandas import DataFrame, Series

SHOWN_PICTURES = 6
_MEAN_KOLMOGOROV = math.sqrt(math.pi / 2) * math.log(2)
"""The mean of Kolmogorov's distribution: √(nm/(n+m)) times the max-ECDF of two large samples."""

Cells = tuple[str, ...]
"""A row of a table, as it is shown."""


@dataclass(frozen=True, eq=False)
class Earlier:
    """The last period's release: what it is called, and its synthetic table."""

    label: str
    table: DataFrame


@dataclass(frozen=True, eq=False)
class _Movement:
    """How far a column moved, how far chance alone would have moved it, and the picture of it."""

    rows: list[Cells]
    measure: str
    distance: float
    chance: float
    draw: Callable[[], str]

    @property
    def cells(self) -> Cells:
        return readable(self.distance, digits=3), readable(self.chance, digits=3)

    @property
    def times(self) -> float:
        return self.distance / self.chance if self.chance else 0.0


def since(earlier: Earlier, synthetic: DataFrame, schema: Schema) -> dict[str, Any]:
    """Return what moved: a row for each quantity, and pictures of the columns that moved most."""
    utilities = compare(earlier.table, synthetic, schema)
    rows: list[Cells] = []
    movements: dict[str, _Movement] = {}
    for column in schema.confidential:
        name, utility = column.name, utilities[column.name]
        if (shares := utility.missing) is not None:
            missing = share_row(f"{name}: missing", shares.confidential, shares.synthetic)
            rows.append((*missing, "", ""))
        before, now = (complete(table[name], column) for table in (earlier.table, synthetic))
        if len(before) and len(now):
            names = f"Before: {shortened(earlier.label)}", "This release"
            moved = _moved(column, before, now, utility, names)
            rows += [(*row, *moved.cells) for row in moved.rows]
            movements[name] = moved
    drawn = sorted(movements.items(), key=lambda each: -each[1].times)
    return {
        "label": earlier.label,
        "given": " for this release’s public columns" if schema.public else "",
        "rows": rows,
        "pictures": [
            {"svg": moved.draw(), "caption": _caption(name, moved)}
            for name, moved in drawn[:SHOWN_PICTURES]
        ],
        "left_out": max(0, len(drawn) - SHOWN_PICTURES),
    }


def _moved(
    column: Column,
    before: Series[Any],
    now: Series[Any],
    utility: ColumnUtility,
    names: tuple[str, str],
) -> _Movement:
    if isinstance(utility, Utility):
        then, today = (each.to_numpy(dtype=np.float64) for each in (before, now))
        both = utility.confidential, utility.synthetic
        return _Movement(
            rows=[
                number_row(f"{column.name}: {key}", *(getattr(each, key) for each in both))
                for key in ("mean", "median")
            ],
            measure="The largest gap between the two distribution functions",
            distance=utility.max_ecdf,
            chance=_chance_of_numbers(len(before), len(now)),
            draw=partial(
                figures.ecdf, then, today, column.name, (column.lower, column.upper), names
            ),
        )
    shares, now_shares = utility.confidential, utility.synthetic
    most = max(shares, key=lambda level: abs(shares[level] - now_shares[level]))
    return _Movement(
        rows=[share_row(f"{column.name}: {most}", shares[most], now_shares[most])],
        measure="The total variation",
        distance=utility.total_variation,
        chance=_chance_of_levels(shares, now_shares, len(before), len(now)),
        draw=partial(figures.levels, before, now, column.name, tuple(shares), names),
    )


def _caption(name: str, moved: _Movement) -> str:
    distance, chance = moved.cells
    return (
        f"{name}, then and now. {moved.measure} is {distance}, and would be about {chance} by the "
        "chance of the rows alone."
    )


def _chance_of_numbers(n: int, m: int) -> float:
    return min(1.0, _MEAN_KOLMOGOROV * math.sqrt(1 / n + 1 / m))


def _chance_of_levels(before: dict[str, float], now: dict[str, float], n: int, m: int) -> float:
    counts = (
        np.rint(np.array(list(shares.values())) * size).astype(np.int64)
        for shares, size in ((before, n), (now, m))
    )
    return expected_total_variation(*counts)
