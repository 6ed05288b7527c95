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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from understudy._jax import jnp
from understudy.domain.frames import frame_of
from understudy.domain.satisfying import draw_satisfying
from understudy.domain.schema import Role
from understudy.domain.skeleton import count_records
from understudy.domain.tables import Columns, encode
from understudy.errors import BadInput, Refused
from understudy.inference.answers import Answers, ask
from understudy.inference.evidence import Evidence
from understudy.inference.finite import of_records
from understudy.inference.moments import Population
from understudy.inference.noiseless import (
    draws_without_noise,
    few_parameters,
    narrowing,
    shares_of_width,
)
from understudy.inference.rebuilt import measurements
from understudy.mechanisms.published import fits_model
from understudy.models.base import Model
from understudy.questions import Question, asked
from understudy.questions.headlines import headlines as of_schema
from understudy.report.answers import Answer
from understudy.report.intervals import Interval
from understudy.support.randomness import Source
from understudy.synthesis.opening import Published, opened
from understudy.synthesis.release import Release

Floats = NDArray[np.float64]
Theta = Mapping[str, Any]

_OWN, _DRAWN = "own", "drawn"
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
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise BadInput(f"`level` must be a number between 0 and 1, not {level!r}.")
    if given_predictors and finite:
        raise BadInput(
            "`given_predictors` and `finite` are two different questions: leave out one of them."
        )
    published = opened(release, model)
    put = asked(question, published.schema)
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
        put = of_schema(published.schema)
        if put is None:
            return ()
        known = Known.of(published, given=False, source=Source(0))
        answers = known.ask(put.question)
    except (BadInput, Refused, ArithmeticError, ValueError):
        # What is charged must be written: a card without intervals is better than no release.
        return ()
    found = intervals(answers, [None] * len(answers.names), _LEVEL)
    return tuple(each for each in found if each.name in put.names)


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of θ from a release, and how tables are simulated from it."""

    published: Published
    thetas: Sequence[Theta]
    """Draws of θ."""
    public: Columns
    """The release's rows of public columns."""
    given: bool
    """Whether the question is about people with just these predictors."""
    source: Source

    @classmethod
    def of(cls, published: Published, *, given: bool, source: Source) -> Known:
        """Return what is known, or refuse where draws make no intervals."""
        contents, model = published.contents, published.model
        intervals = contents.get("intervals")
        if contents["mechanism"] != "summary" or not isinstance(intervals, dict):
            raise Refused(
                f"no intervals are known for releases by {contents['mechanism']}: make the release "
                f"with summary, whose noise is known."
            )
        if intervals.get("valid") is not True:
            raise Refused(str(intervals.get("reason") or "the release makes no intervals."))
        draws, estimate = contents.get("draws"), contents.get("estimate")
        assert model is not None
        if not (isinstance(draws, list) and draws and _are_thetas([estimate, *draws], model)):
            raise BadInput(
                f"the draws of θ in '{published.name}' do not fit its model: the file is damaged."
            )
        if not isinstance(contents.get("population"), dict):
            raise BadInput(
                f"'{published.name}' does not say whom it is about: make the release again."
            )
        public: Columns = {}
        if published.schema.public:
            rows = [
                encode(frame_of(table), published.schema, roles=(Role.PUBLIC,), name=published.name)
                for table in published.tables
            ]
            public = {name: np.concatenate([each[name] for each in rows]) for name in rows[0]}
        return cls(published, draws, public, given, source)

    @property
    def model(self) -> Model:
        """Of a record."""
        assert self.published.model is not None
        return self.published.model

    @property
    def copied(self) -> bool:
        """Whether public rows were copied from the table, or drawn from it."""
        return self.published.contents["population"]["predictors"] in (_OWN, _DRAWN)

    @property
    def size(self) -> int:
        """How many records there are, or are declared to be."""
        return int(self.published.contents["population"]["size"])

    @property
    def about(self) -> str:
        """Whom answers are about."""
        if not self.public:
            return "the population"
        if self.given:
            return "people with the predictors of the release"
        if self.copied:
            return "the population that the records are a sample of"
        return "the population whose predictors the release has"

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the release's own check of the model says."""
        said = self.published.contents.get("check", {}).get("warning")
        return () if said is None else (str(said),)

    def ask(self, question: Question) -> Answers:
        """Return the answers at the draws."""
        return self._ask(question, self.thetas)

    def _ask(self, question: Question, thetas: Sequence[Theta]) -> Answers:
        seed = int(self.source.generator().integers(2**62))

        def simulate(number: int, rows: int) -> Columns:
            # Both tables of a draw have the same weights: they belong to the population.
            public = self._rows(np.random.default_rng([seed, number]), rows)
            return self.simulated(thetas[number], public, rows)

        return ask(question, simulate, draws=len(thetas))

    def _rows(self, weights: np.random.Generator, rows: int) -> Columns:
        """Return public rows for about so many, weighed by chance where they are a sample."""
        if not self.public:
            return {}
        available = count_records(self.public)
        if self.given or not self.copied:
            chosen = np.tile(np.arange(available), -(-rows // available))
        else:
            # Were they drawn from fewer rows, or from more, they still tell as much as records do.
            mass = np.cumsum(weights.standard_gamma(self.size / available, size=available))
            places = (np.arange(rows) + self.source.generator().random()) / rows
            chosen = np.searchsorted(mass, places * mass[-1], side="right")
        return {name: values[chosen] for name, values in self.public.items()}

    def simulated(self, theta: Theta, public: Columns, rows: int) -> Columns:
        """Return a table at θ, beside public rows, or of so many where there are none."""
        schema, model = self.published.schema, self.published.model
        rows = count_records(public) if public else rows
        # Without public columns balanced rows leave hardly any noise; with them, it is faster to
        # have more rows.
        balanced = not public and not schema.rules and self.model.balanced is not None
        draw = self.published.mechanism.simulator(
            theta, self.source, schema=schema, model=model, balanced=balanced
        )
        if not schema.rules:
            return {**public, **draw(public, rows)}
        return {**public, **draw_satisfying(draw, public, rows, schema).columns}

    @cached_property
    def evidence(self) -> Evidence:
        """What was measured."""
        contents, row = self.published.contents, self.model.row or self.model
        prior = contents.get("prior")
        if isinstance(prior, dict):
            normal = np.asarray(prior["mean"]), np.asarray(prior["covariance"])
            row = replace(row, normal_prior=normal)
        own = contents["population"]["predictors"] == _OWN
        population = Population(row, self.public, self.size, own)
        return Evidence(population, measurements(contents["rounds"], row))

    def shares(self, question: Question, answers: Answers) -> Sequence[float | None]:
        """Return the share of each interval's width that is due to the noise."""
        estimate, source = self._position(self.published.contents["estimate"]), self.source
        if not few_parameters(self.evidence, len(answers.chosen)):
            quiet = draws_without_noise(self.evidence, estimate, source, count=len(self.thetas))
            row = self.evidence.population.model
            thetas = [dict(row.constrain(jnp.asarray(z))) for z in quiet]
            without = self._ask(question, thetas)
            ratio = np.nanstd(without.values, axis=0) / np.nanstd(answers.values, axis=0)
            return [float(share) for share in (1 - ratio).clip(0, 1)]
        positions = np.array([self._position(self.thetas[k]) for k in answers.chosen])
        told = np.asarray(np.isfinite(answers.values).all(axis=0))
        covariances = narrowing(self.evidence, estimate, source)
        found = np.full(len(told), np.nan)
        found[told] = shares_of_width(answers.values[:, told], positions, covariances)
        return [None if np.isnan(share) else float(share) for share in found]

    def of_records(
        self, question: Question, answers: Answers
    ) -> tuple[Answers, Sequence[float | None]]:
        """Return the answers about the table's own records, and what of their width is noise."""
        if self.published.contents["population"]["predictors"] == _DRAWN:
            raise Refused(
                "the release does not hold the table's own public rows, each once, so nothing can "
                "be said of its very records: ask about the population, or make a release of as "
                "many rows as the table has."
            )
        positions = np.array([self._position(self.thetas[k]) for k in answers.chosen])
        values, quiet = of_records(question, self.evidence, positions, answers.values, self.source)
        shares = (1 - quiet / values.std(axis=0)).clip(0, 1)
        told = few_parameters(self.evidence, len(positions))
        return replace(answers, values=values), shares.tolist() if told else [None] * len(shares)

    def _position(self, theta: Theta) -> Floats:
        """Return unconstrained coordinates."""
        model = self.evidence.population.model
        return np.asarray(model.unconstrain({name: jnp.asarray(v) for name, v in theta.items()}))


def _are_thetas(given: Sequence[object], model: Model) -> bool:
    return all(isinstance(theta, dict) and fits_model(theta, model) for theta in given)


def intervals(
    answers: Answers, shares: Sequence[float | None], level: float
) -> tuple[Interval, ...]:
    """Return the interval of each answer.

    Args:
        answers: At draws of θ.
        shares: What of each width is due to the noise.
        level: Of the intervals.
    """
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
        if noise > 0.5:
            said.append(
                f"'{each.name}' is known so well that simulation has most of its spread: its "
                f"interval is approximate."
            )
    return said
