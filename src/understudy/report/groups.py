"""Outcomes by group, in both tables: what an analyst looks at first. It is confidential.

A group is a level of a column, or a fifth of the declared bounds of a public number. Of all pairs
of an outcome and a grouping, those are shown in which the groups differ most in the confidential
table, since there is most to lose: the largest η², the share of the outcome's variance that lies
between groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.domain.column import Column, Role, Type
from understudy.domain.schema import Schema
from understudy.report.figures import CONFIDENTIAL, SYNTHETIC, TABLES
from understudy.report.svg import inline_svg, legend_above, numbers_along, printable, shortened
from understudy.report.wording import (
    NOTHING,
    hundredths,
    percent,
    points,
    readable,
    signed,
    span_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

SHOWN = 4
MOST_LEVELS = 12
FIFTHS = 5

Numbers = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupedOutcome:
    """An outcome by the groups of another column."""

    outcome: Column
    by: Column
    names: tuple[str, ...]
    explained: float
    """η² in the confidential table."""
    groups: tuple[Numbers, Numbers]
    """Of each group in the confidential and in the synthetic table, how many records it has, and
    their quartiles: of a binary outcome, three times the share of its second level."""

    @property
    def share(self) -> bool:
        """Whether the outcome is binary, and told as the share of its second level."""
        return self.outcome.levels is not None

    @property
    def what(self) -> str:
        """What is told of each group."""
        if self.outcome.levels is None:
            return f"Median {self.outcome.name}"
        return f"Share of {self.outcome.levels[1]} in {self.outcome.name}"


def most_different(
    schema: Schema, confidential: DataFrame, synthetic: DataFrame
) -> tuple[GroupedOutcome, ...]:
    """Return the few pairs of an outcome and a grouping whose groups differ most."""
    outcomes = [
        (column, _values(confidential, column))
        for column in schema.confidential
        if (column.numeric and column.type is not Type.DATE) or len(column.levels or ()) == 2
    ]
    groupings = [
        (column, _codes(confidential, column))
        for column in schema.having(Role.CONFIDENTIAL, Role.PUBLIC)
        if 2 <= len(_names(column)) <= MOST_LEVELS
    ]
    candidates = [
        (explained(values, codes), outcome, by)
        for outcome, values in outcomes
        for by, codes in groupings
        if outcome.name != by.name
    ]
    chosen = sorted(candidates, key=lambda each: -each[0])[:SHOWN]
    return tuple(
        GroupedOutcome(
            outcome=outcome,
            by=by,
            names=_names(by),
            explained=share,
            groups=(_groups(confidential, outcome, by), _groups(synthetic, outcome, by)),
        )
        for share, outcome, by in chosen
        if share > 0
    )


def explained(values: Numbers, codes: Codes) -> float:
    """Return η²: the share of the variance of the values that lies between the groups."""
    there = np.isfinite(values) & (codes >= 0)
    values, codes = values[there], codes[there]
    if not values.size or np.ptp(values) == 0:
        return 0.0
    sizes = np.bincount(codes)
    means = np.bincount(codes, values) / np.maximum(sizes, 1)
    overall = values.mean()
    between = float((sizes * (means - overall) ** 2).sum())
    return between / float(((values - overall) ** 2).sum())


def _values(frame: DataFrame, column: Column) -> Numbers:
    values = frame[column.name]
    if column.levels is None:
        return values.to_numpy(dtype=np.float64, na_value=np.nan)
    second = (values == column.levels[1]).to_numpy(dtype=bool, na_value=False)
    return np.where(values.isna().to_numpy(dtype=bool), np.nan, second.astype(np.float64))


def _names(column: Column) -> tuple[str, ...]:
    """Return the names of a column's groups; a confidential number has none."""
    if column.levels is not None:
        return column.levels
    if column.role is not Role.PUBLIC:
        return ()
    edges = _edges(column)
    # The last part of whole numbers includes the bound; the others end before their edge.
    ends = [*(edges[1:-1] - int(column.whole)), edges[-1]]
    return tuple(map(partial(span_of, column), edges[:-1], ends))


def _edges(column: Column) -> Numbers:
    if not column.whole:
        return np.linspace(column.lower, column.upper, FIFTHS + 1)
    parts = min(FIFTHS, int(column.width) + 1)
    inner = np.rint(column.lower + (column.width + 1) * np.arange(1, parts) / parts)
    return np.concatenate([[column.lower], inner, [column.upper]])


def _codes(frame: DataFrame, column: Column) -> Codes:
    import pandas as pd

    values = frame[column.name]
    if column.levels is not None:
        return pd.Index(column.levels).get_indexer(pd.Index(values)).astype(np.int64)
    numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
    inner = _edges(column)[1:-1]
    return np.where(np.isnan(numbers), -1, np.searchsorted(inner, numbers, side="right"))


def _groups(frame: DataFrame, outcome: Column, by: Column) -> Numbers:
    values, codes = _values(frame, outcome), _codes(frame, by)
    groups = np.full((len(_names(by)), 4), np.nan)
    for code, group in enumerate(groups):
        inside = values[(codes == code) & np.isfinite(values)]
        group[0] = inside.size
        if inside.size:
            share = outcome.levels is not None
            group[1:] = inside.mean() if share else np.quantile(inside, [0.25, 0.5, 0.75])
    return groups


def by_group(chosen: Sequence[GroupedOutcome]) -> list[dict[str, Any]]:
    """Return the pictures and tables of the report."""
    return [
        {
            "by": each.by.name,
            "picture": {"svg": draw(each), "caption": _caption(each)},
            "what": each.what,
            "rows": list(_rows(each)),
        }
        for each in chosen
    ]


def _caption(each: GroupedOutcome) -> str:
    middle = f"Median (mark) and middle half of the records (line) of {each.outcome.name}"
    shown = each.what if each.share else middle
    return (
        f"{shown} by {each.by.name}. In the confidential table {percent(each.explained)} of the "
        "variance lies between these groups."
    )


def _rows(each: GroupedOutcome) -> Iterator[tuple[str, ...]]:
    write = hundredths if each.share else readable
    for name, *both in zip(each.names, *each.groups, strict=True):
        (records, _, before, _), (rows, _, after, _) = both
        difference = points(before, after) if each.share else signed(after - before)
        yield (
            name,
            *(f"{group[0]:,.0f}" for group in both),
            *(write(group[2]) if group[0] else NOTHING for group in both),
            difference if records and rows else NOTHING,
        )


def draw(each: GroupedOutcome) -> str:
    """Draw each group as a mark, with a line over the middle half of its records."""
    rows = np.arange(len(each.names))
    styles = ((-0.17, CONFIDENTIAL, "-", "o", "full"), (0.17, SYNTHETIC, "--", "D", "none"))

    def fill(axes: Axes) -> None:
        for name, groups, (shift, colour, dashes, mark, filled) in zip(
            TABLES, each.groups, styles, strict=True
        ):
            there = np.flatnonzero(groups[:, 0])
            _, low, middle, high = groups[there].T
            if not each.share:
                axes.hlines(there + shift, low, high, color=colour, linestyle=dashes, linewidth=2)
            axes.plot(
                middle,
                there + shift,
                linestyle="none",
                marker=mark,
                markersize=6,
                fillstyle=filled,
                color=colour,
                label=name,
            )
        axes.set_yticks(rows, [shortened(name) for name in each.names])
        axes.set_ylim(len(rows) - 0.45, -0.55)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel(printable(each.what))
        numbers_along(axes.xaxis, percent=each.share)
        legend_above(axes)

    height = 1.3 + 0.34 * len(each.names)
    return inline_svg(fill, f"{each.what} by {each.by.name} in both tables", height)
