"""What each section of the report tells, in words and numbers that are ready to be shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.domain.schema import Column, Schema
from understudy.privacy.guarantee import SEEDED, Guarantee
from understudy.report import figures, plain
from understudy.report.wording import BADGES, NOTHING, number_row, readable, share_row, span
from understudy.utility.marginal import STATISTICS, ColumnUtility, Utility

if TYPE_CHECKING:
    from pandas import DataFrame, Series

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
            ("Weights", str(guarantee.weights)),
            ("Sampler", guarantee.sampler),
            ("Draws of the parameters", f"{guarantee.draws:,}"),
            ("Stages", f"{guarantee.stages:,}"),
            ("Rows in each synthetic table", f"{guarantee.rows:,}"),
            ("Ledger", guarantee.charged or "not charged to any ledger"),
        ],
    }


def columns(
    schema: Schema,
    confidential: DataFrame,
    synthetic: DataFrame,
    utility: Mapping[str, ColumnUtility],
) -> list[dict[str, Any]]:
    """Return the pictures and numbers of every confidential column."""
    return [
        _column(
            column,
            confidential[column.name].dropna(),
            synthetic[column.name].dropna(),
            utility[column.name],
        )
        for column in schema.confidential
    ]


def _column(
    column: Column, confidential: Series[Any], synthetic: Series[Any], utility: ColumnUtility
) -> dict[str, Any]:
    head, distances, pictures, rows = "Statistic", [], [], []
    if len(confidential) and len(synthetic):
        if isinstance(utility, Utility):
            distances = [("max-ECDF", utility.max_ecdf), ("avg-ECDF", utility.avg_ecdf)]
            pictures = _numbers(column, confidential, synthetic)
            both = utility.confidential, utility.synthetic
            rows = [
                number_row(label[0].upper() + label[1:], *(getattr(each, key) for each in both))
                for key, label in STATISTICS.items()
            ]
        else:
            head, distances = "Level", [("Total variation", utility.total_variation)]
            names = tuple(utility.confidential)
            drawn = figures.levels(confidential, synthetic, column.name, names)
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
    real, made = (values.to_numpy(dtype=np.float64) for values in (confidential, synthetic))
    bounds = (column.lower, column.upper)
    return [
        {
            "svg": figures.density(real, made, column.name, bounds, whole=column.whole),
            "caption": f"Where the values lie within the declared bounds, {span(*bounds)}.",
        },
        {
            "svg": figures.ecdf(real, made, column.name, bounds),
            "caption": "The share of records up to each value. The black bar marks where the "
            "tables are furthest apart, the max-ECDF.",
        },
        {
            "svg": figures.qq(real, made, column.name),
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
    """Return the table of everything that was checked, and whether the chains can be trusted."""
    parameters: Mapping[str, Any] = diagnostics.get("parameters") or {}
    # The gate also looks at the log target and at log-likelihoods, which are no parameters.
    quantities = {**(diagnostics.get("gate") or {}), **parameters}
    limits: Mapping[str, Any] = diagnostics.get("limits") or {}
    chain = sampler == "nuts"
    rows = [
        _quantity(name, numbers, limits if chain else None) for name, numbers in quantities.items()
    ]
    failed = sum(row["passed"] is False for row in rows)
    if not rows:
        sentence = "This mechanism fits no model, so there is no chain that has to converge."
    elif not chain:
        sentence = "The parameters were not drawn by a chain, so nothing had to converge."
    elif failed:
        sentence = (
            f"{failed:,} of {len(rows):,} quantities miss the mark. Unless they are components of "
            "a mixture that merely swapped labels, the draw may be far from its target, and a "
            "guarantee that assumes convergence does not hold."
        )
    elif _too_many_diverged(diagnostics, limits):
        failed = 1
        sentence = (
            "More trajectories diverged than the gate allows: the draw may be far from its target, "
            "and a guarantee that assumes convergence does not hold."
        )
    else:
        sentence = f"All {len(rows):,} quantities pass: the chains agree and are long enough."
    return {
        "rows": rows,
        "chain": chain,
        "sentence": sentence,
        "failed": failed > 0,
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
    return {
        "name": name,
        "cells": (
            readable(numbers.get("mean")),
            readable(numbers.get("sd")),
            NOTHING if rhat is None else f"{rhat:.3f}",
            NOTHING if ess is None else f"{ess:,.0f}",
        ),
        "passed": None if limits is None else _passed(rhat, ess, limits),
    }


def _passed(rhat: float | None, ess: float | None, limits: Mapping[str, Any]) -> bool:
    """Whether a quantity meets the gate's limits: not if a number or a limit is missing or NaN."""
    largest, smallest = limits.get("rhat"), limits.get("ess_bulk")
    if rhat is None or ess is None or largest is None or smallest is None:
        return False
    return bool(rhat <= largest and ess >= smallest)
