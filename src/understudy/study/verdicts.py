"""A verdict on every table and figure: what the paper says of it, and whether this run agrees.

`checks` are the statements that a faithful reproduction must confirm.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from understudy.study import illustration, paper
from understudy.study import verdicts_privacy as privacy
from understudy.study import verdicts_utility as utility
from understudy.study.arms import Results, short
from understudy.study.catalogue import DOWNSCALING, FIGURES, ViolinFigure
from understudy.study.findings import Agreement, Finding, Verdict, expect, number
from understudy.study.tables import ENOUGH, ERRORS, standard_errors, summarise

_DISPLACED = 2.0
"""Standard deviations between two posteriors that have come apart."""
_TOLERANCES = {
    ("censor-uw", 5.0): 0.06,
    ("censor-uw", 4.0): 0.06,
    ("censor-uw", 3.0): 0.06,
    ("weighted-e", 4.0): 0.25,
    ("weighted-e", 3.0): 0.08,
}
"""How far a mean count may lie from the paper's, relative to it."""


def verdicts(results: Results) -> dict[str, Verdict]:
    """Return the verdict on every figure and table of the simulation, by name."""
    return {
        **{name: _figure(results, figure) for name, figure in FIGURES.items()},
        "table-1": privacy.counts(results),
        "table-supplement": privacy.supplement_counts(results),
    }


def _figure(results: Results, figure: ViolinFigure) -> Verdict:
    if figure.statistic != "lipschitz_bound":
        return utility.utility(results, figure)
    if figure.layout is DOWNSCALING:
        return privacy.downscaling_lipschitz(results)
    if "unweighted" in figure.mechanisms:
        return Verdict(tuple(privacy.lipschitz_ranges(results)))
    return privacy.lipschitz(results)


def illustrated(summary: pd.DataFrame) -> Verdict:
    """Judge the illustration by the means and standard deviations of its densities."""
    by_density = summary.set_index(["density", "given"])
    plain, censored = (
        by_density.loc[density] for density in (illustration.POSTERIOR, illustration.CENSORED)
    )
    apart = (abs(censored["mean"] - plain["mean"]) / plain["sd"])["table"]
    widths = censored["sd"] / plain["sd"]
    displaced = Agreement.AGREES if apart > _DISPLACED else Agreement.DIFFERS
    return Verdict(
        (
            Finding(
                displaced,
                f"given the table, censoring {displaced.says('', 'only ')}moves the posterior by "
                f"{number(apart)} of its standard deviations",
            ),
            Finding(
                Agreement.AGREES if widths["record"] > 1 else Agreement.DIFFERS,
                f"given one record, the censored posterior is {number(widths['record'])} times as "
                f"wide",
            ),
        ),
        beyond=(
            f"Given the whole table, the censored posterior is {number(widths['table'])} times as "
            f"wide: censoring flattens the factor of each record, and not of necessity their "
            f"product."
        ),
    )


def checks(results: Results) -> tuple[Finding, ...]:
    """Return what must hold if this is the paper's study."""
    order = utility.order_of_medians(results, "max_ecdf")
    return (
        *privacy.lipschitz_ranges(results),
        *_counts(results),
        privacy.never_above(results),
        Finding(order.agreement, f"max-ECDF: {order.text}"),
        privacy.downscaling_lowers_bounds(results),
    )


def _counts(results: Results) -> Iterator[Finding]:
    for (mechanism, epsilon), tolerance in _TOLERANCES.items():
        printed = paper.TABLE_1[mechanism, epsilon]
        ours = summarise(results.values(mechanism, "records", epsilon=epsilon))
        off = ours.mean / printed.mean - 1
        agreement = expect(abs(off) <= tolerance, results)
        chance = abs(standard_errors(ours, printed, results.replicates)) <= ERRORS
        if agreement is Agreement.DIFFERS and results.replicates < ENOUGH and chance:
            agreement = Agreement.OPEN
        done = "censors" if mechanism == "censor-uw" else "truncates"
        percent = f"{round(off, 3) + 0.0:+.1%}".replace("-", "−")
        yield Finding(
            agreement,
            f"{short(mechanism)} {done} {number(ours.mean)} records on average at "
            f"ε = {epsilon:g}, {percent} from the paper’s {number(printed.mean)} (at most "
            f"{tolerance:.0%} allowed)",
        )
