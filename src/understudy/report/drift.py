"""How the synthetic columns moved since the last period's release.

Both tables are synthetic, so the movement is public; what stands beside it in the report is not.
Two releases of an unchanged population differ as well: by the chance of their rows, which is told
with every distance, and by that of their private draws, which is not known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy.report import figures
from understudy.report.axes import shortened
from understudy.report.wording import change, hundredths, points, readable, signed
from understudy.utility import Utility, compare, complete

if TYPE_CHECKING:
    from pandas import DataFrame, Series

    from understudy.domain.schema import Column, Schema
    from understudy.utility import CategoricalUtility

SHOWN_PICTURES = 6
_MEAN_KOLMOGOROV = math.sqrt(math.pi / 2) * math.log(2)
"""The mean of Kolmogorov's distribution: √(nm/(n+m)) times the max-ECDF of two large samples."""


@dataclass(frozen=True, eq=False)
class Earlier:
    """The last period's release: what it is called, and its synthetic table."""

    label: str
    table: DataFrame


def since(earlier: Earlier, synthetic: DataFrame, schema: Schema) -> dict[str, Any]:
    """Return what moved: a row for each quantity, and pictures of the columns that moved most."""
    moved = compare(earlier.table, synthetic, schema)
    found = [
        _moved(
            column,
            complete(earlier.table[column.name], column),
            complete(synthetic[column.name], column),
            moved[column.name],
            earlier.label,
        )
        for column in schema.confidential
    ]
    drawn = sorted((each for each in found if each["drawn"]), key=lambda each: -each["times"])
    return {
        "label": earlier.label,
        "given": " for this release’s public columns" if schema.public else "",
        "rows": [row for each in found for row in each["rows"]],
        "pictures": [
            {"svg": each["drawn"](), "caption": each["caption"]} for each in drawn[:SHOWN_PICTURES]
        ],
        "left_out": max(0, len(drawn) - SHOWN_PICTURES),
    }


def _moved(
    column: Column,
    before: Series[Any],
    now: Series[Any],
    utility: Utility | CategoricalUtility,
    label: str,
) -> dict[str, Any]:
    rows: list[tuple[str, ...]] = []
    if utility.missing is not None:
        ours, theirs = utility.missing.confidential, utility.missing.synthetic
        rows.append(_share(f"{column.name}: missing", ours, theirs, "", ""))
    if not (len(before) and len(now)):
        return {"rows": rows, "drawn": None, "times": 0.0, "caption": ""}
    names = f"Before: {shortened(label)}", "This release"
    if isinstance(utility, Utility):
        distance, chance = utility.max_ecdf, _chance_of_numbers(len(before), len(now))
        measure = "The largest gap between the two distribution functions"
        for key, name in (("mean", "mean"), ("median", "median")):
            ours, theirs = getattr(utility.confidential, key), getattr(utility.synthetic, key)
            rows.append(
                (
                    f"{column.name}: {name}",
                    readable(ours),
                    readable(theirs),
                    signed(theirs - ours),
                    change(ours, theirs),
                    readable(distance, digits=3),
                    readable(chance, digits=3),
                )
            )
        bounds = (column.lower, column.upper)

        def drawn() -> str:
            then, today = (values.to_numpy(dtype=np.float64) for values in (before, now))
            return figures.ecdf(then, today, column.name, bounds, names)
    else:
        before_shares, now_shares = utility.confidential, utility.synthetic
        chance = _chance_of_levels(before_shares, now_shares, len(before), len(now))
        distance, measure = utility.total_variation, "The total variation"
        most = max(before_shares, key=lambda level: abs(before_shares[level] - now_shares[level]))
        rows.append(
            _share(
                f"{column.name}: {most}",
                before_shares[most],
                now_shares[most],
                readable(distance, digits=3),
                readable(chance, digits=3),
            )
        )

        def drawn() -> str:
            return figures.levels(before, now, column.name, tuple(before_shares), names)

    return {
        "rows": rows,
        "drawn": drawn,
        "times": distance / chance if chance else 0.0,
        "caption": f"{column.name}, then and now. {measure} is {readable(distance, digits=3)}, and "
        f"would be about {readable(chance, digits=3)} by the chance of the rows alone.",
    }


def _share(name: str, before: float, now: float, distance: str, chance: str) -> tuple[str, ...]:
    return (
        name,
        hundredths(before),
        hundredths(now),
        points(before, now),
        change(before, now),
        distance,
        chance,
    )


def _chance_of_numbers(n: int, m: int) -> float:
    return min(1.0, _MEAN_KOLMOGOROV * math.sqrt(1 / n + 1 / m))


def _chance_of_levels(ours: dict[str, float], theirs: dict[str, float], n: int, m: int) -> float:
    from understudy.utility.pairs import expected_total_variation

    counts = (
        np.rint(np.array(list(shares.values())) * size).astype(np.int64)
        for shares, size in ((ours, n), (theirs, m))
    )
    return expected_total_variation(*counts)
