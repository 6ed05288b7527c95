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
from understudy.report.wording import along, readable, share_row, value_row
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


def since(earlier: Earlier, synthetic: DataFrame, schema: Schema) -> dict[str, Any]:
    """Return what moved: a row for each quantity, and pictures of the columns that moved most."""
    utilities = compare(earlier.table, synthetic, schema)
    names = f"Before: {shortened(earlier.label)}", "This release"
    rows: list[Cells] = []
    drawn: list[tuple[float, str, Callable[[], str]]] = []
    for column in schema.confidential:
        name, utility = column.name, utilities[column.name]
        if (shares := utility.missing) is not None:
            missing = share_row(f"{name}: missing", shares.confidential, shares.synthetic)
            rows.append((*missing, "", ""))
        before, now = (complete(table[name], column) for table in (earlier.table, synthetic))
        if len(before) and len(now):
            told, measure, distance, chance, draw = _moved(column, before, now, utility, names)
            cells = readable(distance, digits=3), readable(chance, digits=3)
            rows += [(*row, *cells) for row in told]
            caption = (
                f"{name}, then and now. {measure} is {cells[0]}, and would be about {cells[1]} by "
                "the chance of the rows alone."
            )
            drawn.append((distance / chance if chance else 0.0, caption, draw))
    drawn.sort(key=lambda each: -each[0])
    return {
        "label": earlier.label,
        "given": " for this release’s public columns" if schema.public else "",
        "rows": rows,
        "pictures": [
            {"svg": draw(), "caption": caption} for _, caption, draw in drawn[:SHOWN_PICTURES]
        ],
        "left_out": max(0, len(drawn) - SHOWN_PICTURES),
    }


def _moved(
    column: Column,
    before: Series[Any],
    now: Series[Any],
    utility: ColumnUtility,
    names: tuple[str, str],
) -> tuple[list[Cells], str, float, float, Callable[[], str]]:
    """Return rows, the measure, how far it moved, how far by chance alone, and the picture."""
    name, n, m = column.name, len(before), len(now)
    if isinstance(utility, Utility):
        both = utility.confidential, utility.synthetic
        rows = [
            value_row(column, f"{name}: {key}", *(getattr(each, key) for each in both))
            for key in ("mean", "median")
        ]
        numbers = before.to_numpy(dtype=np.float64), now.to_numpy(dtype=np.float64)
        draw = partial(figures.ecdf, numbers, along(column), (column.lower, column.upper), names)
        measure = "The largest gap between the two distribution functions"
        return rows, measure, utility.max_ecdf, _chance_of_numbers(n, m), draw
    shares, now_shares = utility.confidential, utility.synthetic
    most = max(shares, key=lambda level: abs(shares[level] - now_shares[level]))
    rows = [share_row(f"{name}: {most}", shares[most], now_shares[most])]
    draw = partial(figures.levels, (before, now), name, tuple(shares), names)
    counts = (
        np.rint(np.array(list(each.values())) * size).astype(np.int64)
        for each, size in ((shares, n), (now_shares, m))
    )
    chance = expected_total_variation(*counts)
    return rows, "The total variation", utility.total_variation, chance, draw


def _chance_of_numbers(n: int, m: int) -> float:
    return min(1.0, _MEAN_KOLMOGOROV * math.sqrt(1 / n + 1 / m))
