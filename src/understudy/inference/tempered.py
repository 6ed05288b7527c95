"""Draws of θ given what a climb by `anchored` has published.

Which candidate a stage picks depends on the confidential table by way of the sums V = Σᵢ s(xᵢ) of
all candidates' scores alone:

    p(θ̃ | V)  ∝  exp(V_θ̃) c_θ̃ / Σ exp(V_candidate) c_candidate,        c = prior / proposal,

and over tables of N records from the model at θ, V is a normal, for it adds up N scores within ±B:

    p(θ | θ̃₁, θ̃₂, ...)  ∝  ξ(θ) · E[ p(θ̃₁ | V) p(θ̃₂ | V) ... ],      V ~ Normal(N μ(θ), N Σ(θ)).

All stages of a climb saw the same table, so V holds the scores of all of them, and each says its
part. What the draws do not take for granted: that a tempered posterior is normal, that it lies
around the right θ (what is censored pulls it to the anchor), and that there were candidates
wherever it has mass. Those that were not picked are not published; as many others from the same
public proposal stand for them.

A table from θ is had from records simulated at one θ̂: each is there p_θ(x) / p_θ̂(x) times as
often, more or less by chance. That ∇f_θ̂ has mean zero says how far the simulated records' mean
scores are off. Candidates for θ come from a wide t distribution and are drawn by their weights, one
table for each: an unbiased estimate of the expectation above is as good as the expectation itself.
A first round says where the second one looks.

Where the number of records is protected, N is what was declared: θ̃ does not tell. A table of half
as many records makes intervals too narrow by a factor of √2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from understudy.inference.evidence import Evidence
from understudy.inference.moments import Population, Simulated
from understudy.inference.stages import TemperedStage
from understudy.models.base import Model
from understudy.samplers.proposals import Proposal, log_priors
from understudy.support.randomness import Source

Floats = NDArray[np.float64]

_ROUNDS = ((256, 2048), (1024, 4096))
"""Candidates for θ, and simulated records, of each round."""
_WIDEN = 1.2
_NEVER = 30.0
"""A candidate of a stage whose log weight at θ̂ is so far below the largest is never picked."""
_CANDIDATES, _SHARING = 16384, 128
"""Candidates of a stage in all sets of them together, and tables that share a set."""
_BLOCK = 1024


def draws_after_tempering(
    population: Population,
    stages: Sequence[TemperedStage],
    source: Source,
    *,
    count: int,
    noise: bool = True,
) -> Floats:
    """Return draws of θ in unconstrained coordinates, shape (count, dimension).

    Args:
        population: Whom the records are drawn from.
        stages: All that was published of the climb, first to last.
        source: Where randomness comes from.
        count: How many draws.
        noise: Whether θ̃ is taken for what it is, a tempered draw. Without, draws are about those
            that the table itself would allow, were it known; they lie around the same θ.
    """
    generator, last = source.generator(), stages[-1]
    covariance = (1 + 1 / last.alpha) * _covariance_of_known(population, last.drawn, source)
    proposal = Proposal.with_covariance(last.drawn, _WIDEN * covariance)
    for candidates, records in _ROUNDS:
        points = proposal.draw(generator, candidates)
        tables = _Tables.of(population, proposal.centre, points, source, records=records)
        heights = log_priors(population.model, points) - proposal.log_density(points)
        for stage in stages:
            heights += tables.log_probability(stage, generator)
        weights = np.exp(heights - heights.max())
        weights /= weights.sum()
        proposal = _narrowed(points, weights)
    if noise:
        return points[generator.choice(len(points), size=count, p=weights)]
    centre = proposal.centre
    root = np.linalg.cholesky(_covariance_of_known(population, centre, source))
    return np.asarray(centre + generator.normal(size=(count, len(centre))) @ root.T)


@dataclass(frozen=True, eq=False)
class _Tables:
    """A table from each of many θ, as weights of records that were simulated at one θ̂."""

    model: Model
    size: int
    records: Simulated
    slopes: Floats
    """∇f_θ̂ of each record."""
    weights: Floats
    """How often each record is there, shape (tables, records)."""

    @classmethod
    def of(
        cls, population: Population, centre: Floats, points: Floats, source: Source, *, records: int
    ) -> _Tables:
        """Return a table for each of the points, from about so many records."""
        simulated, generator = population.simulate(centre, source, records), source.generator()
        logs = simulated.loglik(np.vstack([centre, points]))
        ratio = logs[1:] - logs[0]
        often = np.exp(ratio - ratio.max(axis=1, keepdims=True))
        often *= population.size / often.sum(axis=1, keepdims=True)
        chance = np.sqrt(often) * generator.normal(size=often.shape)
        weights = often + _in_all_nothing(chance, often, simulated.repeats)
        return cls(population.model, population.size, simulated, simulated.slopes(centre), weights)

    def log_probability(self, stage: TemperedStage, generator: np.random.Generator) -> Floats:
        """Return how likely the stage's draw was for each table, up to a constant."""
        tables = len(self.weights)
        sets = max(min(_CANDIDATES // stage.candidates, tables // _SHARING), 1)
        heights = np.empty(tables)
        for k in range(sets):
            others = stage.proposal.draw(generator, stage.candidates - 1)
            points = np.concatenate([stage.drawn[None], others])
            sums = self._sums(stage, points, self.weights[k::sets])
            heights[k::sets] = sums[:, 0] - logsumexp(sums, axis=1)
        return heights

    def _sums(self, stage: TemperedStage, points: Floats, weights: Floats) -> Floats:
        """Return the log weights of candidates for each table: the first, and all that count."""
        sums, largest = [], -math.inf
        for start in range(0, len(points), _BLOCK):
            z = points[start : start + _BLOCK]
            constant = log_priors(self.model, z) - stage.proposal.log_density(z)
            scores = stage.scores(self.model, self.records.prepared.own, z).T
            constant -= self.size * self._off(scores)
            heights = self.size * scores.mean(axis=0) + constant
            largest = max(largest, float(heights.max()))
            kept = heights > largest - _NEVER
            kept[:1] |= start == 0
            sums.append(weights @ scores[:, kept] + constant[kept])
        return np.concatenate(sums, axis=1)

    def _off(self, scores: Floats) -> Floats:
        """Return how far mean scores at θ̂ are off, as far as the mean of ∇f_θ̂ tells, which is 0."""
        records, slopes = self.records, self.slopes
        information = slopes.T @ slopes / records.records
        weight = np.linalg.lstsq(information, records.within(slopes, scores), rcond=1e-10)[0]
        return np.asarray(slopes.mean(axis=0) @ weight)


def _in_all_nothing(chance: Floats, often: Floats, repeats: int) -> Floats:
    """Return chance that leaves the number of records as it is: of all, or of each public row."""
    groups = (len(often), repeats, -1) if repeats > 1 else (len(often), -1, 1)
    grouped, expected = chance.reshape(groups), often.reshape(groups)
    share = expected / expected.sum(axis=1, keepdims=True)
    centred = grouped - share * grouped.sum(axis=1, keepdims=True)
    # Measured from a mean of few repeats, values vary less than they do.
    scale = math.sqrt(repeats / (repeats - 1)) if repeats > 1 else 1.0
    return (scale * centred).reshape(often.shape)


def _covariance_of_known(population: Population, z: Floats, source: Source) -> Floats:
    """Return about the covariance of θ if the table were known, from the information at a point."""
    simulated = population.simulate(z, source, _ROUNDS[-1][1])
    slopes = simulated.slopes(z)
    information = slopes.T @ slopes * (population.size / simulated.records)
    _, _, prior = Evidence(replace(population, known=True), ()).prior(z)
    return np.asarray(np.linalg.inv(information + prior))


def _narrowed(points: Floats, weights: Floats) -> Proposal:
    """Return a proposal that fits the weighted candidates."""
    # Half-hearted weights keep few good candidates from making the next proposal too narrow.
    flat = np.sqrt(weights) / np.sqrt(weights).sum()
    centre = weights @ points
    covariance = (points - centre).T @ ((points - centre) * flat[:, None])
    return Proposal.with_covariance(centre, covariance + 1e-9 * np.diag(np.diag(covariance)))
