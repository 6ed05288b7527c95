"""Which scores to measure next: along which directions, how many, and clipped how far.

Records are simulated from the posterior so far. Directions are the generalised eigenvectors of
what a record tells against what is known already, those first in which records tell most, each
scaled so that a record's score has variance one. Their number m and the length C to which scores
are clipped maximise the expected gain

    log det(P + N² J′V⁻¹J) − log det P,      V = rNΣ + 2(rC/ε)²,

with P the precision so far, r the rows that a record may count for and J, Σ those of the clipped
scores, so that what is lost by clipping and drowned by noise is counted. Directions that noise
would drown are left to the prior. Scores are centred before the clip, so that their mean at θ₀ is
zero after it, and the sum says nothing about the number of records.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
COUNTED = 0.1
"""Share of C that counts a record, where nothing else does."""


@dataclass(frozen=True)
class _Trial:
    gain: float
    count: int
    length: float
    centre: Floats


def choose_scores(
    population: Population,
    z: Floats,
    precision: Floats,
    source: Source,
    *,
    epsilon: float,
    records: int,
    counted: bool,
) -> ScoreContribution:
    """Return the scores at θ₀ that are worth most at this ε, given what is known already."""
    model, generator = population.model, source.generator()
    spread = np.linalg.cholesky(np.linalg.inv(precision))
    others = z + generator.normal(size=(_OTHERS, len(z))) @ spread.T
    own = population.simulate(z, source, records).slopes(z)
    elsewhere = [population.simulate(y, source, records // 4).slopes(z) for y in others]
    directions = _directions(own.T @ own / len(own), precision)
    samples = [slopes @ directions.T for slopes in (own, *elsewhere)]
    share = COUNTED if counted else 0.0
    best = max(
        (
            _trial(
                own, [s[:, :m] for s in samples], length * (1 - share), precision,
                size=population.size, most=population.most, scale=length / epsilon,
            )
            for m in sorted({*(c for c in _COUNTS if c < len(z)), len(z)})
            for length in _LENGTHS
        ),
        key=lambda trial: trial.gain,
    )  # fmt: skip
    length = int(best.length * UNIT)
    count = round(length * share / (1 - share))
    return ScoreContribution(model, z, directions[: best.count], best.centre, length, count)


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
    scale: float,
) -> _Trial:
    """Return what scores clipped to a length are expected to tell, averaged over the samples."""
    centre = np.zeros(samples[0].shape[1])
    for _ in range(_CENTRING):
        off = samples[0] - centre
        centre = centre + _clipped(off, length).mean(axis=0) / _kept(off, length).mean()
    slope = None
    gain = 0.0
    for sample in samples:
        clipped = _clipped(sample - centre, length)
        clipped = clipped - clipped.mean(axis=0)
        if slope is None:
            slope = size * clipped.T @ slopes / len(slopes)
        covariance = most * size * clipped.T @ clipped / len(clipped)
        covariance += 2 * (most * scale) ** 2 * np.eye(len(centre))
        told = precision + slope.T @ np.linalg.solve(covariance, slope)
        gain += np.linalg.slogdet(told)[1] / len(samples)
    return _Trial(gain, len(centre), length, centre)


def _clipped(scores: Floats, length: float) -> Floats:
    return scores * _kept(scores, length)


def _kept(scores: Floats, length: float) -> Floats:
    """Return what is left of each record's scores, as a share."""
    norm = np.abs(scores).sum(axis=1, keepdims=True)
    return np.asarray(np.minimum(1.0, length / np.maximum(norm, 1e-300)))
