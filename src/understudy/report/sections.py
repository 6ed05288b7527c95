"""What each section of the report tells, in words and numbers that are ready to be shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.domain.schema import Column, Schema, Type
from understudy.ledger.statement import Item, Statement
from understudy.privacy.guarantee import SEEDED, Guarantee
from understudy.privacy.rounding import at_most
from understudy.report import figures, plain
from understudy.report.drift import Earlier
from understudy.report.svg import INK, inline_svg, numbers_along, shortened
from understudy.report.wording import (
    BADGES,
    NOTHING,
    along,
    in_points,
    percent,
    readable,
    share_row,
    span_of,
    value_of,
    value_row,
)
from understudy.utility.marginal import STATISTICS, ColumnUtility, Utility, compare

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame, Series

SHOWN_COLUMNS = 3
SHOWN_PERIODS = 24
_LIMITS = {
    "rhat": "R-hat at most",
    "ess_bulk": "ESS at least",
    "divergent": "Share of divergent trajectories at most",
}
"""How the limits of the convergence gate are called; those that it used are in the diagnostics."""


def promise(guarantee: Guarantee) -> dict[str, Any]:
    """Return the guarantee as its card shows it."""
    return {
        "kind": str(guarantee.kind),
        "badge": BADGES[guarantee.kind],
        "sentences": plain.sentences(guarantee),
        "odds": plain.odds(guarantee),
        "headline": guarantee.headline,
        "epsilons": plain.epsilons(guarantee),
        "conditional": guarantee.epsilon is not None,
        "assumptions": guarantee.assumptions,
        "warning": SEEDED[0].upper() + SEEDED[1:] if guarantee.seeded else None,
        "facts": [
            ("Kind", f"{guarantee.kind} ({guarantee.kind.meaning})"),
            ("Mechanism", guarantee.mechanism),
            # Noisy sums have no weights, and nothing is sampled from the table for them.
            *([] if guarantee.measured_once else [("Weights", str(guarantee.weights))]),
            *([] if guarantee.measured_once else [("Sampler", guarantee.sampler)]),
            guarantee.origin,
            ("Rows in each synthetic table", f"{guarantee.rows:,}"),
            ("Ledger", guarantee.charged or "not charged to any ledger"),
        ],
    }


def closeness(
    schema: Schema,
    utility: Mapping[str, ColumnUtility],
    earlier: Earlier | None,
    synthetic: DataFrame,
) -> list[str]:
    """Return how close a table came, in words for people who read no statistics.

    There is a sentence on each of the first columns, and one on what moved since last time.
    """
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
            f"Half of the confidential records have {column.name} up to "
            f"{value_of(column, median)}; half of the synthetic rows up to "
            f"{value_of(column, synthetic)}, which is {_compared(column, median, synthetic)}. The "
            "share of records up to any given value is off by at most "
            f"{in_points(utility.max_ecdf)}."
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
            f"{value_of(column, before)} to {value_of(column, now)}, which is "
            f"{_compared(column, before, now)}."
        )
    return (
        f"Since {label} the shares of the levels of {column.name} moved by "
        f"{in_points(moved.total_variation)} in all."
    )


def _compared(column: Column, before: float, after: float) -> str:
    if value_of(column, before) == value_of(column, after):
        return "the same"
    if column.type is Type.DATE:
        return f"{readable(abs(after - before))} days {'later' if after > before else 'earlier'}"
    where = "more" if after > before else "less"
    return f"{percent(abs(after - before) / abs(before))} {where}" if before else where


def columns(
    schema: Schema,
    confidential: DataFrame,
    synthetic: DataFrame,
    utility: Mapping[str, ColumnUtility],
) -> list[dict[str, Any]]:
    """Return the pictures and numbers of every confidential column."""
    frames = confidential, synthetic
    return [_column(each, frames, utility[each.name]) for each in schema.confidential]


def _column(
    column: Column, frames: tuple[DataFrame, DataFrame], utility: ColumnUtility
) -> dict[str, Any]:
    head, distances, pictures, rows = "Statistic", [], [], []
    values, others = (frame[column.name].dropna() for frame in frames)
    if len(values) and len(others):
        if isinstance(utility, Utility):
            distances = [("max-ECDF", utility.max_ecdf), ("avg-ECDF", utility.avg_ecdf)]
            pictures = _numbers(column, values, others)
            both = utility.confidential, utility.synthetic
            rows = [
                value_row(column, label.capitalize(), *(getattr(each, key) for each in both))
                for key, label in STATISTICS.items()
            ]
        else:
            head, distances = "Level", [("Total variation", utility.total_variation)]
            names = tuple(utility.confidential)
            drawn = figures.levels((values, others), column.name, names)
            caption = (
                "How often each level occurs in the confidential table (filled) and in the "
                "synthetic one (hatched)."
            )
            pictures = [{"svg": drawn, "caption": caption}]
            rows = [
                share_row(level, share, utility.synthetic[level])
                for level, share in utility.confidential.items()
            ]
    if (missing := utility.missing) is not None:
        rows.append(share_row("Missing", missing.confidential, missing.synthetic))
    return {
        "name": column.name,
        "pictures": pictures,
        "distances": [(name, readable(distance)) for name, distance in distances],
        "head": head,
        "rows": rows,
    }


def _numbers(
    column: Column, confidential: Series[Any], synthetic: Series[Any]
) -> list[figures.Picture]:
    both = confidential.to_numpy(dtype=np.float64), synthetic.to_numpy(dtype=np.float64)
    bounds, label = (column.lower, column.upper), along(column)
    return [
        {
            "svg": figures.density(both, label, bounds, whole=column.whole),
            "caption": "Where the values lie within the declared bounds, "
            f"{span_of(column, *bounds)}.",
        },
        {
            "svg": figures.ecdf(both, label, bounds),
            "caption": "The share of records up to each value. The black bar marks where the "
            "tables are furthest apart, the max-ECDF.",
        },
        {
            "svg": figures.qq(both, label),
            "caption": "Quantiles against quantiles. Above the dashed line the synthetic "
            "values are larger than the confidential ones at the same place in the order.",
        },
    ]


def outcome(
    schema: Schema, confidential: DataFrame, units: NDArray[np.int64] | None = None
) -> tuple[str, NDArray[np.float64]]:
    """Return what weights and scores are drawn against: the first complete numeric column.

    `units` are the numbers of the units that the rows belong to; a unit has the mean of its rows.
    """
    for column in schema.confidential:
        if column.numeric and column.missing == "refuse":
            values = confidential[column.name].to_numpy(dtype=np.float64)
            if units is None:
                return column.name, values
            return f"mean {column.name}", np.bincount(units, values) / np.bincount(units)
    records = len(confidential) if units is None else int(units.max()) + 1
    return "position in the table", np.arange(1.0, records + 1)


def convergence(diagnostics: Mapping[str, Any], sampler: str) -> dict[str, Any]:
    """Return the table of everything that was checked, and how much of it failed."""
    parameters: Mapping[str, Any] = diagnostics.get("parameters") or {}
    # The gate also looks at the log target and at log-likelihoods, which are no parameters.
    quantities = {**(diagnostics.get("gate") or {}), **parameters}
    limits: Mapping[str, Any] = diagnostics.get("limits") or {}
    chain = sampler == "nuts"
    rows = [
        _quantity(name, numbers, limits if chain else None) for name, numbers in quantities.items()
    ]
    return {
        "rows": rows,
        "chain": chain,
        "failed": sum(row["passed"] is False for row in rows),
        "diverged": _too_many_diverged(diagnostics, limits),
        "marks": [(_LIMITS.get(key, key), readable(limit)) for key, limit in limits.items()]
        if chain
        else [],
    }


def _too_many_diverged(diagnostics: Mapping[str, Any], limits: Mapping[str, Any]) -> bool:
    divergences, draws = diagnostics.get("divergences"), diagnostics.get("posterior_draws")
    if divergences is None or draws is None or "divergent" not in limits:
        return False
    return bool(divergences > limits["divergent"] * draws)


def _quantity(
    name: str, numbers: Mapping[str, Any], limits: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return a row of the table; without limits there was no chain, and nothing to pass."""
    rhat, ess = numbers.get("rhat"), numbers.get("ess_bulk")
    passed = None
    if limits is not None:
        settled = _at_most(rhat, limits.get("rhat"))
        passed = settled and _at_most(limits.get("ess_bulk"), ess)
    return {
        "name": name,
        "cells": (
            readable(numbers.get("mean")),
            readable(numbers.get("sd")),
            NOTHING if rhat is None else f"{rhat:.3f}",
            NOTHING if ess is None else f"{ess:,.0f}",
        ),
        "passed": passed,
    }


def _at_most(number: float | None, limit: float | None) -> bool:
    """Whether a number meets a limit: not if either is missing or NaN."""
    return number is not None and limit is not None and bool(number <= limit)


def spending(statement: Statement | None) -> dict[str, Any] | None:
    """Return the ledger's periods, each with its price and what it left, totals and a warning."""
    if statement is None or not (periods := statement.items):
        return None
    cut = f", the last {SHOWN_PERIODS} of {len(periods):,}" if len(periods) > SHOWN_PERIODS else ""
    return {
        "warning": statement.warning,
        "facts": [
            (name.capitalize() if name.islower() else name, fact) for name, fact in statement.facts
        ],
        "picture": {
            "svg": _budget_left(periods[-SHOWN_PERIODS:], statement.settings.budget),
            "caption": f"How much of the budget was left after each period{cut}.",
        },
        "rows": [
            (*told, at_most(item.entry.cost.rho, 4), state, time[:16].replace("T", " "))
            for item, (_, time, *told, state) in zip(periods, statement.rows(), strict=True)
        ],
    }


def _budget_left(periods: Sequence[Item], budget: float) -> str:
    places = np.arange(len(periods))

    def draw(axes: Axes) -> None:
        axes.bar(places, [period.left for period in periods], 0.6, color=figures.CONFIDENTIAL)
        axes.axhline(budget, color=INK, linestyle="--", linewidth=1.4, label="Budget")
        step = -(-len(periods) // 12)
        names = [shortened(period.name) for period in periods[::step]]
        axes.set_xticks(places[::step], names, rotation=45, ha="right")
        axes.set_xlim(-0.6, max(len(periods), 6) - 0.4)
        axes.set_ylim(0, 1.08 * budget)
        axes.grid(visible=False, axis="x")
        axes.set_ylabel("ε left")
        numbers_along(axes.yaxis)
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2)

    return inline_svg(draw, "What was left of the privacy budget after each period")
