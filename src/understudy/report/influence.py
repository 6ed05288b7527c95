"""How far single records reach: their weights, their scores, and which of them were censored.

To a summary no record reaches further than its bound, so its section tells of the sums instead.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.report import figures
from understudy.report.figures import Picture
from understudy.report.table_sections import dependences
from understudy.report.wording import NOTHING, bounded, percent, readable, span

PARTS = 10
"""Into so many equally large parts the records are put, to see where they are censored."""


def facts(
    diagnostics: Mapping[str, Any], largest_score: NDArray[np.float64] | None, n: int
) -> list[tuple[str, str]]:
    """Return what the diagnostics say about how far single records moved the posterior."""
    censored, seconds = diagnostics.get("censored_records"), diagnostics.get("seconds")
    lipschitz, local = diagnostics.get("lipschitz_bound"), diagnostics.get("local_epsilon")
    if lipschitz is None and largest_score is not None and np.isinf(largest_score).any():
        # JSON holds no infinity, so the diagnostics say nothing just where there is no bound.
        lipschitz = local = math.inf
    time = ("Running time", NOTHING if seconds is None else f"{readable(seconds, digits=3)} s")
    if diagnostics.get("rounds") is not None:
        return [time]  # A summary has no posterior that a record could move.
    return [
        ("Lipschitz bound Δ", bounded(lipschitz)),
        ("Local ε = 2Δ", bounded(local)),
        (
            "Censored records",
            NOTHING if censored is None else f"{censored:,} of {n:,} ({percent(censored / n)})",
        ),
        ("Divergences", readable(diagnostics.get("divergences"))),
        time,
    ]


def stages(diagnostics: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return the stages of an anchored draw: weight, threshold, bound, effective candidates."""
    return [
        (
            str(number),
            readable(stage["alpha"]),
            readable(stage["threshold"]),
            bounded(stage["bound"]),
            readable(stage["effective_candidates"], digits=3),
        )
        for number, stage in enumerate(diagnostics.get("stages") or (), start=1)
    ]


def measured(diagnostics: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what a summary has measured, and how well its model explains that."""
    rounds = diagnostics.get("rounds")
    if rounds is None:
        return None
    return {
        "rounds": [
            (
                str(number),
                each["kind"],
                f"{each['entries']:,}",
                readable(each["epsilon"] if each.get("rho") is None else each["rho"]),
                readable(each["noise_sd"]),
            )
            for number, each in enumerate(rounds, start=1)
        ],
        "price": "ε" if rounds[0].get("rho") is None else "ρ",
        "dimension": diagnostics["dimension"],
        "left_out": _unmeasured(diagnostics),
        "by_chain": diagnostics["fit"].get("sampler") == "nuts",
        "p_value": percent(diagnostics["misfit"]["p_value"]),
        "warning": diagnostics["misfit"]["warning"],
        "attempts": diagnostics["fit"]["attempts"],
        "notes": diagnostics.get("notes") or (),
        "dependences": dependences(diagnostics.get("dependences") or ()),
    }


def _unmeasured(diagnostics: Mapping[str, Any]) -> int | None:
    """Return the directions that were left to the prior; None where no scores were measured."""
    directions = diagnostics["directions"]
    return None if directions is None else diagnostics["dimension"] - directions


def coarse_stages(diagnostics: Mapping[str, Any]) -> list[int]:
    """Return the stages at which so few candidates carried weight that the draw is a coarse one."""
    counts = [stage["effective_candidates"] for stage in diagnostics.get("stages") or ()]
    return [k for k, count in enumerate(counts, start=1) if count is not None and count < 10]


def mostly_censored(diagnostics: Mapping[str, Any], n: int) -> str | None:
    """Return the share of censored records where most of the table has little left to say."""
    censored = diagnostics.get("censored_records") or 0
    return percent(censored / n) if censored > n / 2 else None


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
        return {"svg": "", "caption": f"Every record has weight {readable(alpha[0])}: {meaning}."}
    return {
        "svg": figures.records(alpha, values, label, "Weight α", limits=(-0.03, 1.05)),
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
        f"add more than {bounded(bound)} to the log posterior, or take more away."
    )
    return {
        "svg": figures.records(
            largest_score, values, label, "Largest |score|", limits=(0, None), bound=bound
        ),
        "caption": f"Each point is a record: its largest |score| over the draws against its "
        f"{label}. {limit}"
        + _left_out(finite)
        + (f" Not shown because their score is infinite: {endless:,}." if endless else ""),
    }


def _left_out(records: int) -> str:
    most = figures.LARGEST_SCATTER
    return f" Shown are {most:,} of {records:,} records." if records > most else ""


def censored_where(
    largest_score: NDArray[np.float64] | None, values: NDArray[np.float64], bound: float | None
) -> list[tuple[str, ...]]:
    """Return how many records were censored in each tenth of the records, by their outcome."""
    if largest_score is None or bound is None or math.isinf(bound) or not values.size:
        return []
    censored = largest_score >= bound
    if not censored.any():
        return []
    cuts = np.unique(np.quantile(values, np.linspace(0, 1, PARTS + 1)))
    # Equal values are never parted, so where there are many of them there are fewer parts.
    part = np.clip(np.searchsorted(cuts, values, side="left") - 1, 0, max(len(cuts) - 2, 0))
    rows: list[tuple[str, ...]] = []
    for number in np.unique(part):
        inside = part == number
        where = span(float(values[inside].min()), float(values[inside].max()))
        held, hit = int(inside.sum()), int(censored[inside].sum())
        rows.append((where, f"{held:,}", f"{hit:,}", percent(hit / held)))
    return rows
