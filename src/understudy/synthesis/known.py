"""What is known of θ from a release, and how tables are simulated from it.

Where public rows are a sample from the population, each draw weighs them anew (`whom.py`), unless
they are given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy._jax import jax, jnp
from understudy.domain.satisfying import draw_satisfying
from understudy.domain.tables import Columns, count_records
from understudy.domain.weighing import by_weight
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
from understudy.inference.whole import Whole, whole_without_noise
from understudy.mechanisms import Anchored, PerturbedHistogram, Summary
from understudy.mechanisms.published import fits_model, numbers
from understudy.models.base import Model
from understudy.questions import Question
from understudy.support.randomness import Source
from understudy.synthesis.opening import Published
from understudy.synthesis.whom import OWN, Whom

Floats = NDArray[np.float64]
Theta = Mapping[str, Any]

_MOST_OF_RECORDS = 400
"""Parameters of a whole table's model up to which it is asked about the very records."""
_FEW = 24
"""Columns up to which all are simulated, whatever is asked."""
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
    whom: Whom
    """Whose public rows the release has."""
    given: bool
    """Whether the question is about people with just these predictors."""
    source: Source

    @classmethod
    def of(cls, published: Published, *, given: bool, source: Source) -> Known:
        """Return what is known, or refuse where draws make no intervals."""
        reason = Shares.declared(published.schema).no_intervals
        if reason is not None:
            raise Refused(reason)
        weight = published.schema.released_weight
        if given and weight is not None:
            raise Refused(
                f"rows of the release have survey weights in '{weight.name}', and its answers are "
                f"about the population that they stand for: ask about the population."
            )
        whom = Whom.of(published)
        draws, quiet = _draws(published, whom, source)
        return cls(published, draws, quiet, whom, given, source)

    @property
    def model(self) -> Model:
        """Of a record."""
        assert self.published.model is not None
        return self.published.model

    @property
    def about(self) -> str:
        """Whom answers are about."""
        if self.given and self.whom.public:
            return "people with the predictors of the release"
        return self.whom.population

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the release's own check of the model says."""
        check = self.published.contents.get("check")
        said = check.get("warning") if isinstance(check, dict) else None
        return () if said is None else (str(said),)

    def ask(self, question: Question) -> Answers:
        """Return the answers at the draws."""
        return self._ask(question, self.thetas)

    def _ask(self, question: Question, thetas: Sequence[Theta]) -> Answers:
        seed = int(self.source.generator().integers(2**62))
        model = self._reaching(question)

        def simulate(number: int, rows: int) -> Columns:
            # Both tables of a draw have the same weights: they belong to the population.
            weights = np.random.default_rng([seed, number])
            public = self.whom.rows(rows, weights, self.source.generator(), given=self.given)
            made = self.simulated(thetas[number], public, rows, model=model)
            return self._as_population(made)

        return ask(question, simulate, draws=len(thetas))

    def _as_population(self, sample: Columns) -> Columns:
        """Return simulated rows as often as their survey weights say, where they have any."""
        weight = self.published.schema.released_weight
        return sample if weight is None else by_weight(sample, weight.name, count_records(sample))

    def _reaching(self, question: Question) -> Model | None:
        """Return the model of what a question is about, of hundreds of columns some."""
        schema, model = self.published.schema, self.published.model
        if model is None or model.in_turn is None or len(schema.columns) <= _FEW or schema.rules:
            return model
        weight = schema.released_weight
        asked = question.columns if weight is None else (*question.columns, weight.name)
        reduced: Model = model.in_turn.reaching(asked).model()
        return replace(reduced, as_declared=model.as_declared)

    def simulated(
        self, theta: Theta, public: Columns, rows: int, *, model: Model | None = None
    ) -> Columns:
        """Return a table at θ, beside public rows, or of so many where there are none.

        Args:
            theta: At which.
            public: The public rows.
            rows: How many.
            model: Of some columns; by default that of the release.
        """
        schema, model = self.published.schema, model or self.published.model
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
        prior, rounds = contents.get("prior"), contents.get("rounds")
        if prior is not None:
            row = replace(row, normal_prior=_normal(prior, row, self.published.name))
        population = Population(row, self.whom.public, self.whom.size, self.whom.predictors == OWN)
        measured = measurements(rounds if isinstance(rounds, list) else [], row)
        if not measured:
            raise BadInput(f"'{self.published.name}' holds no rounds: the file is damaged.")
        return Evidence(population, measured)

    def shares(self, question: Question, answers: Answers) -> Sequence[float | None]:
        """Return the share of each interval's width that is due to the noise."""
        if self.quiet is not None:
            return self._narrower(question, answers, self.quiet)
        source = self.source
        if self.model.in_turn is not None:
            whole = Whole(self.evidence.population, self.evidence.measurements)
            quiet = whole_without_noise(whole, source, count=len(self.thetas))
            return self._narrower(question, answers, quiet)
        estimate = self._position(self.published.contents["estimate"])
        if not few_parameters(self.evidence, len(answers.chosen)):
            positions = draws_without_noise(self.evidence, estimate, source, count=len(self.thetas))
            thetas = _thetas(self.evidence.population.model, positions)
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
        if self.whom.predictors not in (None, OWN):
            raise Refused(
                "the release does not hold the table's own public rows, each once, so nothing can "
                "be said of its very records: ask about the population, or make a release of as "
                "many rows as the table has."
            )
        if self.model.in_turn is not None and self.model.dimension > _MOST_OF_RECORDS:
            raise Refused(
                f"the model has {self.model.dimension:,} parameters, more than "
                f"{_MOST_OF_RECORDS:,}, and what its tables say of their very records is not "
                f"computed: ask about the population."
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
    published: Published, whom: Whom, source: Source
) -> tuple[Sequence[Theta], Sequence[Theta] | None]:
    """Return draws of θ, and those without noise where they are made in another way."""
    contents, mechanism = published.contents, published.contents["mechanism"]
    if mechanism == Summary.name:
        assert published.model is not None
        draws, estimate = contents.get("draws"), contents.get("estimate")
        listed: list[Any] = draws if isinstance(draws, list) and draws else [None]
        if not _are_thetas([estimate, *listed], published.model):
            raise BadInput(
                f"'{published.name}' holds no draws of θ that fit its model: name the public "
                f"directory of a release, or the file is damaged."
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
        population = Population(published.model, whom.public, whom.size, whom.predictors == OWN)
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
    if not all(isinstance(theta, dict) and fits_model(theta, model) for theta in given):
        return False
    stacked = {p.name: jnp.array([theta[p.name] for theta in given]) for p in model.parameters}  # type: ignore[index]
    return bool(np.isfinite(jax.vmap(model.unconstrain)(stacked)).all())


def _normal(prior: object, model: Model, name: str) -> tuple[Floats, Floats]:
    """Return the prior that an earlier release made, or refuse what is none."""
    told = prior if isinstance(prior, dict) else {}
    mean, covariance = numbers(told.get("mean")), numbers(told.get("covariance"))
    shape = (model.dimension,)
    if mean is None or covariance is None or (mean.shape, covariance.shape) != (shape, 2 * shape):
        raise BadInput(f"what '{name}' says of its prior cannot be: the file is damaged.")
    return mean, covariance
