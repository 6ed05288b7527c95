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

Of many parameters, or where few candidates would stand for all draws, a chain takes their place
(`chain.py`); should the pool not reach as far as the chain goes, draws are those of the normal
around the mode.
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
from understudy.inference.mode import Mode
from understudy.inference.pool import Pool
from understudy.samplers.proposals import Proposal
from understudy.support.randomness import Source

Floats = NDArray[np.float64]

_FIRST_CANDIDATES, _CANDIDATES = 256, 1024
_POOL = 8192
_ROUNDS = 5
"""Proposals at most, each fitted to the candidates of the one before."""
_WIDEN = 1.1
_CHAINS, _BURN_IN = 50, 10
_MOST_COORDINATES = 16
"""With more, no candidate of a proposal would be likely enough to stand for the posterior."""
_FEWEST_EFFECTIVE = 200
"""Candidates that have to count: with fewer, many draws would be the same one."""


def posterior_draws(
    evidence: Evidence, mode: Mode, source: Source, *, count: int
) -> tuple[Floats, str]:
    """Return so many draws, one in a row, and how they were drawn."""
    generator = source.generator()
    if len(mode.point) > _MOST_COORDINATES:
        walked = chain_draws(evidence, mode, source, count=count)
        return (_normal(mode, generator, count), "normal") if walked is None else (walked, "nuts")
    pool = Pool.around(evidence, mode, source, records=_POOL)
    proposal = Proposal.with_covariance(mode.point, _WIDEN**2 * mode.covariance)
    heights = _Heights.empty(evidence, mode)
    for turn in range(_ROUNDS):
        points = proposal.draw(generator, _CANDIDATES if turn else _FIRST_CANDIDATES)
        heights = heights.joined(evidence, points, proposal, pool)
        log_weights = heights.log_weights(evidence.variance)
        if turn and 1 / np.sum(_shares(log_weights) ** 2) >= _FEWEST_EFFECTIVE:
            break
        proposal = _narrowed(heights.points, log_weights)
    else:
        walked = chain_draws(evidence, mode, source, count=count)
        if walked is not None:
            return walked, "nuts"
    return heights.points[_in_turn(evidence, heights, generator, count)], "importance"


def _normal(mode: Mode, generator: np.random.Generator, count: int) -> Floats:
    """Return draws of the normal around the mode, as far below it as above."""
    half = generator.normal(size=(count // 2, len(mode.point)))
    steps = half @ np.linalg.cholesky(mode.covariance).T
    return np.asarray(mode.point + np.concatenate([steps, -steps]))


@dataclass(frozen=True)
class _Heights:
    """Candidates with what they predict."""

    points: Floats
    log_prior: Floats
    rest: Floats
    """T̃ − Nμ(θ), shape (candidates, width)."""
    covariance: Floats
    """NΣ, at the mode."""
    proposals: tuple[tuple[int, Proposal], ...] = ()
    """How many candidates came from which proposal."""

    @classmethod
    def empty(cls, evidence: Evidence, mode: Mode) -> _Heights:
        """Return no candidates yet."""
        none = np.zeros((0, len(mode.point)))
        rest = np.zeros((0, len(evidence.values)))
        return cls(none, np.zeros(0), rest, mode.prediction.covariance)

    def joined(
        self, evidence: Evidence, points: Floats, proposal: Proposal, pool: Pool
    ) -> _Heights:
        """Return them with more candidates, from a proposal."""
        sizes = np.array([evidence.size(point) for point in points])
        means = pool.means(points[:, : evidence.population.model.dimension])
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
) -> Any:
    """Return which candidates are drawn, variances of the noise in turn with them.

    Several chains go side by side. All candidates' misfits under all chains' variances are one
    product of matrices: r′Wr is the sum of the entries of W times those of rr′.
    """
    if evidence.normal.all():
        shares = _shares(heights.log_weights(evidence.variance))
        return generator.choice(len(shares), size=count, p=shares)
    scale, covariance = evidence.laplace, heights.covariance
    chains = min(_CHAINS, count)
    variance = np.tile(evidence.variance, (chains, 1))
    above = np.triu_indices(len(scale))
    squares = heights.rest[:, above[0]] * heights.rest[:, above[1]]
    squares *= np.where(above[0] == above[1], 0.5, 1.0)
    chosen = []
    for _ in range(_BURN_IN + -(-count // chains)):
        total = covariance + variance[:, :, None] * np.eye(len(scale))
        weight = np.asarray(np.linalg.inv(total))
        logs = heights.constant - weight[:, above[0], above[1]] @ squares.T
        cumulated = np.cumsum(np.exp(logs - logs.max(axis=1, keepdims=True)), axis=1)
        level = generator.random(chains) * cumulated[:, -1]
        candidate = np.minimum((cumulated < level[:, None]).sum(axis=1), len(heights.rest) - 1)
        rest = heights.rest[candidate]
        variance = variances_given(
            evidence, variance, weight=weight, rest=rest, root=heights.root, generator=generator
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
