"""What the paper says about utility (sections 4.3 and 4.4), judged by this run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np

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
    listed,
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
    return _analysis(results, figure) if figure.statistic in ANALYSES else _ecdf(results, figure)


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


def _ecdf(results: Results, figure: ViolinFigure) -> Verdict:
    """Judge Figure 3 or Figure 4."""
    statistic = figure.statistic
    return Verdict(
        (
            order_of_medians(results, statistic),
            _best_with_target(results, statistic),
            *([_weighted_e_at_largest(results)] if statistic == "avg_ecdf" else []),
            *(_falling(results, statistic, mechanism) for mechanism in (*TARGETED, "ph")),
            _histogram(results, statistic),
        ),
        beyond=_beyond(results, statistic),
    )


def _best_with_target(results: Results, statistic: str) -> Finding:
    epsilons = _BEST_BY_PAPER[statistic]
    pairs = [
        results.losses("censor-w", other, statistic, epsilon)
        for epsilon in epsilons
        for other in ("weighted-e", "censor-uw", "ph")
    ]
    where = listed([f"{epsilon:g}" for epsilon in epsilons])
    return Finding(
        expect_not_higher(results, pairs),
        f"Censor_w [has|does not have] the lowest median of those with a target at ε = {where}",
    )


def _weighted_e_at_largest(results: Results) -> Finding:
    epsilon = paper.EPSILONS[0]
    truncated, censored = results.losses("weighted-e", "censor-w", "avg_ecdf", epsilon)
    return Finding(
        expect_lower(results, [compare(truncated, censored)]),
        f"Weighted-e is [|not ]lower than Censor_w at ε = {epsilon:g} (medians "
        f"{number(np.median(truncated))} and {number(np.median(censored))})",
        reason=_DROPPED,
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

    def median(mechanism: str, epsilon: float) -> float:
        return float(np.median(results.loss(mechanism, statistic, epsilon)))

    exceptions = [
        f"{short(mechanism)} at ε = {epsilon:g}"
        for epsilon in paper.EPSILONS
        for mechanism in BAYESIAN
        if median(mechanism, epsilon) >= median("ph", epsilon)
    ]
    total = len(paper.EPSILONS) * len(BAYESIAN)
    worse = total - len(exceptions)
    text = f"the median of PH is worse than {worse} of {total} of the Bayesian synthesisers"
    if exceptions:
        text += f"; not worse than {listed(exceptions)}"
    return Finding(expect(worse >= _ALMOST_ALL * total), text)


def _beyond(results: Results, statistic: str) -> str:
    """Report what the paper does not have."""
    texts = [
        f"{_medians(results.loss(mechanism, statistic, e) for e in paper.EPSILONS)} for "
        f"{short(mechanism)}"
        for mechanism in OURS
    ]
    unweighted = np.median(results.values("unweighted", statistic))
    return (
        f"Not in the paper: the medians at ε = 5, 4, 3 are {listed(texts)}. Unweighted, which has "
        f"no privacy at all, has {number(unweighted)}."
    )


def _analysis(results: Results, figure: ViolinFigure) -> Verdict:
    """Judge a figure of the mean, the median or a percentile."""
    epsilons = [panel.epsilon for panel in figure.layout.panels]
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
        means = numbers(results.loss(mechanism, statistic, epsilon).mean() for epsilon in own)
        texts.append(f"{short(mechanism)} {means}")
    where = ", ".join(f"{epsilon:g}" for epsilon in epsilons)
    return (
        f"Mean distance of the synthetic from the confidential table’s "
        f"{STATISTICS[statistic].lower()} at ε = {where}: {'; '.join(texts)}."
    )


def _closest(results: Results, statistic: str, epsilons: list[float], mechanism: str) -> Finding:
    """Judge that no other synthesiser of the paper is closer, Weighted set aside."""

    def beaten_by(other: str, epsilon: float) -> bool:
        pair = results.losses(mechanism, other, statistic, epsilon)
        return expect_not_higher(results, [pair]) is not Agreement.AGREES

    closer = [
        f"{short(other)} at ε = {epsilon:g}"
        for epsilon in epsilons
        for other in SYNTHESISERS
        if other not in ("weighted", mechanism) and beaten_by(other, epsilon)
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
    return Finding(
        expect_lower(results, [order]),
        f"{short(mechanism)} {_WITH_DOWNSCALING[order]} with downscaling (mean {what} "
        f"{number(after.mean())}, without {number(before.mean())})",
        reason=_unchanged(results, mechanism, order),
    )


def _unchanged(results: Results, mechanism: str, order: Order) -> str | None:
    """Return why downscaling leaves a mechanism as it is."""
    if mechanism == "weighted":
        return _UNTOUCHED
    if mechanism == "censor-w" and order is Order.EQUAL:
        count = results.values("censor-w", "records", epsilon=paper.DOWNSCALED_EPSILON).mean()
        return _FEW_CENSORED.format(censored=number(count), records=paper.N)
    return None


def _medians(arms: Iterable[Values]) -> str:
    return numbers(np.median(values) for values in arms)
