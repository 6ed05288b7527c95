"""How close a synthetic table came, in words for people who read no statistics. Confidential."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from understudy.domain.schema import Column, Schema
from understudy.report.drift import Earlier
from understudy.report.wording import in_points, percent, readable
from understudy.utility.marginal import ColumnUtility, Utility, compare

if TYPE_CHECKING:
    from pandas import DataFrame

SHOWN_COLUMNS = 3


def sentences(
    schema: Schema,
    utility: Mapping[str, ColumnUtility],
    earlier: Earlier | None,
    synthetic: DataFrame,
) -> list[str]:
    """Return a sentence on each of the first columns, and one on what moved since last time."""
    shown = schema.confidential[:SHOWN_COLUMNS]
    told = [_close(column, utility[column.name]) for column in shown]
    if earlier is not None:
        moved = compare(earlier.table, synthetic, schema)
        told += [_moved(column, moved[column.name], earlier.label) for column in shown]
    left_out = len(schema.confidential) - len(shown)
    if left_out:
        told.append(f"The other {left_out:,} columns are told below.")
    return told


def _close(column: Column, utility: ColumnUtility) -> str:
    if isinstance(utility, Utility):
        median, synthetic = utility.confidential.median, utility.synthetic.median
        return (
            f"Half of the confidential records have {column.name} up to {readable(median)}; half "
            f"of the synthetic rows up to {readable(synthetic)}, which is "
            f"{_compared(median, synthetic)}. The share of records up to any given value is off by "
            f"at most {in_points(utility.max_ecdf)}."
        )
    return (
        f"The shares of the levels of {column.name} are off by at most "
        f"{in_points(utility.total_variation)}, alone or together."
    )


def _moved(column: Column, moved: ColumnUtility, label: str) -> str:
    if isinstance(moved, Utility):
        before, now = moved.confidential.median, moved.synthetic.median
        return (
            f"Since {label} the synthetic median of {column.name} went from about "
            f"{readable(before)} to {readable(now)}, which is {_compared(before, now)}."
        )
    return (
        f"Since {label} the shares of the levels of {column.name} moved by "
        f"{in_points(moved.total_variation)} in all."
    )


def _compared(before: float, after: float) -> str:
    if readable(before) == readable(after):
        return "the same"
    where = "more" if after > before else "less"
    return f"{percent(abs(after - before) / abs(before))} {where}" if before else where
