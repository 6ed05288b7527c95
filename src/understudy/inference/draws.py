"""Draws of θ given what was measured.

Candidates come from a wide t distribution around the mode, and from others that are fitted to all
candidates so far until enough of them count; each is weighed by the mixture of these proposals
(Cornuet, Marin, Mira and Robert 2012), so that none counts too much for being rare in one of them.
What each predicts is had from one pool of simulated records, reweighted by p_θ(x) / q(x), where q
is the mixture of several θ that the pool was simulated from. Where noise is normal, candidates are
drawn by their weights. Laplace noise is a normal whose variance τ is exponential with mean 2b², so
candidates and variances are drawn in turn:

    candidate | τ      in proportion to prior / proposal · Normal(T̃; Nμ, NΣ + τ),
    T | candidate, τ   a normal,
    1/τ | T            inverse Gaussian with mean 1 / (b |T̃ − T|) and shape 1/b².

Where few candidates would stand for all draws, the mode may have been a lesser one: a fit from the
best candidate finds another, and candidates are drawn around both. Where that does not help, and of
many parameters, a chain takes their place (`chain.py`); should the pool not reach as far as the
chain goes, draws are those of the normal around the mode.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from understudy.inference.chain import chain_draws
from understudy.inference.evidence import Evidence
from understudy.inference.mode import RECORDS, Mode, around, find_mode
from understudy.inference.pool import Pool
from understudy.samplers.proposals import Proposal
from understudy.support.randomness import Source

Floats = NDArray[np.float64]

_FIRST_CANDIDATES, _CANDIDATES = 256, 1024
_POOL = 8192
_ROUNDS = 4
"""Proposals at most that are fitted to candidates."""
_MODES = 3
"""Modes at most that candidates are drawn around."""
_WIDEN = 1.1
_CHAINS, _BURN_IN = 50, 10
_MOST_COORDINATES = 16
"""With more, no candidate of a proposal would be likely enough to stand for the posterior."""
_FEWEST_EFFECTIVE = 200
"""Candidates that have to count: with fewer, many draws would be the same one."""


@dataclass(frozen=True)
class Draws:
    """Draws of θ, and how they were had."""

    points: Floats
    """One in a row: unconstrained coordinates, and log N where it is not known."""
    sampler: str
    modes: tuple[Mode, ...]
    """The mode, and those that candidates led to."""

    @property
    def mode(self) -> Mode:
        """The most plausible of them."""
        return _best(self.modes)


def posterior_draws(evidence: Evidence, mode: Mode, source: Source, *, count: int) -> Draws:
    """Return so many draws of θ, and what modes there are."""
    generator = source.generator()
    modes: tuple[Mode, ...] = (mode,)
    if len(mode.point) <= _MOST_COORDINATES:
        for _ in range(_MODES):
            candidates = _candidates(evidence, modes, source, generator)
            if candidates.effective >= _FEWEST_EFFECTIVE:
                chosen = _in_turn(evidence, candidates, generator, count)
                return Draws(candidates.points[chosen], "importance", modes)
            found = find_mode(evidence, candidates.best, source, records=RECORDS, hot=False)
            # Candidates go on from there, so that the point itself may be a little off.
            there = around(evidence, found.point, source, records=mode.records)
            modes = (*modes, replace(there, steps=found.steps, settled=found.settled))
    walked = chain_draws(evidence, _best(modes), source, count=count)
    if walked is None:
        return Draws(_normal(_best(modes), generator, count), "normal", modes)
    return Draws(walked, "nuts", modes)


def _best(modes: tuple[Mode, ...]) -> Mode:
    return min(modes, key=lambda mode: mode.height)


def _candidates(
    evidence: Evidence, modes: tuple[Mode, ...], source: Source, generator: np.random.Generator
) -> _Candidates:
    """Return candidates from around all modes, and from proposals that are fitted to them."""
    pool = Pool.around(evidence, _best(modes), source, records=_POOL)
    candidates = _Candidates.none(evidence, pool, _best(modes))
    for mode in modes:
        wide = Proposal.with_covariance(mode.point, _WIDEN**2 * mode.covariance)
        candidates = candidates.joined(wide.draw(generator, _FIRST_CANDIDATES), wide)
    for _ in range(_ROUNDS):
        fitted = _fitted(candidates.points, candidates.log_weights)
        candidates = candidates.joined(fitted.draw(generator, _CANDIDATES), fitted)
        if candidates.effective >= _FEWEST_EFFECTIVE:
            break
    return candidates


def _normal(mode: Mode, generator: np.random.Generator, count: int) -> Floats:
    """Return draws of the normal around the mode, as far below it as above."""
    half = generator.normal(size=(count // 2, len(mode.point)))
    steps = half @ np.linalg.cholesky(mode.covariance).T
    return np.asarray(mode.point + np.concatenate([steps, -steps]))


@dataclass(frozen=True)
class _Candidates:
    """Candidates with what they predict."""

    evidence: Evidence
    pool: Pool
    covariance: Floats
    """NΣ, at the mode."""
    points: Floats
    log_prior: Floats
    rest: Floats
    """T̃ − Nμ(θ), shape (candidates, width)."""
    proposals: tuple[tuple[int, Proposal], ...] = ()
    """How many candidates came from which proposal."""

    @classmethod
    def none(cls, evidence: Evidence, pool: Pool, mode: Mode) -> _Candidates:
        """Return no candidates yet."""
        points, rest = np.zeros((0, len(mode.point))), np.zeros((0, len(evidence.values)))
        return cls(evidence, pool, mode.prediction.covariance, points, np.zeros(0), rest)

    def joined(self, points: Floats, proposal: Proposal) -> _Candidates:
        """Return them with more candidates, which are from a proposal."""
        evidence = self.evidence
        sizes = np.array([evidence.size(point) for point in points])
        means = self.pool.means(points[:, : evidence.population.model.dimension])
        rest = evidence.values - sizes[:, None] * means
        return replace(
            self,
            points=np.concatenate([self.points, points]),
            log_prior=np.concatenate([self.log_prior, evidence.log_prior(points)]),
            rest=np.concatenate([self.rest, rest]),
            proposals=(*self.proposals, (len(points), proposal)),
        )

    @cached_property
    def constant(self) -> Floats:
        """log prior − log of the mixture of all proposals."""
        parts = [np.log(count) + each.log_density(self.points) for count, each in self.proposals]
        return np.asarray(self.log_prior - logsumexp(parts, axis=0))

    @cached_property
    def root(self) -> Floats:
        """A root of the covariance, which may be singular."""
        spread, axes = np.linalg.eigh(self.covariance)
        return np.asarray(axes * np.sqrt(np.maximum(spread, 0.0)))

    @cached_property
    def log_weights(self) -> Floats:
        """The log weight of each candidate, all noise being normal."""
        root = np.linalg.cholesky(self.covariance + np.diag(self.evidence.variance))
        logs = self.constant - 0.5 * np.sum(np.linalg.solve(root, self.rest.T) ** 2, axis=0)
        # Where no record of the pool is possible, nothing is known of what θ predicts.
        return np.where(np.isnan(logs), -np.inf, logs)

    @property
    def effective(self) -> float:
        """How many of them count."""
        return float(1 / np.sum(_shares(self.log_weights) ** 2))

    @property
    def best(self) -> Floats:
        """The candidate that counts most."""
        return np.asarray(self.points[np.argmax(self.log_weights)])


def _shares(log_weights: Floats) -> Floats:
    weights = np.exp(log_weights - log_weights.max())
    return np.asarray(weights / weights.sum())


def _fitted(points: Floats, log_weights: Floats) -> Proposal:
    """Return a proposal that fits the weighted candidates."""
    shares = _shares(log_weights)
    # Half-hearted weights keep few good candidates from making the next proposal too narrow.
    flat = _shares(log_weights / 2)
    centre = shares @ points
    covariance = (points - centre).T @ ((points - centre) * flat[:, None])
    jitter = 1e-9 * np.diag(np.diag(covariance))
    return Proposal.with_covariance(centre, covariance + jitter)


def _in_turn(
    evidence: Evidence, candidates: _Candidates, generator: np.random.Generator, count: int
) -> Any:
    """Return which candidates are drawn, variances of the noise in turn with them.

    Several chains go side by side. All candidates' misfits under all chains' variances are one
    product of matrices: r′Wr is the sum of the entries of W times those of rr′.
    """
    if evidence.normal.all():
        shares = _shares(candidates.log_weights)
        return generator.choice(len(shares), size=count, p=shares)
    scale, covariance = evidence.laplace, candidates.covariance
    chains = min(_CHAINS, count)
    variance = np.tile(evidence.variance, (chains, 1))
    above = np.triu_indices(len(scale))
    squares = candidates.rest[:, above[0]] * candidates.rest[:, above[1]]
    squares *= np.where(above[0] == above[1], 0.5, 1.0)
    chosen = []
    for _ in range(_BURN_IN + -(-count // chains)):
        total = covariance + variance[:, :, None] * np.eye(len(scale))
        weight = np.asarray(np.linalg.inv(total))
        logs = candidates.constant - weight[:, above[0], above[1]] @ squares.T
        cumulated = np.cumsum(np.exp(logs - logs.max(axis=1, keepdims=True)), axis=1)
        level = generator.random(chains) * cumulated[:, -1]
        candidate = np.minimum((cumulated < level[:, None]).sum(axis=1), len(candidates.rest) - 1)
        rest = candidates.rest[candidate]
        variance = variances_given(
            evidence, variance, weight=weight, rest=rest, root=candidates.root, generator=generator
        )
        chosen.append(candidate)
    return np.concatenate(chosen[_BURN_IN:])[:count]


def variances_given(
    evidence: Evidence,
    variance: Floats,
    *,
    weight: Floats,
    rest: Floats,
    root: Floats,
    generator: np.random.Generator,
) -> Floats:
    """Return the next variances of the noise, given θ: first what the noise was, then its variance.

    The noise is a normal with mean Dr and covariance D − D V⁻¹ D, where D are the variances; drawn
    as e − D V⁻¹(s + e − r) with s, e from their own normals.

    Args:
        evidence: What was measured.
        variance: Variances of the noise until now, shape (chains, width).
        weight: V⁻¹ with them, shape (chains, width, width).
        rest: r = T̃ − Nμ(θ) of each chain.
        root: A root of NΣ.
        generator: Where randomness comes from.
    """
    scale = evidence.laplace
    sums = generator.normal(size=rest.shape) @ root.T
    own = generator.normal(size=rest.shape) * np.sqrt(variance)
    noise = np.abs(own - variance * np.einsum("kij,kj->ki", weight, sums + own - rest))
    mixed = 1 / generator.wald(1 / (scale * np.maximum(noise, 1e-9 * scale)), scale**-2)
    return np.where(evidence.normal, evidence.variance, mixed)
