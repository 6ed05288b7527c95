"""`infer`: what a release says to a question, with intervals that are right if the model is.

The posterior of θ given what was published is public, and so is that of any number about the
population: draw θ, simulate a large table from it, and answer the question on it. All of that is
post-processing, needs no confidential record and costs nothing.

About whom. Where public predictors were copied from the table, they are a sample from the
population, too: each draw weighs them anew, by a Bayesian bootstrap. `given_predictors` asks about
people with just these predictors, and `finite` about the very records of the table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from understudy.errors import BadInput
from understudy.inference.answers import TOO_MUCH, Answers
from understudy.mechanisms import Anchored
from understudy.models.base import Model
from understudy.questions import asked
from understudy.questions.headlines import headlines as of_schema
from understudy.report.answers import Answer
from understudy.report.intervals import Interval
from understudy.support.randomness import Source
from understudy.synthesis.known import Known
from understudy.synthesis.opening import opened
from understudy.synthesis.release import Release

Floats = NDArray[np.float64]

_LEVEL = 0.95


def infer(
    release: Release | str | Path,
    question: str | Callable[[pd.DataFrame], Any],
    *,
    level: float = 0.95,
    given_predictors: bool = False,
    finite: bool = False,
    model: Model | str | None = None,
    seed: int | None = None,
) -> Answer:
    """Answer a question from a release alone, at no cost to anybody's privacy.

    Args:
        release: A release, or the `public` directory of one.
        question: `mean(y)`, `median(y)`, `quantile(y, 0.9)`, `share(gender == 'F')` or
            `correlation(x, y)`, each optionally `by g`; a regression such as `y ~ x + g`; or any
            function of a table that returns a number, or several by name.
        level: Of the intervals.
        given_predictors: Ask about people with the predictors of the release, instead of the
            population that these were drawn from.
        finite: Ask about the very records of the confidential table.
        model: The model, where the release does not say enough to build it again.
        seed: Fixes the randomness, for an answer that can be had again.

    Returns:
        Estimates with intervals; print it, or see `to_json` and `figure`.
    """
    if (
        isinstance(level, bool)
        or not isinstance(level, int | float | np.floating)
        or not 0 < level < 1
    ):
        raise BadInput(f"`level` must be a number between 0 and 1, not {level!r}.")
    if given_predictors and finite:
        raise BadInput(
            "`given_predictors` and `finite` are two different questions: leave out one of them."
        )
    published = opened(release, model)
    level, put = float(level), asked(question, published.schema)
    known = Known.of(published, given=given_predictors or finite, source=Source(seed))
    answers = known.ask(put)
    shares: Sequence[float | None] = [None] * len(answers.names)
    if finite:
        answers, shares = known.of_records(put, answers)
    else:
        shares = known.shares(put, answers)
    about = "the records of the confidential table" if finite else known.about
    estimates = intervals(answers, shares, level)
    warnings = (*known.warnings, *_doubts(answers, estimates))
    return Answer(put.text, level, about, estimates, warnings, put.regression)


def headlines(release: Release) -> tuple[Interval, ...]:
    """Return what a release says of its main columns, or nothing where it makes no intervals.

    The seed is fixed, so that a card is the same text for the same release.

    Args:
        release: The release.
    """
    try:
        published = opened(release)
        in_turn = None if published.model is None else published.model.in_turn
        schema = published.schema
        put = of_schema(schema) if in_turn is None else of_schema(schema, in_turn.related)
        if put is None or published.contents["mechanism"] == Anchored.name:
            return ()  # Draws of θ after a climb take a while, for those who ask.
        known = Known.of(published, given=False, source=Source(0))
        answers = known.ask(put.question)
        found = intervals(answers, [None] * len(answers.names), _LEVEL)
    except Exception:  # noqa: BLE001 - what is charged must be written, if without intervals
        return ()
    return tuple(e for e in found if e.name in put.names and math.isfinite(e.estimate))


def intervals(
    answers: Answers, shares: Sequence[float | None], level: float
) -> tuple[Interval, ...]:
    """Return the interval of each answer.

    Args:
        answers: At draws of θ.
        shares: What of each width is due to the noise.
        level: Of the intervals.
    """
    most = 1 - 2 / (len(answers.values) + 1)
    if level > most:
        raise BadInput(
            f"`level` must be at most {most:.3f} here, because no more than {len(answers.values)} "
            f"draws of θ tell how far an answer may be off."
        )
    each = zip(answers.names, answers.values.T, shares, strict=True)
    return tuple(_interval(name, values, share, level) for name, values, share in each)


def _interval(name: str, values: Floats, share: float | None, level: float) -> Interval:
    told = values[np.isfinite(values)]
    if not len(told):
        return Interval(name, math.nan, math.nan, math.nan, math.nan, None)
    tail = (1 - level) / 2
    # A fresh value lies below the k-th of m draws with probability k / (m + 1).
    lower, upper = np.quantile(told, [tail, 1 - tail], method="weibull")
    estimate, deviation = float(told.mean()), float(told.std())
    return Interval(name, estimate, float(lower), float(upper), deviation, share)


def _doubts(answers: Answers, estimates: Sequence[Interval]) -> Sequence[str]:
    """Return what is to be said of the answers themselves."""
    said = []
    for each, values, noise in zip(estimates, answers.values.T, answers.simulation, strict=True):
        missing = int(np.isnan(values).sum())
        if missing:
            said.append(
                f"'{each.name}' could not be told in {missing} of {len(values)} simulated tables."
            )
        if noise > TOO_MUCH:
            said.append(
                f"'{each.name}' could not be simulated precisely enough: its interval is wider "
                f"than it need be."
            )
    return said
