"""Whether what was found agrees with what the paper says: computed, never written by hand."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from understudy.privacy.guarantee import Kind
from understudy.report.wording import listed
from understudy.study.application import DISTANCES, Application
from understudy.study.arms import ANALYSES, BAYESIAN, SYNTHESISERS, short
from understudy.study.paper import APPLICATION_EPSILON, TABLE_2

BEST, SECOND = "best", "second"
PAPER_ORDER_OF_DENSITIES = ("censor-w", "weighted", "weighted-e", "censor-uw", "ph")
"""From best to worst in the paper's look at its density plots."""


class Claim(NamedTuple):
    """A sentence, and whether it agrees with the paper; None where the paper says nothing."""

    agrees: bool | None
    text: str


def marks(application: Application, statistic: str) -> dict[str, str]:
    """Return the best and second best of the paper's five, and where each of ours would stand.

    As in the paper, its five synthesisers are ranked among themselves. One of ours is marked as
    best if it is better than all five, and as second best if it is better than all but one. What
    protects nobody takes no part.
    """
    tables = application.tables
    unprotected = [key for key in tables if tables[key].guarantee.kind is Kind.NONE]
    row = application.row(statistic)
    return ranked(statistic, {key: row[key] for key in row if key not in unprotected})


def ranked(statistic: str, row: Mapping[str, float | None]) -> dict[str, str]:
    """Return which of a row's synthesisers are best and second best, beside the paper's five."""
    if statistic not in (*DISTANCES, *ANALYSES):
        return {}
    wanted = row["data"] if statistic in ANALYSES else None
    off = {
        key: abs(value - (wanted or 0.0))
        for key, value in row.items()
        if key != "data" and value is not None
    }
    better = {key: sum(off[key] > off[other] for other in SYNTHESISERS) for key in off}
    return {key: (BEST, SECOND)[count] for key, count in better.items() if count <= 1}


def table_claims(application: Application) -> list[Claim]:
    """Return what is to be said under the table."""
    return [*_printed(application), *_beyond(application)]


def _numbers(application: Application, statistic: str) -> dict[str, float]:
    row = application.row(statistic)
    return {key: math.nan if value is None else value for key, value in row.items()}


def _printed(application: Application) -> Iterator[Claim]:
    """Compare with what the paper says of its five, which stand in its order by avg-ECDF."""
    target, half = APPLICATION_EPSILON, APPLICATION_EPSILON / 2
    bounds = _numbers(application, "lipschitz_bound")
    censored = bounds["censor-w"], bounds["censor-uw"]
    exact = all(math.isclose(bound, half, rel_tol=1e-9) for bound in censored)
    reach = f"; the paper's are ε/2 = {half:.2f}, which no record reaches here."
    says = ": exactly ε/2, where the censoring puts them." if exact else reach
    yield Claim(
        exact,
        f"The Lipschitz bounds of Censor_w and Censor_uw are {censored[0]:.2f} and "
        f"{censored[1]:.2f}{says}",
    )
    epsilons, printed = _numbers(application, "epsilon"), TABLE_2["epsilon"]
    ours = epsilons["weighted"], epsilons["weighted-e"]
    above = sum(value > target for value in ours)
    where = ("both within", "one of them above", "both above")[above]
    yield Claim(
        above == len(ours),
        f"The local ε of Weighted and Weighted-e, {ours[0]:.2f} and {ours[1]:.2f}, are {where} "
        f"the target of {target:g}; in the paper, with {printed['weighted']:.2f} and "
        f"{printed['weighted-e']:.2f}, both are above it. They are diagnostics: no ε is "
        f"guaranteed.",
    )
    order = sorted(SYNTHESISERS, key=_numbers(application, "avg_ecdf").__getitem__)
    yield Claim(
        tuple(order) == SYNTHESISERS,
        f"By avg-ECDF, the order from best to worst is {_names(order)}; in the paper it is "
        f"{_names(SYNTHESISERS)}.",
    )
    yield Claim(
        order[-1] == "ph",
        f"The least close of the five by avg-ECDF is {short(order[-1])}; in the paper it is PH.",
    )


def _beyond(application: Application) -> Iterator[Claim]:
    """Say what the columns that the paper does not have add to it."""
    distances = _numbers(application, "max_ecdf")
    posterior = distances["unweighted"]
    closer = [key for key in BAYESIAN if distances[key] < posterior]
    says = ", closer to the data than any of the four Bayesian ones."
    if closer:
        says = (
            f". {_names(closer)} {'are' if len(closer) > 1 else 'is'} closer to the data than "
            f"that: by the chance of one draw, or because the model does not follow these data and "
            f"unusual records count for less."
        )
    yield Claim(None, f"Without any privacy the same model has a max-ECDF of {posterior:.4f}{says}")
    yield Claim(
        None,
        f"PH with √n instead of ln n bins has a max-ECDF of {distances['ph-sqrt']:.4f} instead of "
        f"{distances['ph']:.4f} at the same ε: how poor it looks depends on the bins.",
    )
    anchored = application.tables["anchored-5"].guarantee
    spent = (anchored.epsilon or {}).get(anchored.asked, math.inf)
    if spent < APPLICATION_EPSILON:
        yield Claim(
            None,
            f"Anchored was asked for ε = {APPLICATION_EPSILON:g} and spends {spent:.2f}: beyond "
            f"that, no record can count for more.",
        )


def figure_claims(application: Application) -> list[Claim]:
    """Return what is to be said under the picture."""
    apart = density_distances(application)
    order = sorted(SYNTHESISERS, key=apart.__getitem__)
    measured = ", ".join(f"{short(key)} {apart[key]:.3f}" for key in order)
    return [
        Claim(
            tuple(order) == PAPER_ORDER_OF_DENSITIES,
            f"By the area between its curve and that of the data, halved, the order from best to "
            f"worst is {measured}; the paper, looking at its picture, has "
            f"{_names(PAPER_ORDER_OF_DENSITIES)}.",
        ),
        Claim(
            order[-1] == "ph",
            f"The curve furthest from the data is that of {short(order[-1])}; in the paper it is "
            f"evidently that of PH.",
        ),
    ]


def density_distances(application: Application) -> dict[str, float]:
    """Return the total variation distance of each density curve from that of the data."""
    at, densities = application.densities
    return {
        key: float(np.abs(densities[key] - densities["data"]).sum() * (at[1] - at[0]) / 2)
        for key in application.tables
    }


def _names(keys: Iterable[str]) -> str:
    return listed([short(key) for key in keys])
