"""What each section of the report tells, in words and numbers that are ready to be shown."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.guarantee import SEEDED, Guarantee, Kind
from understudy.report import figures
from understudy.report.wording import (
    NOTHING,
    change,
    hundredths,
    percent,
    person,
    points,
    signed,
)
from understudy.utility import CategoricalUtility, Missing, Utility, complete

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pandas import DataFrame, Series

    from understudy.schema import Column, Schema

LARGEST_RHAT = 1.01
SMALLEST_ESS = 400

_BADGES = {
    Kind.STRICT: "✓ Strict guarantee",
    Kind.ASYMPTOTIC: "! Asymptotic, no strict guarantee",
    Kind.NONE: "✗ No guarantee",
}
_STATISTICS = {
    "mean": "Mean",
    "median": "Median",
    "q15": "15th percentile",
    "q90": "90th percentile",
}

Picture = dict[str, str]


def promise(guarantee: Guarantee) -> dict[str, Any]:
    """Return the guarantee as its card shows it."""
    stated = guarantee.epsilon
    return {
        "kind": str(guarantee.kind),
        "badge": _BADGES[guarantee.kind],
        "headline": guarantee.headline,
        "epsilons": [
            {
                "number": None if stated is None else person(stated[adjacency]),
                "words": f"when {words}",
                "name": str(adjacency),
                "asked": guarantee.asked is adjacency,
            }
            for adjacency, words in guarantee.changes.items()
        ],
        "conditional": stated is not None,
        "assumptions": guarantee.assumptions,
        "warning": SEEDED[0].upper() + SEEDED[1:] if guarantee.seeded else None,
        "facts": [
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
    utility: Mapping[str, Utility | CategoricalUtility],
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
    column: Column,
    confidential: Series[Any],
    synthetic: Series[Any],
    utility: Utility | CategoricalUtility,
) -> dict[str, Any]:
    confidential, synthetic = complete(confidential, column), complete(synthetic, column)
    missing = _missing_rows(utility.missing)
    if not (len(confidential) and len(synthetic)):
        rows = missing
        return {
            "name": column.name,
            "pictures": [],
            "distances": [],
            "head": "Statistic",
            "rows": rows,
        }
    if isinstance(utility, CategoricalUtility):
        names = tuple(utility.confidential)
        return {
            "name": column.name,
            "pictures": [
                {
                    "svg": figures.levels(confidential, synthetic, column.name, names),
                    "caption": "How often each level occurs in the confidential table (filled) "
                    "and in the synthetic one (hatched).",
                }
            ],
            "distances": [("Total variation", person(utility.total_variation))],
            "head": "Level",
            "rows": _level_rows(utility) + missing,
        }
    ours, theirs = (values.to_numpy(dtype=np.float64) for values in (confidential, synthetic))
    bounds = (column.lower, column.upper)
    return {
        "name": column.name,
        "pictures": [
            {
                "svg": figures.density(ours, theirs, column.name, bounds, whole=column.whole),
                "caption": f"Where the values lie within the declared bounds, {person(bounds[0])} "
                f"to {person(bounds[1])}.",
            },
            {
                "svg": figures.ecdf(ours, theirs, column.name, bounds),
                "caption": "The share of records up to each value. The black bar marks where the "
                "tables are furthest apart, the max-ECDF.",
            },
        ],
        "distances": [
            ("max-ECDF", person(utility.max_ecdf)),
            ("avg-ECDF", person(utility.avg_ecdf)),
        ],
        "head": "Statistic",
        "rows": _statistic_rows(utility) + missing,
    }


def _missing_rows(missing: Missing | None) -> list[tuple[str, ...]]:
    if missing is None:
        return []
    ours, theirs = missing.confidential, missing.synthetic
    cells = (hundredths(ours), hundredths(theirs), points(ours, theirs), change(ours, theirs))
    return [("Missing", *cells)]


def _statistic_rows(utility: Utility) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for key, name in _STATISTICS.items():
        ours, theirs = getattr(utility.confidential, key), getattr(utility.synthetic, key)
        rows.append(
            (name, person(ours), person(theirs), signed(theirs - ours), change(ours, theirs))
        )
    return rows


def _level_rows(utility: CategoricalUtility) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for level, ours in utility.confidential.items():
        theirs = utility.synthetic[level]
        rows.append(
            (
                level,
                hundredths(ours),
                hundredths(theirs),
                points(ours, theirs),
                change(ours, theirs),
            )
        )
    return rows


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


def influence_facts(
    diagnostics: Mapping[str, Any], largest_score: NDArray[np.float64] | None, n: int
) -> list[tuple[str, str]]:
    """Return what the diagnostics say about how far single records moved the posterior."""
    censored, seconds = diagnostics.get("censored_records"), diagnostics.get("seconds")
    lipschitz, local = diagnostics.get("lipschitz_bound"), diagnostics.get("local_epsilon")
    if lipschitz is None and largest_score is not None and np.isinf(largest_score).any():
        # JSON holds no infinity, so the diagnostics say nothing just where there is no bound.
        lipschitz = local = math.inf
    return [
        ("Lipschitz bound Δ", person(lipschitz)),
        ("Local ε = 2Δ", person(local)),
        (
            "Censored records",
            NOTHING if censored is None else f"{censored:,} of {n:,} ({percent(censored / n)})",
        ),
        ("Divergences", person(diagnostics.get("divergences"))),
        ("Running time", NOTHING if seconds is None else f"{person(seconds, digits=3)} s"),
    ]


def stages(diagnostics: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return the stages of an anchored draw: weight, threshold, bound, effective candidates."""
    return [
        (
            str(number),
            person(stage["alpha"]),
            person(stage["threshold"]),
            person(stage["bound"]),
            person(stage["effective_candidates"], digits=3),
        )
        for number, stage in enumerate(diagnostics.get("stages") or (), start=1)
    ]


def candidates_warning(diagnostics: Mapping[str, Any]) -> str | None:
    """Return a warning where so few candidates carried weight that the draw is a coarse one."""
    found = [stage["effective_candidates"] for stage in diagnostics.get("stages") or ()]
    low = [number for number, few in enumerate(found, start=1) if few is not None and few < 10]
    if not low:
        return None
    return (
        f"Fewer than 10 candidates carried weight at stage {', '.join(map(str, low))}: the draw is "
        "private all the same, but coarser than the posterior. More candidates or more stages help."
    )


def censoring_warning(diagnostics: Mapping[str, Any], n: int) -> str | None:
    """Return a warning where most of the table is censored and has little left to say."""
    censored = diagnostics.get("censored_records") or 0
    if censored <= n / 2:
        return None
    return (
        f"{percent(censored / n)} of the records are censored, so the synthetic table may say more "
        "about the prior than about them. A larger ε helps; so does measuring the columns in units "
        "in which their densities are close to one, because log-likelihoods are censored as they "
        "are."
    )


def weights(
    alpha: NDArray[np.float64] | None, values: NDArray[np.float64], label: str
) -> Picture | None:
    """Return the picture of the weights, or one sentence where they are all the same."""
    if alpha is None:
        return None
    if np.ptp(alpha) == 0:
        meaning = (
            "nothing is weighed down"
            if alpha[0] == 1
            else "the likelihood of the whole table is tempered evenly"
        )
        return {"svg": "", "caption": f"Every record has weight {person(alpha[0])}: {meaning}."}
    return {
        "svg": figures.weights(alpha, values, label),
        "caption": f"Each point is a record: its weight against its {label}. A record of weight 1 "
        "counts in full; a record of weight 0 does not move the parameters at all."
        + _left_out(values.size),
    }


def scores(
    largest_score: NDArray[np.float64] | None,
    values: NDArray[np.float64],
    bound: float | None,
    label: str,
) -> Picture | None:
    """Return the picture of each record's largest score over the draws."""
    if largest_score is None:
        return None
    finite = int(np.isfinite(largest_score).sum())
    endless = largest_score.size - finite
    limit = (
        "This mechanism does not censor, so nothing bounds how far a record moves the posterior."
        if bound is None or math.isinf(bound)
        else "A record that reaches the dashed line is censored there: at no draw does any record "
        f"add more than {person(bound)} to the log posterior, or take more away."
    )
    return {
        "svg": figures.scores(largest_score, values, bound, label),
        "caption": f"Each point is a record: its largest |score| over the draws against its "
        f"{label}. {limit}"
        + _left_out(finite)
        + (f" Not shown because their score is infinite: {endless:,}." if endless else ""),
    }


def _left_out(records: int) -> str:
    most = figures.LARGEST_SCATTER
    return f" Shown are {most:,} of {records:,} records." if records > most else ""


def convergence(diagnostics: Mapping[str, Any], sampler: str) -> dict[str, Any]:
    """Return the table of everything that was checked, and whether the chains can be trusted."""
    parameters: Mapping[str, Any] = diagnostics.get("parameters") or {}
    # The gate also looks at the log target and at log-likelihoods, which are no parameters.
    quantities = {**(diagnostics.get("gate") or {}), **parameters}
    chain = sampler == "nuts"
    rows = [_quantity(name, numbers, chain) for name, numbers in quantities.items()]
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
    else:
        sentence = f"All {len(rows):,} quantities pass: the chains agree and are long enough."
    return {
        "rows": rows,
        "sentence": sentence,
        "failed": failed > 0,
        "marks": [("R-hat at most", str(LARGEST_RHAT)), ("ESS at least", str(SMALLEST_ESS))],
    }


def _quantity(name: str, numbers: Mapping[str, Any], chain: bool) -> dict[str, Any]:
    rhat, ess = numbers.get("rhat"), numbers.get("ess_bulk")
    # Written so that a number that is missing or not a number fails.
    passed = rhat is not None and ess is not None and rhat <= LARGEST_RHAT and ess >= SMALLEST_ESS
    return {
        "name": name,
        "cells": (
            person(numbers.get("mean")),
            person(numbers.get("sd")),
            NOTHING if rhat is None else f"{rhat:.3f}",
            NOTHING if ess is None else f"{ess:,.0f}",
        ),
        "passed": passed if chain else None,
    }
