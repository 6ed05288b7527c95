"""Draws of θ given what was measured.

Candidates come from a wide t distribution around the mode; what each predicts is had from one pool
of simulated records, reweighted by p_θ(x) / q(x), where q is the mixture of several θ that the pool
was simulated from. Where noise is normal, candidates are drawn by their weights. Laplace noise is
a normal whose variance τ is exponential with mean 2b², so candidates and variances are drawn in
turn:

    candidate | τ      in proportion to prior / proposal · Normal(T̃; Nμ, NΣ + τ),
    T | candidate, τ   a normal,
    1/τ | T            inverse Gaussian with mean 1 / (b |T̃ − T|) and shape 1/b².
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from understudy.inference.evidence import Evidence
from understudy.inference.mode import Mode
from understudy.inference.moments import Simulated
from understudy.samplers.proposals import Proposal
from understudy.support.randomness import Source

Floats = NDArray[np.float64]

_CANDIDATES = 1024
_POOL = 8192
_COMPONENTS = 8
_ROUNDS = 2
_WIDEN = 1.1
_BURN_IN = 50
_MOST_COORDINATES = 16
"""With more, no candidate of a proposal would be likely enough to stand for the posterior."""


def posterior_draws(evidence: Evidence, mode: Mode, source: Source, *, count: int) -> Floats:
    """Return so many draws, one in a row; of many parameters, from the normal around the mode."""
    generator = source.generator()
    if len(mode.point) > _MOST_COORDINATES:
        half = generator.normal(size=(count // 2, len(mode.point)))
        steps = half @ np.linalg.cholesky(mode.covariance).T
        return mode.point + np.concatenate([steps, -steps])
    proposal = Proposal.with_covariance(mode.point, _WIDEN**2 * mode.covariance)
    pool = _Pool.around(evidence, mode, source)
    for _ in range(_ROUNDS - 1):
        points = proposal.draw(generator, _CANDIDATES)
        heights = _Heights.of(evidence, mode, points, proposal, pool)
        proposal = _narrowed(points, heights.log_weights(evidence.variance))
    points = proposal.draw(generator, _CANDIDATES)
    heights = _Heights.of(evidence, mode, points, proposal, pool)
    return points[_in_turn(evidence, heights, generator, count)]


@dataclass(frozen=True)
class _Pool:
    """Simulated records that stand for any θ nearby."""

    records: Simulated
    contributions: Floats
    log_density: Floats
    """log q of each record."""
    correction: Floats
    """What the mean at the mode, estimated with a control variate, adds to the pool's own."""

    @classmethod
    def around(cls, evidence: Evidence, mode: Mode, source: Source) -> _Pool:
        # Fixed rows would have to be simulated all of them for each θ; the correction puts right
        # what rows at random are off at the mode.
        population, generator = replace(evidence.population, known=False), source.generator()
        spread = np.linalg.cholesky(mode.covariance)
        others = mode.point + generator.normal(size=(_COMPONENTS - 1, len(spread))) @ spread.T
        places = np.array([evidence.position(p) for p in (mode.point, *others)])
        parts = [population.simulate(z, source, _POOL // _COMPONENTS) for z in places]
        records = Simulated.pooled(parts)
        values = records.contributions(evidence.contributions)
        mixture = logsumexp(records.loglik(places), axis=0) - np.log(_COMPONENTS)
        pool = cls(records, values, mixture, np.zeros(1))
        own = mode.prediction.mean / evidence.size(mode.point)
        return replace(pool, correction=own - pool.means(places[:1])[0])

    def means(self, z: Floats) -> Floats:
        """Return μ(θ) for each row of unconstrained coordinates."""
        ratio = self.records.loglik(z) - self.log_density
        weight = np.exp(ratio - ratio.max(axis=1, keepdims=True))
        weight /= weight.sum(axis=1, keepdims=True)
        return weight @ self.contributions + self.correction


@dataclass(frozen=True)
class _Heights:
    """Candidates with what they predict."""

    constant: Floats
    """log prior − log proposal."""
    rest: Floats
    """T̃ − Nμ(θ), shape (candidates, width)."""
    covariance: Floats
    """NΣ, at the mode."""

    @classmethod
    def of(
        cls, evidence: Evidence, mode: Mode, points: Floats, proposal: Proposal, pool: _Pool
    ) -> _Heights:
        sizes = np.array([evidence.size(point) for point in points])
        means = pool.means(points[:, : evidence.population.model.dimension])
        constant = evidence.log_prior(points) - proposal.log_density(points)
        return cls(constant, evidence.values - sizes[:, None] * means, mode.prediction.covariance)

    def log_weights(self, variance: Floats) -> Floats:
        """Return the log weight of each candidate, given the variances of the noise."""
        root = np.linalg.cholesky(self.covariance + np.diag(variance))
        return self.constant - 0.5 * np.sum(np.linalg.solve(root, self.rest.T) ** 2, axis=0)


def _shares(log_weights: Floats) -> Floats:
    weights = np.exp(log_weights - log_weights.max())
    return np.asarray(weights / weights.sum())


def _narrowed(points: Floats, log_weights: Floats) -> Proposal:
    """Return a proposal that fits the weighted candidates."""
    shares = _shares(log_weights)
    # Half-hearted weights keep few good candidates from making the next proposal too narrow.
    flat = _shares(log_weights / 2)
    centre = shares @ points
    covariance = (points - centre).T @ ((points - centre) * flat[:, None])
    jitter = 1e-9 * np.diag(np.diag(covariance))
    return Proposal.with_covariance(centre, covariance + jitter)


def _in_turn(
    evidence: Evidence, heights: _Heights, generator: np.random.Generator, count: int
) -> list[int]:
    """Return which candidates are drawn, variances of the noise in turn with them."""
    scale, variance = evidence.laplace, evidence.variance
    if evidence.normal.all():
        shares = _shares(heights.log_weights(variance))
        return [int(each) for each in generator.choice(len(shares), size=count, p=shares)]
    chosen = []
    for _ in range(_BURN_IN + count):
        candidate = generator.choice(len(heights.rest), p=_shares(heights.log_weights(variance)))
        rest = heights.rest[candidate]
        gain = np.linalg.solve(heights.covariance + np.diag(variance), heights.covariance).T
        left = heights.covariance - gain @ heights.covariance
        spread, axes = np.linalg.eigh((left + left.T) / 2)
        wiggle = axes @ (np.sqrt(np.maximum(spread, 0.0)) * generator.normal(size=len(rest)))
        noise = np.abs(rest - gain @ rest - wiggle)
        mixed = 1 / generator.wald(1 / (scale * np.maximum(noise, 1e-9 * scale)), scale**-2)
        variance = np.where(evidence.normal, evidence.variance, mixed)
        chosen.append(int(candidate))
    return chosen[_BURN_IN:]
