"""What the paper says about utility (sections 4.3 and 4.4), judged by this run."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from understudy.study import paper
from understudy.study.arms import (
    ANALYSES,
    DOWNSCALED,
    OURS,
    STATISTICS,
    WITHOUT_TARGET,
    Results,
    short,
)
from understudy.study.catalogue import BAYESIAN, SYNTHESISERS, TARGETED, Layout, ViolinFigure
from understudy.study.findings import (
    Agreement,
    Finding,
    Order,
    Verdict,
    by_epsilon,
    compare,
    expect,
    expect_lower,
    expect_not_higher,
    listed,
    loss,
    number,
    numbers,
)

_ALMOST_ALL = 0.75
_BEST_BY_PAPER = {"max_ecdf": (5.0, 4.0, 3.0), "avg_ecdf": (4.0, 3.0)}
"""The ε at which the paper finds Censor_w best of those with a target."""
_WIDE_BINS = "its error comes from the width of its ln n bins, and hardly from the noise"
_DROPPED = "a truncated record is lost to the fit, and a censored one is not"
_UNTOUCHED = (
    "with c₂ = 0 downscaling multiplies every log-likelihood of Weighted by the same c₁, which "
    "leaves its posterior in place and makes it wider"
)
_FEW_CENSORED = "even without it only {censored} of {records} records are censored on average"
_NARROW = "censoring makes its fit too narrow, which an upper percentile shows most"
_OFFSET = "it errs upwards in the mean and is too narrow, which offset each other up there"


def order_of_medians(results: Results, statistic: str) -> Finding:
    """Judge Weighted ≤ Censor_w ≤ Censor_uw at every ε."""
    ordered = ("weighted", "censor-w", "censor-uw")
    pairs, texts = [], {}
    for epsilon in paper.EPSILONS:
        values = [loss(results, m, statistic, epsilon=epsilon) for m in ordered]
        pairs += list(pairwise(values))
        texts[epsilon] = numbers(float(np.median(each)) for each in values)
    outcome = expect_not_higher(results, pairs)
    reversed_ = [p for p in pairs if np.median(p[0]) > np.median(p[1])]
    if outcome is not Agreement.AGREES:
        says = "do not all rise"
    else:
        says = "rise, up to Monte Carlo error," if reversed_ else "rise"
    return Finding(
        outcome,
        f"the medians {says} from Weighted over Censor_w to Censor_uw ({by_epsilon(texts)})",
    )


def ecdf(results: Results, statistic: str) -> Verdict:
    """Judge Figure 3 or Figure 4."""
    return Verdict(
        (
            order_of_medians(results, statistic),
            _best_with_target(results, statistic),
            *(_weighted_e_at_largest(results) if statistic == "avg_ecdf" else ()),
            *_falling(results, statistic),
            _histogram(results, statistic),
        ),
        beyond=_beyond(results, statistic),
    )


def _best_with_target(results: Results, statistic: str) -> Finding:
    epsilons = _BEST_BY_PAPER[statistic]
    pairs = [
        (
            loss(results, "censor-w", statistic, epsilon=epsilon),
            loss(results, other, statistic, epsilon=epsilon),
        )
        for epsilon in epsilons
        for other in ("weighted-e", "censor-uw", "ph")
    ]
    outcome = expect_not_higher(results, pairs)
    verb = "has" if outcome is Agreement.AGREES else "does not have"
    where = listed([f"{epsilon:g}" for epsilon in epsilons])
    return Finding(
        outcome, f"Censor_w {verb} the lowest median of those with a target at ε = {where}"
    )


def _weighted_e_at_largest(results: Results) -> Iterator[Finding]:
    epsilon = paper.EPSILONS[0]
    truncated = loss(results, "weighted-e", "avg_ecdf", epsilon=epsilon)
    censored = loss(results, "censor-w", "avg_ecdf", epsilon=epsilon)
    outcome = expect_lower(results, [compare(truncated, censored)])
    verb = "is" if outcome is Agreement.AGREES else "is not"
    text = (
        f"Weighted-e {verb} lower than Censor_w at ε = {epsilon:g} (medians "
        f"{number(float(np.median(truncated)))} and {number(float(np.median(censored)))})"
    )
    yield Finding(outcome, text, reason=_DROPPED)


def _falling(results: Results, statistic: str) -> Iterator[Finding]:
    """Judge that utility falls with ε, mechanism by mechanism."""
    for mechanism in (*TARGETED, "ph"):
        values = [loss(results, mechanism, statistic, epsilon=e) for e in paper.EPSILONS]
        orders = [compare(a, b) for a, b in pairwise(values)]
        outcome = expect_lower(results, orders)
        medians = numbers(float(np.median(each)) for each in values)
        says = "deteriorates"
        if outcome is not Agreement.AGREES:
            says = "does not clearly deteriorate at every step"
        flat = mechanism == "ph" and Order.HIGHER not in orders
        yield Finding(
            outcome,
            f"{short(mechanism)} {says} as ε falls (medians {medians})",
            reason=_WIDE_BINS if flat else None,
        )


def _histogram(results: Results, statistic: str) -> Finding:
    """Judge that PH is worse than almost all of the Bayesian synthesisers."""
    exceptions, total = [], 0
    for epsilon in paper.EPSILONS:
        ph = np.median(loss(results, "ph", statistic, epsilon=epsilon))
        for mechanism in BAYESIAN:
            total += 1
            if np.median(loss(results, mechanism, statistic, epsilon=epsilon)) >= ph:
                exceptions.append(f"{short(mechanism)} at ε = {epsilon:g}")
    worse = total - len(exceptions)
    text = f"the median of PH is worse than {worse} of {total} of the Bayesian synthesisers"
    if exceptions:
        text += f"; not worse than {listed(exceptions)}"
    return Finding(expect(worse >= _ALMOST_ALL * total, results), text)


def _beyond(results: Results, statistic: str) -> str:
    """Report what the paper does not have."""
    texts = [
        f"{numbers(_medians(results, m, statistic))} for {OURS[m].removesuffix(' (DP)')}"
        for m in OURS
    ]
    plain = float(np.median(results.values("unweighted", statistic)))
    return (
        f"Not in the paper: the medians at ε = 5, 4, 3 are {listed(texts)}. Unweighted, which has "
        f"no privacy at all, has {number(plain)}."
    )


def _medians(results: Results, mechanism: str, statistic: str) -> list[float]:
    return [
        float(np.median(loss(results, mechanism, statistic, epsilon=epsilon)))
        for epsilon in paper.EPSILONS
    ]


def analysis(results: Results, figure: ViolinFigure) -> Verdict:
    """Judge a figure of the mean, the median or a percentile."""
    epsilons = [panel.epsilon for panel in figure.panels]
    distances = _distances(results, figure.statistic, epsilons)
    if figure.number is None:
        return Verdict((), beyond=f"The paper has no such figure. {distances}")
    return Verdict(
        (
            _closest(results, figure.statistic, epsilons, "weighted"),
            _closest(results, figure.statistic, epsilons, "censor-w"),
            *_censor_uw_farther(results, figure.statistic, epsilons),
        ),
        beyond=distances,
    )


def _distances(results: Results, statistic: str, epsilons: list[float]) -> str:
    """Report the distances by which the mechanisms are judged."""
    texts = []
    for mechanism in (*SYNTHESISERS, *OURS):
        own = epsilons[:1] if mechanism in WITHOUT_TARGET else epsilons
        means = [float(loss(results, mechanism, statistic, epsilon=e).mean()) for e in own]
        texts.append(f"{short(mechanism)} {numbers(means)}")
    where = ", ".join(f"{epsilon:g}" for epsilon in epsilons)
    return (
        f"Mean distance of the synthetic from the confidential table’s "
        f"{STATISTICS[statistic].lower()} at ε = {where}: {'; '.join(texts)}."
    )


def _closest(results: Results, statistic: str, epsilons: list[float], mechanism: str) -> Finding:
    """Judge that no other synthesiser of the paper is closer, Weighted set aside."""
    beaten = []
    others = [other for other in SYNTHESISERS if other not in ("weighted", mechanism)]
    for epsilon in epsilons:
        own = loss(results, mechanism, statistic, epsilon=epsilon)
        for other in others:
            theirs = loss(results, other, statistic, epsilon=epsilon)
            if expect_not_higher(results, [(own, theirs)]) is not Agreement.AGREES:
                beaten.append(f"{short(other)} at ε = {epsilon:g}")
    of = "of all" if mechanism == "weighted" else "after Weighted"
    if not beaten:
        return Finding(
            Agreement.AGREES, f"{short(mechanism)} is the closest {of}, up to Monte Carlo error"
        )
    text = f"{short(mechanism)} is not the closest {of}: closer is {listed(beaten)}"
    narrow = statistic == "q90" and mechanism == "censor-w" and _below(results, mechanism)
    outcome = expect(False, results, needs_replicates=True)
    return Finding(outcome, text, reason=_NARROW if narrow else None)


def _below(results: Results, mechanism: str) -> bool:
    """Whether the mechanism's upper percentile errs downwards at the smallest ε."""
    own = results.values(mechanism, "q90", epsilon=paper.EPSILONS[-1])
    return bool(own.mean() < results.values("data", "q90").mean())


def _censor_uw_farther(
    results: Results, statistic: str, epsilons: list[float]
) -> Iterator[Finding]:
    orders = {
        f"{epsilon:g}": compare(
            loss(results, "censor-w", statistic, epsilon=epsilon),
            loss(results, "censor-uw", statistic, epsilon=epsilon),
        )
        for epsilon in epsilons
    }
    farther = [epsilon for epsilon, order in orders.items() if order is Order.LOWER]
    rest = [epsilon for epsilon in orders if epsilon not in farther]
    if farther:
        text = f"Censor_uw is farther off than Censor_w at ε = {listed(farther)}"
        yield Finding(Agreement.AGREES, text)
    if rest:
        outcome = expect_lower(results, [orders[epsilon] for epsilon in rest])
        text = f"Censor_uw is not clearly farther off than Censor_w at ε = {listed(rest)}"
        offset = statistic == "q90" and _below(results, "censor-uw")
        yield Finding(outcome, text, reason=_OFFSET if offset else None)


def downscaling(results: Results, statistic: str) -> Verdict:
    """Judge a figure without and with downscaling: the paper finds all three improved."""
    return Verdict(tuple(_improved(results, statistic, mechanism) for mechanism in DOWNSCALED))


def _improved(results: Results, statistic: str, mechanism: str) -> Finding:
    epsilon, c1 = paper.DOWNSCALED_EPSILON, paper.DOWNSCALED_C1
    before = loss(results, mechanism, statistic, epsilon=epsilon)
    after = loss(results, mechanism, statistic, epsilon=epsilon, c1=c1)
    order = compare(after, before)
    outcome = expect_lower(results, [order])
    what = "distance from the data" if statistic in ANALYSES else STATISTICS[statistic]
    says = {
        Order.LOWER: "improves",
        Order.EQUAL: "does not change",
        Order.UNCLEAR: "does not clearly change",
        Order.HIGHER: "gets worse",
    }
    text = (
        f"{short(mechanism)} {says[order]} with downscaling (mean {what} "
        f"{number(float(after.mean()))}, without {number(float(before.mean()))})"
    )
    return Finding(outcome, text, reason=_unchanged(results, mechanism, order))


def _unchanged(results: Results, mechanism: str, order: Order) -> str | None:
    """Return why downscaling leaves a mechanism as it is."""
    if mechanism == "weighted":
        return _UNTOUCHED
    if mechanism == "censor-w" and order is Order.EQUAL:
        count = results.values("censor-w", "records", epsilon=paper.DOWNSCALED_EPSILON).mean()
        return _FEW_CENSORED.format(censored=number(float(count)), records=paper.N)
    return None


def utility(results: Results, figure: ViolinFigure) -> Verdict:
    """Judge any figure of utility."""
    if figure.layout is Layout.DOWNSCALING:
        return downscaling(results, figure.statistic)
    if figure.statistic in ANALYSES:
        return analysis(results, figure)
    return ecdf(results, figure.statistic)
