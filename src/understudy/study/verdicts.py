"""A verdict on every table and figure: what the paper says of it, and whether this run agrees.

What it says about privacy (sections 4.2 and 4.4) is judged here, and utility in
`verdicts_utility.py`. `checks` are the statements that a faithful reproduction must confirm.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from understudy.report.wording import listed
from understudy.study import illustration, paper
from understudy.study.arms import DOWNSCALED, TARGETED, Results, Values, short
from understudy.study.catalogue import FIGURES
from understudy.study.findings import (
    Agreement,
    Finding,
    Verdict,
    expect,
    expect_lower_means,
    number,
    numbers,
)
from understudy.study.tables import (
    ENOUGH,
    ERRORS,
    CountRow,
    standard_errors,
    summarise,
    supplement_table,
    table_1,
)
from understudy.study.verdicts_utility import order_of_medians, utility

_RANGES = {
    "unweighted": ((6.0, 17.0), paper.UNWEIGHTED_LIPSCHITZ),
    "weighted": ((1.7, 3.8), paper.WEIGHTED_LIPSCHITZ),
}
"""The paper's "around", with room for the extremes of another hundred tables before it."""
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
_CLEAR_SHARE = 0.1
_AT_TARGET = 0.15
_ROUNDING = 1e-9

_REFIT = (
    "truncation is decided by the Unweighted fit, and the refit without the truncated records "
    "moves to where the others reach further"
)
_LESS_CONCENTRATED = {
    "weighted-e": "fewer of its records are truncated, so that it spreads as Weighted does",
    "censor-w": "without downscaling nearly all its bounds are equal, being censored at ε/2",
}
_SAME_TRUNCATION = (
    "0.8·α·f > 4/2 is the same as α·f > 5/2: by the paper’s formula as many records must be "
    "truncated at ε = 4 with c₁ = 0.8 as at ε = 5 with c₁ = 1, and so it is here ({ours}), but not "
    "in the paper ({printed})"
)
_OTHER_COUNT = (
    "the paper counts something else than the records whose weighted score reaches ε/2 at any "
    "draw, which is what is counted here; counting those whose unweighted |f| does, in "
    "replicates where a weighted score does, gives {guesses}, which {fits}"
)
_OWN_FIT = "in Censor_w’s own fit fewer records reach the bound than the paper counts"


def verdicts(results: Results) -> dict[str, Verdict]:
    """Return the verdict on every figure and table of the simulation, by name."""
    findings = {
        "lipschitz": _lipschitz(results),
        "lipschitz-unweighted": _ranges(results),
        "downscaling-lipschitz": [_lowered_bounds(results), *_more_concentrated(results)],
        "table-1": [*_rows_agree(results, table_1(results)), *_order_of_counts(results)],
        "table-supplement": [*_rows_agree(results, supplement_table(results)), _fewer(results)],
    }
    return {
        **{name: utility(results, FIGURES[name]) for name in FIGURES if name not in findings},
        **{name: Verdict(tuple(each)) for name, each in findings.items()},
    }


def checks(results: Results) -> tuple[Finding, ...]:
    """Return what must hold if this is the paper's study."""
    order = order_of_medians(results, "max_ecdf")
    return (
        *_ranges(results),
        *_allowed_counts(results),
        _never_above(results),
        Finding(order.agreement, f"max-ECDF: {order.text}"),
        _lowered_bounds(results),
    )


def illustrated(summary: pd.DataFrame) -> Verdict:
    """Judge the illustration by the means and standard deviations of its densities."""
    by_density = summary.set_index(["density", "given"])
    plain, censored = (
        by_density.loc[density] for density in (illustration.POSTERIOR, illustration.CENSORED)
    )
    apart = (abs(censored["mean"] - plain["mean"]) / plain["sd"])["table"]
    widths = censored["sd"] / plain["sd"]
    return Verdict(
        (
            Finding(
                expect(apart > _DISPLACED),
                f"given the table, censoring [|only ]moves the posterior by {number(apart)} of its "
                f"standard deviations",
            ),
            Finding(
                expect(widths["record"] > 1),
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


def _allowed_counts(results: Results) -> Iterator[Finding]:
    """Judge the mean counts that must be those of the paper, within what is allowed."""
    for (mechanism, epsilon), tolerance in _TOLERANCES.items():
        printed = paper.TABLE_1[mechanism, epsilon]
        ours = summarise(results.values(mechanism, "records", epsilon=epsilon))
        off = ours.mean / printed.mean - 1
        agreement = expect(abs(off) <= tolerance)
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


def _never_above(results: Results) -> Finding:
    """Judge that censoring holds every Lipschitz bound at or below ε/2."""
    excess = max(
        _bounds(results, mechanism, epsilon).max() - epsilon / 2
        for mechanism in ("censor-w", "censor-uw")
        for epsilon in paper.EPSILONS
    )
    return Finding(
        expect(excess <= _ROUNDING),
        f"the bounds of Censor_w and Censor_uw [never exceed ε/2|exceed ε/2 by up to "
        f"{number(excess)}]",
    )


def _lipschitz(results: Results) -> Iterator[Finding]:
    """Judge Figure 2."""
    truncated = {epsilon: _bounds(results, "weighted-e", epsilon) for epsilon in paper.EPSILONS}
    spreads, weighted = [_sd(v) for v in truncated.values()], _sd(_bounds(results, "weighted"))
    holds = max(spreads) < weighted
    yield Finding(
        expect(holds, results),
        f"the bounds of Weighted-e are {'more' if holds else 'not everywhere more'} concentrated "
        f"than those of Weighted (standard deviations {numbers(spreads)} at ε = 5, 4, 3 against "
        f"{number(weighted)})",
    )
    yield _never_above(results)
    above = [float(np.mean(values > epsilon / 2)) for epsilon, values in truncated.items()]
    yield Finding(
        expect(min(above) > 0, results),
        f"Weighted-e passes ε/2 in {listed([f'{share:.0%}' for share in above])} of the "
        f"replicates at ε = 5, 4 and 3",
    )
    first, last = paper.EPSILONS[0], paper.EPSILONS[-1]
    below = float(np.mean(_bounds(results, "censor-w", first) < first / 2 - _ROUNDING))
    yield Finding(
        expect(below >= _CLEAR_SHARE, results),
        f"Censor_w stays below ε/2 in {below:.0%} of the replicates at ε = {first:g}",
    )
    typical = float(np.median(truncated[last]))
    yield Finding(
        expect(abs(typical / (last / 2) - 1) <= _AT_TARGET),
        f"at ε = {last:g} the bounds of Weighted-e [|do not ]gather at ε/2 = {last / 2:g}: their "
        f"median is {number(typical)}",
        reason=_REFIT if typical > last / 2 else None,
    )


def _ranges(results: Results) -> Iterator[Finding]:
    """Judge the ranges of the Unweighted and the Weighted bounds."""
    for mechanism, (allowed, said) in _RANGES.items():
        values = _bounds(results, mechanism)
        low, high = values.min(), values.max()
        yield Finding(
            expect(bool(allowed[0] < low and high < allowed[1])),
            f"the bounds of {short(mechanism)} range from {number(low)} to {number(high)}, "
            f"[|not ]inside {allowed[0]:g} to {allowed[1]:g} (the paper: around {said[0]:g} to "
            f"{said[1]:g})",
        )


def _lowered_bounds(results: Results) -> Finding:
    """Judge that downscaling lowers every Lipschitz bound."""
    pairs = [results.with_and_without_downscaling(m, "lipschitz_bound") for m in DOWNSCALED]
    means = listed(
        [
            f"from {number(before.mean())} to {number(after.mean())} for {short(mechanism)}"
            for mechanism, (after, before) in zip(DOWNSCALED, pairs, strict=True)
        ]
    )
    return Finding(
        expect_lower_means(results, pairs),
        f"downscaling [lowers|does not clearly lower] every mean Lipschitz bound ({means})",
    )


def _more_concentrated(results: Results) -> Iterator[Finding]:
    for mechanism in DOWNSCALED:
        pair = results.with_and_without_downscaling(mechanism, "lipschitz_bound")
        after, before = map(_sd, pair)
        holds = after < before
        yield Finding(
            expect(holds, results),
            f"the bounds of {short(mechanism)} are {'more' if holds else 'not more'} concentrated "
            f"with downscaling (standard deviation {number(after)}, without {number(before)})",
            reason=_LESS_CONCENTRATED.get(mechanism),
        )


def _fewer(results: Results) -> Finding:
    """Judge that downscaling lowers the counts of the supplement's table."""
    pairs = [results.with_and_without_downscaling(m, "records") for m in ("weighted-e", "censor-w")]
    return Finding(
        expect_lower_means(results, pairs),
        "with downscaling [|not clearly ]fewer records are truncated or censored",
    )


def _rows_agree(results: Results, rows: Sequence[CountRow]) -> Iterator[Finding]:
    """Judge the means of each mechanism against the paper's."""
    for mechanism in dict.fromkeys(row.mechanism for row in rows):
        own = [row for row in rows if row.mechanism == mechanism]
        far = [row for row in own if row.differs]
        yield Finding(
            Agreement.DIFFERS if far else Agreement.AGREES,
            f"the mean counts of {short(mechanism)} are {numbers(row.ours.mean for row in own)} "
            f"against the paper’s {numbers(row.printed.mean for row in own)}",
            reason=_explanation(results, far) if far else None,
        )


def _explanation(results: Results, far: Sequence[CountRow]) -> str | None:
    """Return why these rows of one mechanism differ from the paper's, where that is known."""
    if all(row.mechanism == "weighted-e" and row.c1 != 1 for row in far):
        return _truncation(results)
    guesses = [row.guess.mean for row in far if row.guess is not None]
    if not guesses:
        return None
    fits = "does not fit either"
    if all(abs(row.guess_errors or 0.0) <= ERRORS for row in far):
        fits = "fits"
    elif all(abs(row.guess_errors or 0.0) < abs(row.errors) for row in far):
        fits = "is closer, but does not fit"
    return _OTHER_COUNT.format(guesses=numbers(guesses), fits=fits)


def _truncation(results: Results) -> str | None:
    """Return what the formula says about downscaled truncation, if this run bears it out."""
    downscaled, _ = results.with_and_without_downscaling("weighted-e", "records")
    epsilon = paper.DOWNSCALED_EPSILON / paper.DOWNSCALED_C1
    same = results.values("weighted-e", "records", epsilon=epsilon)
    if not np.isclose(downscaled.mean(), same.mean(), rtol=0.02):
        return None
    printed = paper.SUPPLEMENT_TABLE["weighted-e", paper.DOWNSCALED_C1].mean
    return _SAME_TRUNCATION.format(
        ours=f"{number(downscaled.mean())} and {number(same.mean())}",
        printed=f"{number(printed)} and {number(paper.TABLE_1['weighted-e', epsilon].mean)}",
    )


def _order_of_counts(results: Results) -> Iterator[Finding]:
    rising = [
        pair
        for mechanism in TARGETED
        for pair in pairwise(
            results.values(mechanism, "records", epsilon=e) for e in paper.EPSILONS
        )
    ]
    yield Finding(
        expect_lower_means(results, rising),
        "every count [rises|does not clearly rise] as ε falls",
    )
    for fewer, more, verb, reason in (
        ("censor-w", "censor-uw", "censor", None),
        ("weighted-e", "censor-w", "truncate", _OWN_FIT),
    ):
        pairs = [results.losses(fewer, more, "records", epsilon) for epsilon in paper.EPSILONS]
        yield Finding(
            expect_lower_means(results, pairs),
            f"{short(fewer)} [{verb}s|does not at every ε {verb}] fewer records than {short(more)} "
            f"censors",
            reason=reason,
        )


def _bounds(results: Results, mechanism: str, epsilon: float | None = None) -> Values:
    return results.values(mechanism, "lipschitz_bound", epsilon=epsilon)


def _sd(values: Values) -> float:
    return float(values.std(ddof=1)) if values.size > 1 else 0.0
