"""Whether what was found agrees with what the paper says: computed, never written by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from understudy.privacy.guarantee import Kind
from understudy.report.curves import reflected_kde
from understudy.study.application import GLOBAL, SPECIFIC
from understudy.study.paper import APPLICATION_EPSILON, LABELS, TABLE_2, TABLE_2_COLUMNS

if TYPE_CHECKING:
    from understudy.study.application import Application, MeasuredTable

BEST, SECOND = "best", "second"
PAPER_ORDER = ("weighted", "weighted-e", "censor-w", "censor-uw", "ph")
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
    row = paper_values(statistic)
    data = row.pop("data")
    return _marks(statistic, row, row, data)


def marks(application: Application, statistic: str) -> dict[str, str]:
    """Return the best and second best of the paper's five, and where each of ours would stand.

    As in the paper, its five synthesisers are ranked among themselves. One of ours is marked as
    best if it is better than all five, and as second best if it is better than all but one. What
    protects nobody takes no part.
    """
    five = {outcome.key: outcome.values[statistic] for outcome in application.paper}
    every = {
        outcome.key: outcome.values[statistic]
        for outcome in application.outcomes
        if outcome.kind is not Kind.NONE
    }
    return _marks(statistic, five, every, application.data.get(statistic))


def _marks(
    statistic: str,
    ranked: Mapping[str, float | None],
    marked: Mapping[str, float | None],
    data: float | None,
) -> dict[str, str]:
    if statistic not in (*GLOBAL, *SPECIFIC):
        return {}
    wanted = data if data is not None and statistic in SPECIFIC else 0.0
    off = {key: abs(value - wanted) for key, value in ranked.items() if value is not None}
    found = {}
    for key, value in marked.items():
        if value is not None:
            better = sum(abs(value - wanted) > other for k, other in off.items() if k != key)
            if better <= 1:
                found[key] = (BEST, SECOND)[better]
    return found


def table_claims(application: Application) -> list[Claim]:
    """Return what is to be said under the table."""
    five = {outcome.key: outcome for outcome in application.paper}
    return [_censored(five), _asymptotic(five), *_order(five), *_beyond(application)]


def _censored(five: Mapping[str, MeasuredTable]) -> Claim:
    half = APPLICATION_EPSILON / 2
    found = [_number(five[key].values["lipschitz_bound"]) for key in ("censor-w", "censor-uw")]
    agrees = all(math.isclose(bound, half, rel_tol=1e-9) for bound in found)
    said = f"The Lipschitz bounds of Censor_w and Censor_uw are {found[0]:.2f} and {found[1]:.2f}"
    if agrees:
        return Claim(True, f"{said}: exactly ε/2, where the censoring puts them.")
    return Claim(False, f"{said}; the paper's are ε/2 = {half:.2f}, which no record reaches here.")


def _asymptotic(five: Mapping[str, MeasuredTable]) -> Claim:
    found = [_number(five[key].values["epsilon"]) for key in ("weighted", "weighted-e")]
    printed = [_number(paper_values("epsilon")[key]) for key in ("weighted", "weighted-e")]
    above = [value > APPLICATION_EPSILON for value in found]
    where = {2: "both above", 1: "one of them above", 0: "both within"}[sum(above)]
    return Claim(
        all(above),
        f"The local ε of Weighted and Weighted-e, {found[0]:.2f} and {found[1]:.2f}, are {where} "
        f"the target of {APPLICATION_EPSILON:g}; in the paper, with {printed[0]:.2f} and "
        f"{printed[1]:.2f}, both are above it. They are diagnostics: no ε is guaranteed.",
    )


def _order(five: Mapping[str, MeasuredTable]) -> Iterable[Claim]:
    found = _sorted(five, lambda outcome: _number(outcome.values["avg_ecdf"]))
    yield Claim(
        tuple(found) == PAPER_ORDER,
        f"By avg-ECDF, the order from best to worst is {_names(found)}; in the paper it is "
        f"{_names(PAPER_ORDER)}.",
    )
    worst = found[-1]
    yield Claim(
        worst == "ph",
        f"The least close of the five by avg-ECDF is {_name(worst)}; in the paper it is PH.",
    )


def _beyond(application: Application) -> Iterable[Claim]:
    """Say what the columns that the paper does not have add to it."""
    ours = {outcome.key: outcome for outcome in application.beyond}
    five = {outcome.key: outcome for outcome in application.paper}
    if "unweighted" in ours:
        posterior = _number(ours["unweighted"].values["max_ecdf"])
        closer = [
            key
            for key, outcome in five.items()
            if key != "ph" and _number(outcome.values["max_ecdf"]) < posterior
        ]
        said = f"Without any privacy the same model has a max-ECDF of {posterior:.4f}"
        if closer:
            yield Claim(
                None,
                f"{said}. {_names(closer)} {'are' if len(closer) > 1 else 'is'} closer to the data "
                f"than that: by the chance of one draw, or because the model does not follow these "
                f"data and unusual records count for less.",
            )
        else:
            yield Claim(None, f"{said}, closer to the data than any of the four Bayesian ones.")
    if "ph-sqrt" in ours:
        fine, coarse = (
            _number(outcome.values["max_ecdf"]) for outcome in (ours["ph-sqrt"], five["ph"])
        )
        yield Claim(
            None,
            f"PH with √n instead of ln n bins has a max-ECDF of {fine:.4f} instead of "
            f"{coarse:.4f} at the same ε: how poor it looks depends on the bins.",
        )
    spent = ours["anchored-5"].guaranteed if "anchored-5" in ours else None
    if spent is not None and spent[ours["anchored-5"].asked] < APPLICATION_EPSILON:
        yield Claim(
            None,
            f"Anchored was asked for ε = {APPLICATION_EPSILON:g} and spends "
            f"{spent[ours['anchored-5'].asked]:.2f}: beyond that, no record can count for more.",
        )


def figure_claims(application: Application) -> list[Claim]:
    """Return what is to be said under the picture."""
    apart = density_distances(application)
    found = sorted((key for key in apart if key in PAPER_ORDER), key=apart.__getitem__)
    listed = ", ".join(f"{_name(key)} {apart[key]:.3f}" for key in found)
    return [
        Claim(
            tuple(found) == PAPER_ORDER_OF_DENSITIES,
            f"By the area between its curve and that of the data, halved, the order from best to "
            f"worst is {listed}; the paper, looking at its picture, has "
            f"{_names(PAPER_ORDER_OF_DENSITIES)}.",
        ),
        Claim(
            found[-1] == "ph",
            f"The curve furthest from the data is that of {_name(found[-1])}; in the paper it is "
            f"evidently that of PH.",
        ),
    ]


def density_distances(application: Application) -> dict[str, float]:
    """Return the total variation distance of each density curve from that of the data."""
    column = application.sample.schema.confidential[0]
    bounds = column.lower, column.upper
    at, data = reflected_kde(application.sample.values, bounds)
    return {
        outcome.key: float(
            np.abs(reflected_kde(outcome.synthetic, bounds)[1] - data).sum() * (at[1] - at[0]) / 2
        )
        for outcome in application.outcomes
    }


def _sorted(five: Mapping[str, MeasuredTable], by: Callable[[MeasuredTable], float]) -> list[str]:
    return sorted(five, key=lambda key: by(five[key]))


def _name(key: str) -> str:
    return LABELS[key].split(" ")[0]


def _names(keys: Iterable[str]) -> str:
    *first, last = (_name(key) for key in keys)
    return f"{', '.join(first)} and {last}" if first else last


def _number(value: float | None) -> float:
    return math.nan if value is None else value
