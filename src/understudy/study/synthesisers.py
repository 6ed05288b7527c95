"""Every synthesiser of the study as a mechanism, and what it really promises.

The paper's have its settings. Kinds and multiples of ε come from the mechanisms themselves.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

from understudy.domain.records import Held
from understudy.domain.schema import Schema
from understudy.domain.skeleton import Skeleton
from understudy.mechanisms import (
    Anchored,
    CensorUw,
    CensorW,
    Mechanism,
    PerturbedHistogram,
    Request,
    RowMechanism,
    Summary,
    Unweighted,
    Weighted,
    WeightedE,
)
from understudy.models.base import Model
from understudy.models.beta import beta
from understudy.privacy.guarantee import Adjacency
from understudy.study import paper
from understudy.study.arms import LABELS, OURS, Values, short
from understudy.support.randomness import Source

HISTORY = {"phi": 0.55 / 3.25, "lambda": 3.25}
"""An earlier period's θ: Beta(0.55, 2.7) where the tables come from Beta(0.5, 3)."""

_TARGET = 1.0
"""Any ε shows the multiples, if it is small enough for Anchored to need all of it."""
_MULTIPLES = {0.5: "ε/2", 1.0: "ε", 2.0: "2ε"}


def bayesian(epsilon: float, c1: float = 1.0) -> dict[str, RowMechanism]:
    """Return the paper's Bayesian synthesisers at a target, by name."""
    return {
        "unweighted": Unweighted(),
        "weighted": Weighted(c1=c1),
        "weighted-e": WeightedE(epsilon=epsilon, c1=c1),
        "censor-w": CensorW(epsilon=epsilon, c1=c1),
        "censor-uw": CensorUw(epsilon=epsilon),
    }


def others(epsilon: float) -> dict[str, Mechanism]:
    """Return the paper's histogram and what the study adds at a target, by name.

    The paper does not say into how many bins it divided salary in its application. It prints a 15th
    percentile of 30,108, far below that of the data, 51,000. On the simulated survey a histogram
    has 27,000 with ln n bins and 51,000 with √n, so ln n it is, as in its simulation.
    """
    # The paper's Laplace scale, 2/ε, is that of replace-one.
    histogram = partial(PerturbedHistogram, epsilon=epsilon, adjacency=Adjacency.REPLACE_ONE)
    return {
        "ph": histogram(bins="ln"),
        "ph-sqrt": histogram(bins="sqrt"),
        "anchored-history": Anchored(epsilon=epsilon, anchor=HISTORY),
        "anchored-ladder": Anchored(epsilon=epsilon),
        "summary": Summary(epsilon=epsilon),
    }


@cache
def study_model() -> Model:
    """Return the paper's Beta synthesiser, the same object in every replicate of a process."""
    column = {"role": "confidential", "type": "continuous", "bounds": [0, 1]}
    return beta(Schema.from_dict({"table": {"size": paper.N}, "columns": {"x": column}}))


def study_request(values: Values, mechanism: Mechanism, source: Source) -> Request:
    """Return a table of the study as a synthesis would be asked about it."""
    model = study_model()
    return Request(
        mechanism=mechanism,
        model=model,
        schema=model.schema,
        records=Held({"x": values}),
        skeleton=Skeleton({}, paper.N),
        size=paper.N,
        sampler=mechanism.samplers(model)[0],
        source=source,
    )


def promises() -> list[dict[str, Any]]:
    """Return a row for every synthesiser: what the paper says, and what holds under each relation.

    What the paper says is DP, aDP, or nothing.
    """
    rows = []
    for key, mechanism in (bayesian(_TARGET) | others(_TARGET)).items():
        request = study_request(np.zeros(0), mechanism, Source())
        stated = mechanism.plan(request).epsilon or {}
        epsilons = {each: _MULTIPLES[round(stated[each] / _TARGET, 9)] for each in stated}
        said = LABELS[key].removesuffix(")").partition(" (")[2]
        rows.append(
            {
                "label": short(key),
                "said": said if key in paper.LABELS else "",
                "kind": str(request.kind),
                "added": epsilons.get(Adjacency.ADD_REMOVE, ""),
                "replaced": epsilons.get(Adjacency.REPLACE_ONE, ""),
                "key": key,
                "reason": mechanism.reason,
                "beyond": key in OURS,
            }
        )
    return rows
