"""What is known of θ from a release, and how tables are simulated from it.

About whom. Where public predictors were copied from the table, they are a sample from the
population, too: each draw weighs them anew, by a Bayesian bootstrap, unless they are given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy._jax import jnp
from understudy.domain.frames import frame_of
from understudy.domain.satisfying import draw_satisfying
from understudy.domain.schema import Role
from understudy.domain.skeleton import count_records
from understudy.domain.tables import Columns, encode
from understudy.errors import BadInput, Refused
from understudy.inference.answers import Answers, ask
from understudy.inference.counts import draws_of_counts, read_counts
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
from understudy.inference.shares import Shares
from understudy.inference.stages import read_stages
from understudy.inference.tempered import draws_after_tempering
from understudy.mechanisms import Anchored, PerturbedHistogram, Summary
from understudy.mechanisms.published import fits_model
from understudy.models.base import Model
from understudy.questions import Question
from understudy.support.randomness import Source
from understudy.synthesis.opening import Published

Floats = NDArray[np.float64]
Theta = Mapping[str, Any]

_OWN, _DRAWN = "own", "drawn"
_COUNT = 400
"""Draws where the release has none of its own."""


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of θ from a release, and how tables are simulated from it."""

    published: Published
    thetas: Sequence[Theta]
    """Draws of θ."""
    quiet: Sequence[Theta] | None
    """Draws as they would be without noise; None where they are made from the evidence."""
    public: Columns
    """The release's rows of public columns."""
    given: bool
    """Whether the question is about people with just these predictors."""
    source: Source

    @classmethod
    def of(cls, published: Published, *, given: bool, source: Source) -> Known:
        """Return what is known, or refuse where draws make no intervals."""
        contents = published.contents
        reason = Shares.declared(published.schema).no_intervals
        if reason is not None:
            raise Refused(reason)
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
        draws, quiet = _draws(published, public, source)
        return cls(published, draws, quiet, public, given, source)

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
        can = model is None or model.balanced is not None
        balanced = can and not public and not schema.rules
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
        if self.quiet is not None:
            return self._narrower(question, answers, self.quiet)
        estimate, source = self._position(self.published.contents["estimate"]), self.source
        if not few_parameters(self.evidence, len(answers.chosen)):
            quiet = draws_without_noise(self.evidence, estimate, source, count=len(self.thetas))
            thetas = _thetas(self.evidence.population.model, quiet)
            return self._narrower(question, answers, thetas)
        positions = np.array([self._position(self.thetas[k]) for k in answers.chosen])
        told = np.asarray(np.isfinite(answers.values).all(axis=0))
        covariances = narrowing(self.evidence, estimate, source)
        found = np.full(len(told), np.nan)
        found[told] = shares_of_width(answers.values[:, told], positions, covariances)
        return [None if np.isnan(share) else float(share) for share in found]

    def _narrower(
        self, question: Question, answers: Answers, quiet: Sequence[Theta]
    ) -> Sequence[float | None]:
        """Return by how much answers spread less at draws without noise."""
        quieter = np.nanstd(self._ask(question, quiet).values, axis=0)
        spread = np.nanstd(answers.values, axis=0)
        ratio = np.divide(quieter, spread, out=np.ones_like(spread), where=spread > 0)
        return [float(share) for share in (1 - ratio).clip(0, 1)]

    def of_records(
        self, question: Question, answers: Answers
    ) -> tuple[Answers, Sequence[float | None]]:
        """Return the answers about the table's own records, and what of their width is noise."""
        if self.published.contents["mechanism"] != Summary.name:
            raise Refused(
                "only summary measures the table's own records in a way that can be told from the "
                "population: ask about the population."
            )
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


def _draws(
    published: Published, public: Columns, source: Source
) -> tuple[Sequence[Theta], Sequence[Theta] | None]:
    """Return draws of θ, and those without noise where they are made in another way."""
    contents, mechanism = published.contents, published.contents["mechanism"]
    if mechanism == Summary.name:
        assert published.model is not None
        draws, estimate = contents.get("draws"), contents.get("estimate")
        listed: list[Any] = draws if isinstance(draws, list) and draws else [None]
        if not _are_thetas([estimate, *listed], published.model):
            raise BadInput(
                f"the draws of θ in '{published.name}' do not fit its model: the file is damaged."
            )
        return listed, None
    if mechanism == PerturbedHistogram.name:
        counts, scale = read_counts(contents)
        with_noise, without = (
            draws_of_counts(counts, scale, source.generator(), count=_COUNT, noise=noise)
            for noise in (True, False)
        )
        return [{"counts": each} for each in with_noise], [{"counts": each} for each in without]
    if mechanism == Anchored.name:
        assert published.model is not None
        stages = read_stages(contents, published.model)
        own = contents["population"]["predictors"] == _OWN
        population = Population(published.model, public, contents["population"]["size"], own)
        with_noise, without = (
            draws_after_tempering(population, stages, source, count=_COUNT, noise=noise)
            for noise in (True, False)
        )
        return _thetas(published.model, with_noise), _thetas(published.model, without)
    raise Refused(
        f"no intervals are known for releases by {mechanism}: make the release with summary, whose "
        f"noise is known."
    )


def _thetas(model: Model, positions: Floats) -> list[Theta]:
    return [dict(model.constrain(jnp.asarray(z))) for z in positions]


def _are_thetas(given: Sequence[object], model: Model) -> bool:
    return all(isinstance(theta, dict) and fits_model(theta, model) for theta in given)
