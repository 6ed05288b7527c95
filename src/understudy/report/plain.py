"""The guarantee in words for people who have never heard of ε: a director, or a journalist.

ε bounds by which factor anything can become more or less probable because of one record. So does
it bound odds: somebody to whom two possibilities are equally likely before a release is, after it,
at most e^ε/(1 + e^ε) sure of either. That is what is told here, rounded up. With a δ no such limit
holds without exception; what is told then is the one that is exceeded with probability δ at most.

The words follow from the guarantee alone, so they may be published.
"""

from __future__ import annotations

import math
from typing import Any

from understudy.privacy.accounting import Cost, loss_exceeded
from understudy.privacy.guarantee import Adjacency, Guarantee, Kind
from understudy.privacy.rounding import at_most, certainty_at_most
from understudy.privacy.rounding import plain as written

LOOSE = math.log(19)
"""From this ε on one may be 95 % sure, an opinion is close to knowledge, and the page says so."""


def odds(guarantee: Guarantee) -> list[tuple[str, str]]:
    """Return what a stranger may be unsure of, and how sure this release can make them at most."""
    stated = guarantee.epsilon
    if stated is None:
        return []
    part = "took part" if guarantee.membership else "provided their confidential values"
    who = "a person" if guarantee.unit is None else f"one '{guarantee.unit}'"
    limit, except_for = stated, ""
    if guarantee.delta and guarantee.rho is not None:
        limit = {
            relation: loss_exceeded(Cost(None, rho), delta=guarantee.delta)
            for relation, rho in guarantee.rho.items()
        }
        except_for = f" (except with a probability of {written(guarantee.delta)} or less)"
    return [
        (f"Whether {who} {part}{except_for}", certainty_at_most(limit[Adjacency.ADD_REMOVE])),
        (
            f"Which of two possibilities the confidential values of {who} are{except_for}",
            certainty_at_most(limit[Adjacency.REPLACE_ONE]),
        ),
    ]


def epsilons(guarantee: Guarantee) -> list[dict[str, Any]]:
    """Return ε for each way in which tables may differ, rounded up; None where none is stated."""
    stated = guarantee.epsilon
    at = f", δ = {written(guarantee.delta)}" if guarantee.delta else ""
    return [
        {
            "number": None if stated is None else f"{at_most(stated[adjacency])}{at}",
            "words": f"when {words}",
            "name": str(adjacency),
            "asked": guarantee.asked is adjacency,
        }
        for adjacency, words in guarantee.changes.items()
    ]


def sentences(guarantee: Guarantee) -> list[str]:
    """Return what is promised and what is not."""
    stated = guarantee.epsilon
    if stated is None:
        return [_UNPROMISED[guarantee.kind], _TREAT]
    what = "this table" if guarantee.draws == 1 else f"these {guarantee.draws} tables"
    whence = "it" if guarantee.draws == 1 else "all of them together"
    told = [
        f"The confidential values in {what} are made up. They were drawn at random in such a way "
        f"that what anybody can learn from {whence} about one person is limited, whatever else "
        "they know, whatever computers they have, now and later. The limit is the number ε "
        "(epsilon): the smaller, the stricter."
    ]
    if guarantee.delta:
        told.append(
            f"Beyond that limit, any probability can differ by at most "
            f"{written(guarantee.delta)}, which is the number δ (delta)."
        )
    if guarantee.kind is Kind.CONDITIONAL:
        told.insert(0, _UNCHECKED if guarantee.accept_poor_mixing else _CONDITIONAL)
    if guarantee.seeded:
        told.insert(0, _VOID)
    if stated[Adjacency.REPLACE_ONE] >= LOOSE:
        told.append(
            "This is a loose limit: it does not rule out that somebody who knows much already "
            "becomes almost sure."
        )
    if not guarantee.membership:
        told.append("Who is in the confidential table, or how many are, is not hidden.")
    told.append(
        "What is true of people in general is not hidden either: that is what the release is for. "
        "And every further release about the same people adds to the limit."
    )
    return told


_VOID = (
    "This run was made with a fixed seed, for a test. Whoever knows the seed can undo the noise, "
    "so what follows would only hold for a run without one."
)
_CONDITIONAL = (
    "What follows holds only if a computation had settled down. That was checked as well as it can "
    "be, but no check can prove it."
)
_UNCHECKED = (
    "What follows holds only if a computation had settled down, and whoever ran it did not insist "
    "that this was checked."
)
_UNPROMISED = {
    Kind.ASYMPTOTIC: (
        "Nothing is promised about this table. The method that made it is known to protect people "
        "only in ever larger tables, and for this one no limit can be stated."
    ),
    Kind.NONE: (
        "Nothing is promised about this table. The method that made it does not limit what can be "
        "learned about a single person."
    ),
}
_TREAT = "Treat it with the same care as the confidential table that it was made from."
