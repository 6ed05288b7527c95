"""What the paper says about privacy (sections 4.2 and 4.4), judged by this run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from understudy.study import paper
from understudy.study.arms import DOWNSCALED, Results, Values, short
from understudy.study.findings import (
    Agreement,
    Finding,
    Verdict,
    expect,
    expect_lower_means,
    listed,
    number,
    numbers,
)
from understudy.study.tables import ERRORS, CountRow, supplement_table, table_1

UNWEIGHTED_RANGE = (6.0, 17.0)
WEIGHTED_RANGE = (1.7, 3.8)
"""The paper's "around", with room for the extremes of another hundred tables."""
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
_OWN_FIT = "in Censor_w’s own fit fewer records reach the bound than the paper counts"


def bounds(results: Results, mechanism: str, epsilon: float, c1: float = 1.0) -> Values:
    """Return the Lipschitz bound of each replicate."""
    return results.values(mechanism, "lipschitz_bound", epsilon=epsilon, c1=c1)


def never_above(results: Results) -> Finding:
    """Judge that censoring holds every Lipschitz bound at or below ε/2."""
    excess = max(
        float(bounds(results, mechanism, epsilon).max()) - epsilon / 2
        for mechanism in ("censor-w", "censor-uw")
        for epsilon in paper.EPSILONS
    )
    holds = excess <= _ROUNDING
    says = "never exceed ε/2" if holds else f"exceed ε/2 by up to {number(excess)}"
    return Finding(expect(holds, results), f"the bounds of Censor_w and Censor_uw {says}")


def lipschitz(results: Results) -> Verdict:
    """Judge Figure 2."""
    truncated = {epsilon: bounds(results, "weighted-e", epsilon) for epsilon in paper.EPSILONS}
    above = [float(np.mean(values > epsilon / 2)) for epsilon, values in truncated.items()]
    shares = listed([f"{share:.0%}" for share in above])
    first, last = paper.EPSILONS[0], paper.EPSILONS[-1]
    below = float(np.mean(bounds(results, "censor-w", first) < first / 2 - _ROUNDING))
    typical = float(np.median(truncated[last]))
    gathers = abs(typical / (last / 2) - 1) <= _AT_TARGET
    return Verdict(
        (
            _concentrated(results, truncated),
            never_above(results),
            Finding(
                expect(min(above) > 0, results, needs_replicates=True),
                f"Weighted-e passes ε/2 in {shares} of the replicates at ε = 5, 4 and 3",
            ),
            Finding(
                expect(below >= _CLEAR_SHARE, results, needs_replicates=True),
                f"Censor_w stays below ε/2 in {below:.0%} of the replicates at ε = {first:g}",
            ),
            Finding(
                expect(gathers, results),
                f"at ε = {last:g} the bounds of Weighted-e {'' if gathers else 'do not '}gather at "
                f"ε/2 = {last / 2:g}: their median is {number(typical)}",
                reason=_REFIT if typical > last / 2 else None,
            ),
        )
    )


def _concentrated(results: Results, truncated: dict[float, Values]) -> Finding:
    whole = _sd(bounds(results, "weighted", paper.EPSILONS[0]))
    spreads = [_sd(values) for values in truncated.values()]
    holds = max(spreads) < whole
    return Finding(
        expect(holds, results, needs_replicates=True),
        f"the bounds of Weighted-e are {'more' if holds else 'not everywhere more'} concentrated "
        f"than those of Weighted (standard deviations {numbers(spreads)} at ε = 5, 4, 3 against "
        f"{number(whole)})",
    )


def _sd(values: Values) -> float:
    return float(values.std(ddof=1)) if values.size > 1 else 0.0


def lipschitz_ranges(results: Results) -> tuple[Finding, Finding]:
    """Judge the ranges of the Unweighted and the Weighted bounds."""
    found = []
    for mechanism, allowed, said in (
        ("unweighted", UNWEIGHTED_RANGE, paper.UNWEIGHTED_LIPSCHITZ),
        ("weighted", WEIGHTED_RANGE, paper.WEIGHTED_LIPSCHITZ),
    ):
        values = bounds(results, mechanism, paper.EPSILONS[0])
        low, high = float(values.min()), float(values.max())
        inside = allowed[0] < low and high < allowed[1]
        found.append(
            Finding(
                expect(inside, results),
                f"the bounds of {short(mechanism)} range from {number(low)} to {number(high)}, "
                f"{'inside' if inside else 'not inside'} {allowed[0]:g} to {allowed[1]:g} (the "
                f"paper: around {said[0]:g} to {said[1]:g})",
            )
        )
    return found[0], found[1]


def lipschitz_unweighted(results: Results) -> Verdict:
    """Judge the supplement's figure with the Unweighted bounds."""
    return Verdict(lipschitz_ranges(results))


def downscaling_lowers_bounds(results: Results) -> Finding:
    """Judge that downscaling lowers every Lipschitz bound."""
    pairs = [(_downscaled(results, m), _as_is(results, m)) for m in DOWNSCALED]
    outcome = expect_lower_means(results, pairs)
    means = listed(
        [
            f"from {number(_as_is(results, m).mean())} to {number(_downscaled(results, m).mean())} "
            f"for {short(m)}"
            for m in DOWNSCALED
        ]
    )
    verb = "lowers" if outcome is Agreement.AGREES else "does not clearly lower"
    return Finding(outcome, f"downscaling {verb} every mean Lipschitz bound ({means})")


def downscaling_lipschitz(results: Results) -> Verdict:
    """Judge Figure 6."""
    return Verdict((downscaling_lowers_bounds(results), *_more_concentrated(results)))


def _more_concentrated(results: Results) -> Iterator[Finding]:
    for mechanism in DOWNSCALED:
        before, after = _sd(_as_is(results, mechanism)), _sd(_downscaled(results, mechanism))
        holds = after < before
        text = (
            f"the bounds of {short(mechanism)} are {'more' if holds else 'not more'} concentrated "
            f"with downscaling (standard deviation {number(after)}, without {number(before)})"
        )
        yield Finding(
            expect(holds, results, needs_replicates=True),
            text,
            reason=_LESS_CONCENTRATED.get(mechanism),
        )


def _as_is(results: Results, mechanism: str) -> Values:
    return bounds(results, mechanism, paper.DOWNSCALED_EPSILON)


def _downscaled(results: Results, mechanism: str) -> Values:
    return bounds(results, mechanism, paper.DOWNSCALED_EPSILON, paper.DOWNSCALED_C1)


def counts(results: Results) -> Verdict:
    """Judge Table 1."""
    rows = table_1(results)
    return Verdict((*_rows_agree(results, rows), *_order_of_counts(results)))


def supplement_counts(results: Results) -> Verdict:
    """Judge the supplement's table."""
    rows = supplement_table(results)
    fewer = [
        (
            _counted(results, m, paper.DOWNSCALED_EPSILON, paper.DOWNSCALED_C1),
            _counted(results, m, paper.DOWNSCALED_EPSILON),
        )
        for m in ("weighted-e", "censor-w")
    ]
    outcome = expect_lower_means(results, fewer)
    verb = "fewer" if outcome is Agreement.AGREES else "not clearly fewer"
    return Verdict(
        (
            *_rows_agree(results, rows),
            Finding(outcome, f"with downscaling {verb} records are truncated or censored"),
        )
    )


def _rows_agree(results: Results, rows: Sequence[CountRow]) -> Iterator[Finding]:
    """Judge the means of each mechanism against the paper's."""
    for mechanism in dict.fromkeys(row.mechanism for row in rows):
        own = [row for row in rows if row.mechanism == mechanism]
        text = (
            f"the mean counts of {short(mechanism)} are {numbers(row.ours.mean for row in own)} "
            f"against the paper’s {numbers(row.printed.mean for row in own)}"
        )
        far = [row for row in own if row.differs]
        outcome = Agreement.DIFFERS if far else Agreement.AGREES
        yield Finding(outcome, text, reason=explanation(results, far) if far else None)


def explanation(results: Results, far: Sequence[CountRow]) -> str | None:
    """Return why these rows of one mechanism differ from the paper's, where that is known."""
    if all(row.mechanism == "weighted-e" and row.c1 != 1 for row in far):
        return _truncation(results)
    guesses = [row.guess for row in far if row.guess is not None]
    if not guesses:
        return None
    fits = all(abs(row.guess_errors or 0.0) <= ERRORS for row in far)
    closer = all(abs(row.guess_errors or 0.0) < abs(row.errors) for row in far)
    how = "fits" if fits else "is closer, but does not fit" if closer else "does not fit either"
    return (
        f"the paper counts something else than the records whose weighted score reaches ε/2 at any "
        f"draw, which is what is counted here; counting those whose unweighted |f| does, in "
        f"replicates where a weighted score does, gives {numbers(g.mean for g in guesses)}, which "
        f"{how}"
    )


def _truncation(results: Results) -> str | None:
    """Return what the formula says about downscaled truncation, if this run bears it out."""
    downscaled = _counted(results, "weighted-e", paper.DOWNSCALED_EPSILON, paper.DOWNSCALED_C1)
    epsilon = paper.DOWNSCALED_EPSILON / paper.DOWNSCALED_C1
    same = _counted(results, "weighted-e", epsilon)
    if not np.isclose(downscaled.mean(), same.mean(), rtol=0.02):
        return None
    printed = paper.SUPPLEMENT_TABLE["weighted-e", paper.DOWNSCALED_C1].mean
    return _SAME_TRUNCATION.format(
        ours=f"{number(downscaled.mean())} and {number(same.mean())}",
        printed=f"{number(printed)} and {number(paper.TABLE_1['weighted-e', epsilon].mean)}",
    )


def _order_of_counts(results: Results) -> Iterator[Finding]:
    rising = [
        (_counted(results, m, larger), _counted(results, m, smaller))
        for m in ("weighted-e", "censor-w", "censor-uw")
        for larger, smaller in pairwise(paper.EPSILONS)
    ]
    outcome = expect_lower_means(results, rising)
    verb = "rises" if outcome is Agreement.AGREES else "does not clearly rise"
    yield Finding(outcome, f"every count {verb} as ε falls")
    for fewer, more, done, reason in (
        ("censor-w", "censor-uw", "censors", None),
        ("weighted-e", "censor-w", "truncates", _OWN_FIT),
    ):
        pairs = [
            (_counted(results, fewer, epsilon), _counted(results, more, epsilon))
            for epsilon in paper.EPSILONS
        ]
        outcome = expect_lower_means(results, pairs)
        says = done if outcome is Agreement.AGREES else f"does not at every ε {done.rstrip('s')}"
        text = f"{short(fewer)} {says} fewer records than {short(more)} censors"
        yield Finding(outcome, text, reason=reason)


def _counted(results: Results, mechanism: str, epsilon: float, c1: float = 1.0) -> Values:
    return results.values(mechanism, "records", epsilon=epsilon, c1=c1)
