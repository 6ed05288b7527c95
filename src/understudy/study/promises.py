"""What each synthesiser of the study really promises, beside what the paper calls it.

Kinds and multiples of ε come from the mechanisms themselves, with the settings of the paper.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.mechanisms import Mechanism
from understudy.privacy.guarantee import Adjacency
from understudy.study import paper, synthesisers
from understudy.study.arms import LABELS, OURS, short
from understudy.study.replicate import study_request
from understudy.support.randomness import Source

_TARGET = 1.0
"""Any ε shows the multiples, if it is small enough for Anchored to need all of it."""
_MULTIPLES = {0.5: "ε/2", 1.0: "ε", 2.0: "2ε"}

_WHY = {
    "censor-uw": (
        "Each score depends on its own record alone and stays within ±ε/2. Replacing a record is a "
        "removal and an addition, so the ε of the paper’s own definition of neighbours is 2ε. "
        "Drawn by Markov chains, as in the paper, it is conditional on their convergence."
    ),
    "ph": "Laplace noise of scale 2/ε covers a record that moves from one bin to another.",
    "ph-sqrt": "The same noise on more and narrower bins.",
    "anchored-history": (
        "What is censored is the log-likelihood ratio to a public θ₀ from an earlier period. Where "
        "the last stage reaches α = 1, less than ε is spent."
    ),
    "anchored-ladder": "As before, with θ₀ found by a ladder of small draws whose costs add up.",
}


@dataclass(frozen=True)
class Promise:
    """A row of the table of guarantees."""

    label: str
    said: str
    """What the paper says: DP, aDP, or nothing."""
    kind: str
    added: str
    """ε where neighbours differ by one record more or less."""
    replaced: str
    why: str
    beyond: bool


def promises() -> list[Promise]:
    """Return a row for every synthesiser."""
    every = synthesisers.bayesian(_TARGET) | synthesisers.others(_TARGET)
    return [_promise(key, mechanism) for key, mechanism in every.items()]


def _promise(key: str, mechanism: Mechanism) -> Promise:
    request = study_request(np.zeros(0), mechanism, Source())
    cost = mechanism.plan(request).cost
    said = LABELS[key].removesuffix(")").partition(" (")[2]
    return Promise(
        label=short(key),
        said=said if key in paper.LABELS else "",
        kind=str(request.kind),
        added=_multiple(cost[Adjacency.ADD_REMOVE].epsilon) if cost else "",
        replaced=_multiple(cost[Adjacency.REPLACE_ONE].epsilon) if cost else "",
        why=mechanism.reason or _WHY[key],
        beyond=key in OURS,
    )


def _multiple(epsilon: float) -> str:
    return _MULTIPLES[round(epsilon / _TARGET, 9)]
