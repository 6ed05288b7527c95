"""Which scores to measure next: along which directions, how many, and clipped how far.

Records are simulated from the posterior so far. Directions are the generalised eigenvectors of
what a record tells against what is known already, those first in which records tell most, each
scaled so that a record's score has variance one. Their number m and the length C to which scores
are clipped maximise the expected gain

    log det(P + N² J′V⁻¹J) − log det P,      V = rNΣ + 2(rC/ε)², or rNΣ + (rC)²/(2ρ) at a δ,

with P the precision so far, r the rows that a record may count for and J, Σ those of the clipped
scores, so that what is lost by clipping and drowned by noise is counted. Directions that noise
would drown are left to the prior. Scores are centred before the clip, so that their mean at θ₀ is
zero after it, and the sum says nothing about the number of records.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.inference.allowance import Allowance
from understudy.inference.contribution import UNIT, ScoreContribution
from understudy.inference.moments import Population
from understudy.support.randomness import Source

Floats = NDArray[np.float64]

_COUNTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
_LENGTHS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0)
_OTHERS = 4
"""Further draws of θ, beside θ₀, that records are simulated from."""
_CENTRING = 8
"""Steps, as of Weiszfeld towards a geometric median, that make the clipped mean zero."""
_TRIED = 4096
"""Records that each number of directions and each length is tried on."""
COUNTED = 0.1
"""Share of C that counts a record, where nothing else does."""


@dataclass(frozen=True)
class _Trial:
    gain: float
    count: int
    length: float


def choose_scores(
    population: Population,
    z: Floats,
    precision: Floats,
    source: Source,
    *,
    allowance: Allowance,
    records: int,
    counted: bool,
) -> ScoreContribution:
    """Return the scores at θ₀ that are worth most at this price, given what is known already."""
    model, generator = population.model, source.generator()
    spread = np.linalg.cholesky(np.linalg.inv(precision))
    others = z + generator.normal(size=(_OTHERS, len(z))) @ spread.T
    own = population.simulate(z, source, records).slopes(z)
    elsewhere = [population.simulate(y, source, records // 4).slopes(z) for y in others]
    directions = _directions(own.T @ own / len(own), precision)
    samples = [slopes @ directions.T for slopes in (own, *elsewhere)]
    # Trials are many: they have to do with some of the records, and the last centre has them all.
    # Where public rows are fixed, every one of them was simulated, however few were asked for.
    some = generator.permutation(len(own))[:_TRIED]
    tried = [samples[0][some], *(_some(s, generator, records // 4) for s in samples[1:])]
    share, norm, most = COUNTED if counted else 0.0, allowance.norm, population.most
    rest = (1 - share**norm) ** (1 / norm)
    best = max(
        (
            _trial(
                own[some], [s[:, :m] for s in tried], length * rest, precision,
                size=population.size, most=most, variance=allowance.variance(most * length),
                norm=norm,
            )
            for m in sorted({*(c for c in _COUNTS if c < len(z)), len(z)})
            for length in _LENGTHS
        ),
        key=lambda trial: trial.gain,
    )  # fmt: skip
    length = int(best.length * UNIT)
    count = round(length * share / rest)
    chosen, centre = (
        directions[: best.count],
        _centre(samples[0][:, : best.count], best.length, norm),
    )
    return ScoreContribution(model, z, chosen, centre, length, count, norm=norm)


def _some(sample: Floats, generator: np.random.Generator, count: int) -> Floats:
    """Return so many of the records at random, or all where there are no more."""
    return sample if len(sample) <= count else sample[generator.permutation(len(sample))[:count]]


def _directions(information: Floats, precision: Floats) -> Floats:
    """Return the directions in which records tell most, in rows, each with scores of variance 1."""
    root = np.linalg.cholesky(precision)
    whitened = np.linalg.solve(root, np.linalg.solve(root, information).T)
    gains, axes = np.linalg.eigh((whitened + whitened.T) / 2)
    order = np.argsort(gains)[::-1]
    vectors = np.linalg.solve(root.T, axes[:, order])
    return (vectors / np.sqrt(np.maximum(gains[order], 1e-12))).T


def _trial(
    slopes: Floats,
    samples: list[Floats],
    length: float,
    precision: Floats,
    *,
    size: int,
    most: float,
    variance: float,
    norm: int,
) -> _Trial:
    """Return what scores clipped to a length are expected to tell, averaged over the samples."""
    centre = _centre(samples[0], length, norm)
    slope = None
    gain = 0.0
    for sample in samples:
        clipped = (sample - centre) * _kept(sample - centre, length, norm)
        clipped = clipped - clipped.mean(axis=0)
        if slope is None:
            slope = size * clipped.T @ slopes / len(slopes)
        covariance = most * size * clipped.T @ clipped / len(clipped)
        covariance += variance * np.eye(len(centre))
        told = precision + slope.T @ np.linalg.solve(covariance, slope)
        gain += np.linalg.slogdet(told)[1] / len(samples)
    return _Trial(gain, len(centre), length)


def _centre(sample: Floats, length: float, norm: int) -> Floats:
    """Return what makes the mean of clipped scores zero."""
    centre = np.zeros(sample.shape[1])
    for _ in range(_CENTRING):
        off = sample - centre
        kept = _kept(off, length, norm)
        centre = centre + (off * kept).mean(axis=0) / kept.mean()
    return centre


def _kept(scores: Floats, length: float, norm: int) -> Floats:
    """Return what is left of each record's scores, as a share."""
    long = np.linalg.norm(scores, ord=norm, axis=1, keepdims=True)
    return np.asarray(np.minimum(1.0, length / np.maximum(long, 1e-300)))
