"""What the paper says about utility (sections 4.3 and 4.4), judged by this run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np

from understudy.report.wording import listed
from understudy.study import paper
from understudy.study.arms import (
    ANALYSES,
    BAYESIAN,
    DOWNSCALED,
    OURS,
    STATISTICS,
    SYNTHESISERS,
    TARGETED,
    WITHOUT_TARGET,
    Results,
    Values,
    short,
)
from understudy.study.catalogue import DOWNSCALING, ViolinFigure
from understudy.study.findings import (
    Agreement,
    Finding,
    Order,
    Verdict,
    compare,
    expect,
    expect_lower,
    expect_not_higher,
    number,
    numbers,
)

_ALMOST_ALL = 0.75
_BEST_BY_PAPER = {"max_ecdf": (5.0, 4.0, 3.0), "avg_ecdf": (4.0, 3.0)}
"""The ε at which the paper finds Censor_w best of those with a target."""
_WITH_DOWNSCALING = {
    Order.LOWER: "improves",
    Order.EQUAL: "does not change",
    Order.UNCLEAR: "does not clearly change",
    Order.HIGHER: "gets worse",
}
_WIDE_BINS = "its error comes from the width of its ln n bins, and hardly from the noise"
_DROPPED = "a truncated record is lost to the fit, and a censored one is not"
_UNTOUCHED = (
    "with c₂ = 0 downscaling multiplies every log-likelihood of Weighted by the same c₁, which "
    "leaves its posterior in place and makes it wider"
)
_FEW_CENSORED = "even without it only {censored} of {records} records are censored on average"
_NARROW = "censoring makes its fit too narrow, which an upper percentile shows most"
_OFFSET = "it errs upwards in the mean and is too narrow, which offset each other up there"


def utility(results: Results, figure: ViolinFigure) -> Verdict:
    """Judge any figure of utility."""
    if figure.layout is DOWNSCALING:
        # The paper finds all three improved.
        return Verdict(tuple(_improved(results, figure.statistic, m) for m in DOWNSCALED))
    if figure.statistic not in ANALYSES:
        return _ecdf(results, figure.statistic)
    return _analysis(results, figure)


def order_of_medians(results: Results, statistic: str) -> Finding:
    """Judge Weighted ≤ Censor_w ≤ Censor_uw at every ε."""
    pairs, texts = [], []
    for epsilon in paper.EPSILONS:
        losses = [
            results.loss(m, statistic, epsilon) for m in ("weighted", "censor-w", "censor-uw")
        ]
        pairs += list(pairwise(losses))
        texts.append(f"ε = {epsilon:g}: {_medians(losses)}")
    by_chance = any(np.median(first) > np.median(second) for first, second in pairs)
    rise = "rise, up to Monte Carlo error," if by_chance else "rise"
    return Finding(
        expect_not_higher(results, pairs),
        f"the medians [{rise}|do not all rise] from Weighted over Censor_w to Censor_uw "
        f"({'; '.join(texts)})",
    )


def _ecdf(results: Results, statistic: str) -> Verdict:
    """Judge Figure 3 or Figure 4."""
    epsilons = _BEST_BY_PAPER[statistic]
    pairs = [
        results.losses("censor-w", other, statistic, epsilon)
        for epsilon in epsilons
        for other in ("weighted-e", "censor-uw", "ph")
    ]
    best = Finding(
        expect_not_higher(results, pairs),
        f"Censor_w [has|does not have] the lowest median of those with a target at ε = "
        f"{listed([f'{epsilon:g}' for epsilon in epsilons])}",
    )
    lower = []
    if statistic == "avg_ecdf":
        first = paper.EPSILONS[0]
        pair = results.losses("weighted-e", "censor-w", statistic, first)
        medians = listed([number(np.median(values)) for values in pair])
        text = f"Weighted-e is [|not ]lower than Censor_w at ε = {first:g} (medians {medians})"
        lower = [Finding(expect_lower(results, [compare(*pair)]), text, reason=_DROPPED)]
    falling = [_falling(results, statistic, mechanism) for mechanism in (*TARGETED, "ph")]
    ours = [
        f"{_medians(results.loss(mechanism, statistic, e) for e in paper.EPSILONS)} for "
        f"{short(mechanism)}"
        for mechanism in OURS
    ]
    unweighted = np.median(results.values("unweighted", statistic))
    order, histogram = order_of_medians(results, statistic), _histogram(results, statistic)
    return Verdict(
        (order, best, *lower, *falling, histogram),
        beyond=f"Not in the paper: the medians at ε = 5, 4, 3 are {listed(ours)}. Unweighted, "
        f"which has no privacy at all, has {number(unweighted)}.",
    )


def _falling(results: Results, statistic: str, mechanism: str) -> Finding:
    """Judge that the utility of a mechanism falls with ε."""
    losses = [results.loss(mechanism, statistic, epsilon) for epsilon in paper.EPSILONS]
    orders = [compare(*pair) for pair in pairwise(losses)]
    flat = mechanism == "ph" and Order.HIGHER not in orders
    return Finding(
        expect_lower(results, orders),
        f"{short(mechanism)} [deteriorates|does not clearly deteriorate at every step] as ε falls "
        f"(medians {_medians(losses)})",
        reason=_WIDE_BINS if flat else None,
    )


def _histogram(results: Results, statistic: str) -> Finding:
    """Judge that PH is worse than almost all of the Bayesian synthesisers."""
    exceptions = [
        f"{short(mechanism)} at ε = {epsilon:g}"
        for epsilon in paper.EPSILONS
        for mechanism in BAYESIAN
        for own, ph in [results.losses(mechanism, "ph", statistic, epsilon)]
        if np.median(own) >= np.median(ph)
    ]
    total = len(paper.EPSILONS) * len(BAYESIAN)
    worse = total - len(exceptions)
    text = f"the median of PH is worse than {worse} of {total} of the Bayesian synthesisers"
    if exceptions:
        text += f"; not worse than {listed(exceptions)}"
    return Finding(expect(worse >= _ALMOST_ALL * total), text)


def _analysis(results: Results, figure: ViolinFigure) -> Verdict:
    """Judge a figure of the mean, the median or a percentile, and report the distances."""
    statistic, epsilons = figure.statistic, [panel.epsilon for panel in figure.layout.panels]
    texts = []
    for mechanism in (*SYNTHESISERS, *OURS):
        own = epsilons[:1] if mechanism in WITHOUT_TARGET else epsilons
        means = numbers(results.loss(mechanism, statistic, epsilon).mean() for epsilon in own)
        texts.append(f"{short(mechanism)} {means}")
    where = ", ".join(f"{epsilon:g}" for epsilon in epsilons)
    distances = (
        f"Mean distance of the synthetic from the confidential table’s "
        f"{STATISTICS[statistic].lower()} at ε = {where}: {'; '.join(texts)}."
    )
    if figure.number is None:
        return Verdict((), beyond=f"The paper has no such figure. {distances}")
    closest = [_closest(results, statistic, epsilons, each) for each in ("weighted", "censor-w")]
    farther = _censor_uw_farther(results, statistic, epsilons)
    return Verdict((*closest, *farther), beyond=distances)


def _closest(results: Results, statistic: str, epsilons: list[float], mechanism: str) -> Finding:
    """Judge that no other synthesiser of the paper is closer, Weighted set aside."""

    closer = [
        f"{short(other)} at ε = {epsilon:g}"
        for epsilon in epsilons
        for other in SYNTHESISERS
        if other not in ("weighted", mechanism)
        for pair in [results.losses(mechanism, other, statistic, epsilon)]
        if expect_not_higher(results, [pair]) is not Agreement.AGREES
    ]
    of = "of all" if mechanism == "weighted" else "after Weighted"
    if not closer:
        text = f"{short(mechanism)} is the closest {of}, up to Monte Carlo error"
        return Finding(Agreement.AGREES, text)
    narrow = statistic == "q90" and mechanism == "censor-w" and _below(results, mechanism)
    return Finding(
        expect(False, results),
        f"{short(mechanism)} is not the closest {of}: closer is {listed(closer)}",
        reason=_NARROW if narrow else None,
    )


def _below(results: Results, mechanism: str) -> bool:
    """Whether the mechanism's upper percentile errs downwards at the smallest ε."""
    own = results.values(mechanism, "q90", epsilon=paper.EPSILONS[-1])
    return bool(own.mean() < results.values("data", "q90").mean())


def _censor_uw_farther(
    results: Results, statistic: str, epsilons: list[float]
) -> Iterator[Finding]:
    orders = {
        f"{epsilon:g}": compare(*results.losses("censor-w", "censor-uw", statistic, epsilon))
        for epsilon in epsilons
    }
    farther = [epsilon for epsilon, order in orders.items() if order is Order.LOWER]
    rest = [epsilon for epsilon in orders if epsilon not in farther]
    if farther:
        text = f"Censor_uw is farther off than Censor_w at ε = {listed(farther)}"
        yield Finding(Agreement.AGREES, text)
    if rest:
        offset = statistic == "q90" and _below(results, "censor-uw")
        yield Finding(
            expect_lower(results, [orders[epsilon] for epsilon in rest]),
            f"Censor_uw is not clearly farther off than Censor_w at ε = {listed(rest)}",
            reason=_OFFSET if offset else None,
        )


def _improved(results: Results, statistic: str, mechanism: str) -> Finding:
    after, before = results.with_and_without_downscaling(mechanism, statistic)
    order = compare(after, before)
    what = "distance from the data" if statistic in ANALYSES else STATISTICS[statistic]
    reason = _UNTOUCHED if mechanism == "weighted" else None
    if mechanism == "censor-w" and order is Order.EQUAL:
        count = results.values("censor-w", "records", epsilon=paper.DOWNSCALED_EPSILON).mean()
        reason = _FEW_CENSORED.format(censored=number(count), records=paper.N)
    return Finding(
        expect_lower(results, [order]),
        f"{short(mechanism)} {_WITH_DOWNSCALING[order]} with downscaling (mean {what} "
        f"{number(after.mean())}, without {number(before.mean())})",
        reason=reason,
    )


def _medians(arms: Iterable[Values]) -> str:
    return numbers(np.median(values) for values in arms)
