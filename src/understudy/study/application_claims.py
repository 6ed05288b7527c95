"""Whether what was found agrees with what the paper says: computed, never written by hand."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from understudy.privacy.guarantee import Kind
from understudy.study.application import DISTANCES, Application
from understudy.study.arms import ANALYSES, BAYESIAN, SYNTHESISERS, short
from understudy.study.findings import listed
from understudy.study.paper import APPLICATION_EPSILON, TABLE_2, TABLE_2_COLUMNS

BEST, SECOND = "best", "second"
PAPER_ORDER = SYNTHESISERS
"""From best to worst, by the paper's avg-ECDF and in its words."""
PAPER_ORDER_OF_DENSITIES = ("censor-w", "weighted", "weighted-e", "censor-uw", "ph")
"""From best to worst in the paper's look at its density plots."""


class Claim(NamedTuple):
    """A sentence, and whether it agrees with the paper; None where the paper says nothing."""

    agrees: bool | None
    text: str


def paper_values(statistic: str) -> dict[str, float | None]:
    """Return a row of the paper's Table 2 by synthesiser, the data among them."""
    return dict(zip(TABLE_2_COLUMNS, TABLE_2[statistic], strict=True))


def paper_marks(statistic: str) -> dict[str, str]:
    """Return which of the paper's five it marks as best and second best."""
    return _marks(statistic, paper_values(statistic))


def marks(application: Application, statistic: str) -> dict[str, str]:
    """Return the best and second best of the paper's five, and where each of ours would stand.

    As in the paper, its five synthesisers are ranked among themselves. One of ours is marked as
    best if it is better than all five, and as second best if it is better than all but one. What
    protects nobody takes no part.
    """
    unprotected = {each.key for each in application.tables if each.kind is Kind.NONE}
    row = application.row(statistic)
    return _marks(statistic, {key: row[key] for key in row if key not in unprotected})


def _marks(statistic: str, row: Mapping[str, float | None]) -> dict[str, str]:
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
    return [
        _censored(_numbers(application, "lipschitz_bound")),
        _asymptotic(_numbers(application, "epsilon")),
        *_order(_numbers(application, "avg_ecdf")),
        *_beyond(_numbers(application, "max_ecdf")),
        *_spent(application),
    ]


def _numbers(application: Application, statistic: str) -> dict[str, float]:
    row = application.row(statistic)
    return {key: math.nan if value is None else value for key, value in row.items()}


def _censored(bounds: Mapping[str, float]) -> Claim:
    half = APPLICATION_EPSILON / 2
    censored = bounds["censor-w"], bounds["censor-uw"]
    said = "The Lipschitz bounds of Censor_w and Censor_uw are {:.2f} and {:.2f}".format(*censored)
    if all(math.isclose(bound, half, rel_tol=1e-9) for bound in censored):
        return Claim(True, f"{said}: exactly ε/2, where the censoring puts them.")
    return Claim(False, f"{said}; the paper's are ε/2 = {half:.2f}, which no record reaches here.")


def _asymptotic(epsilons: Mapping[str, float]) -> Claim:
    ours = epsilons["weighted"], epsilons["weighted-e"]
    _, *printed = TABLE_2["epsilon"][:3]
    above = sum(value > APPLICATION_EPSILON for value in ours)
    where = ("both within", "one of them above", "both above")[above]
    return Claim(
        above == len(ours),
        f"The local ε of Weighted and Weighted-e, {ours[0]:.2f} and {ours[1]:.2f}, are {where} "
        f"the target of {APPLICATION_EPSILON:g}; in the paper, with {printed[0]:.2f} and "
        f"{printed[1]:.2f}, both are above it. They are diagnostics: no ε is guaranteed.",
    )


def _order(distances: Mapping[str, float]) -> Iterator[Claim]:
    order = sorted(SYNTHESISERS, key=distances.__getitem__)
    yield Claim(
        tuple(order) == PAPER_ORDER,
        f"By avg-ECDF, the order from best to worst is {_names(order)}; in the paper it is "
        f"{_names(PAPER_ORDER)}.",
    )
    yield Claim(
        order[-1] == "ph",
        f"The least close of the five by avg-ECDF is {short(order[-1])}; in the paper it is PH.",
    )


def _beyond(distances: Mapping[str, float]) -> Iterator[Claim]:
    """Say what the columns that the paper does not have add to it."""
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


def _spent(application: Application) -> Iterator[Claim]:
    """Say that Anchored may spend less than it was asked for."""
    anchored = next(each for each in application.beyond if each.key == "anchored-5")
    spent = (anchored.guaranteed or {}).get(anchored.asked, math.inf)
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
        each.key: float(np.abs(densities[each.key] - densities["data"]).sum() * (at[1] - at[0]) / 2)
        for each in application.tables
    }


def _names(keys: Iterable[str]) -> str:
    return listed([short(key) for key in keys])
