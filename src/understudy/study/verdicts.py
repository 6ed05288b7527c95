"""A verdict on every table and figure: what the paper says of it, and whether this run agrees.

`checks` are the statements that a faithful reproduction must confirm.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from understudy.study import illustration, paper
from understudy.study import verdicts_privacy as privacy
from understudy.study import verdicts_utility as utility
from understudy.study.arms import Results, short
from understudy.study.catalogue import FIGURES, Layout, ViolinFigure
from understudy.study.findings import Agreement, Finding, Verdict, expect, number
from understudy.study.tables import ENOUGH, ERRORS, standard_errors, summarise

if TYPE_CHECKING:
    from pandas import DataFrame

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
    found = {name: _figure(results, figure) for name, figure in FIGURES.items()}
    found["table-1"] = privacy.counts(results)
    found["table-supplement"] = privacy.supplement_counts(results)
    return found


def _figure(results: Results, figure: ViolinFigure) -> Verdict:
    if figure.statistic != "lipschitz_bound":
        return utility.utility(results, figure)
    if figure.layout is Layout.DOWNSCALING:
        return privacy.downscaling_lipschitz(results)
    if "unweighted" in figure.mechanisms:
        return privacy.lipschitz_unweighted(results)
    return privacy.lipschitz(results)


def illustrated(summary: DataFrame) -> Verdict:
    """Judge the illustration by the means and standard deviations of its densities."""
    rows = summary.set_index(["given", "density"])

    def of(given: str, density: str, what: str) -> float:
        return float(rows[what].loc[(given, density)])

    plain, censored = illustration.POSTERIOR, illustration.CENSORED
    shift = of("table", censored, "mean") - of("table", plain, "mean")
    apart = abs(shift) / of("table", plain, "sd")
    record = of("record", censored, "sd") / of("record", plain, "sd")
    table = of("table", censored, "sd") / of("table", plain, "sd")
    displaced, flatter = apart > _DISPLACED, record > 1
    move = f"moves the posterior by {number(apart)} of its standard deviations"
    return Verdict(
        (
            Finding(
                Agreement.AGREES if displaced else Agreement.DIFFERS,
                f"given the table, censoring {'' if displaced else 'only '}{move}",
            ),
            Finding(
                Agreement.AGREES if flatter else Agreement.DIFFERS,
                f"given one record, the censored posterior is {number(record)} times as wide",
            ),
        ),
        beyond=(
            f"Given the whole table, the censored posterior is {number(table)} times as wide: "
            f"censoring flattens the factor of each record, and not of necessity their product."
        ),
    )


def checks(results: Results) -> tuple[Finding, ...]:
    """Return what must hold if this is the paper's study."""
    return (
        *privacy.lipschitz_ranges(results),
        *_counts(results),
        privacy.never_above(results),
        _utility_order(results),
        privacy.downscaling_lowers_bounds(results),
    )


def _utility_order(results: Results) -> Finding:
    found = utility.order_of_medians(results, "max_ecdf")
    return Finding(found.outcome, f"max-ECDF: {found.text}")


def _counts(results: Results) -> Iterator[Finding]:
    for (mechanism, epsilon), tolerance in _TOLERANCES.items():
        printed = paper.TABLE_1[mechanism, epsilon]
        ours = summarise(results.values(mechanism, "records", epsilon=epsilon))
        off = ours.mean / printed.mean - 1
        outcome = expect(abs(off) <= tolerance, results)
        chance = abs(standard_errors(ours, printed, results.replicates)) <= ERRORS
        if outcome is Agreement.DIFFERS and results.replicates < ENOUGH and chance:
            outcome = Agreement.OPEN
        done = "censors" if mechanism == "censor-uw" else "truncates"
        yield Finding(
            outcome,
            f"{short(mechanism)} {done} {number(ours.mean)} records on average at "
            f"ε = {epsilon:g}, {_percent(off)} from the paper’s {number(printed.mean)} (at most "
            f"{tolerance:.0%} allowed)",
        )


def _percent(share: float) -> str:
    return f"{round(share, 3) + 0.0:+.1%}".replace("-", "−")
