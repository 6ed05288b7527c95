"""Answers about the very records of the table, which is what was measured.

The answer Q of a table of N records differs from the population's q(θ) by about the mean of an
influence function ψ over its records, and T is the sum of w over the same records. So given θ they
are normal together, with

    Cov(Q, T) = Cov(ψ, w) = c,      Var Q = Var ψ / N,      V = NΣ + noise,

and given T̃, too, Q is normal with mean q(θ) + c V⁻¹(T̃ − Nμ(θ)) and variance Var Q − c V⁻¹c′. What
T̃ tells of Q beyond θ is most of what there is to know where noise is small: the table's own mean is
measured far better than the population's. Laplace noise has variances of its own, drawn in turn
with the noise (`draws.py`).

Where public rows are those of the table, all of it is meant given them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from understudy.inference.draws import variances_given
from understudy.inference.evidence import Evidence
from understudy.inference.measurement import LEAST
from understudy.inference.mode import Mode, around
from understudy.inference.noiseless import narrowing
from understudy.inference.pool import Pool
from understudy.questions import Question
from understudy.support.randomness import Source

Floats = NDArray[np.float64]

_RECORDS = 2**16
_POOL = 16_384
_WIDE = 100
"""With more entries than this, Laplace noise is taken for normal, as in `chain.py`."""
_STEPS = 20


def of_records(
    question: Question, evidence: Evidence, positions: Floats, answers: Floats, source: Source
) -> tuple[Floats, Floats]:
    """Return answers about the records of the table, and how far they spread without the noise.

    Without it, T is known, and what is left of Q given T and θ; θ then varies by the covariance C₀
    of `noiseless.py`, which moves q(θ) and Nμ(θ) together.

    Args:
        question: What was asked.
        evidence: What was measured.
        positions: Draws of θ, in unconstrained coordinates.
        answers: The answers at them, shape (draws, names).
        source: Where randomness comes from.
    """
    generator = source.generator()
    centre = around(evidence, evidence.with_size(positions.mean(axis=0)), source, records=_RECORDS)
    common, own = _covariances(question, evidence, centre, source)
    total = centre.prediction.covariance - centre.prediction.doubt
    rest = _rest(evidence, centre, positions, generator, source)
    variance = np.tile(evidence.variance, (len(positions), 1))
    spread, axes = np.linalg.eigh(total)
    root = axes * np.sqrt(np.maximum(spread, 0.0))
    weights = _weights(total, variance[:1])
    if len(evidence.values) <= _WIDE:
        weights = _weights(total, variance)
        for _ in range(_STEPS):
            variance = variances_given(
                evidence, variance, weight=weights, rest=rest, root=root, generator=generator
            )
            weights = _weights(total, variance)
    told, left = _given_sums(rest, weights, common, own)
    values = answers + told + np.sqrt(left) * generator.normal(size=answers.shape)
    quiet = _weights(total, np.full((1, len(total)), 2 * LEAST**2))
    told, left = _given_sums(rest, quiet, common, own)
    slope = np.linalg.lstsq(
        positions - positions.mean(axis=0),
        answers + told - (answers + told).mean(axis=0),
        rcond=None,
    )[0]
    known = narrowing(evidence, evidence.position(centre.point), source)[1]
    return values, np.sqrt(left[0] + np.einsum("pk,pq,qk->k", slope, known, slope))


def _given_sums(
    rest: Floats, weights: Floats, common: Floats, own: Floats
) -> tuple[Floats, Floats]:
    """Return what T̃ − Nμ tells of Q beyond θ, and the variance that it leaves."""
    pulled = np.einsum("dij,kj->dik", weights, common)
    told = np.einsum("di,dik->dk", rest, np.broadcast_to(pulled, (len(rest), *pulled.shape[1:])))
    left = np.diag(own) - np.einsum("ki,dik->dk", common, pulled)
    return told, np.maximum(left, 0.0)


def _covariances(
    question: Question, evidence: Evidence, centre: Mode, source: Source
) -> tuple[Floats, Floats]:
    """Return Cov(Q, T) and Cov Q at the centre."""
    z = evidence.position(centre.point)
    simulated = evidence.population.simulate(z, source, _RECORDS)
    influence = np.column_stack(list(question.influence(simulated.columns).values()))
    values = simulated.contributions(evidence.contributions)
    size = evidence.size(centre.point)
    return simulated.within(influence, values), simulated.within(influence, influence) / size


def _rest(
    evidence: Evidence,
    centre: Mode,
    positions: Floats,
    generator: np.random.Generator,
    source: Source,
) -> Floats:
    """Return T̃ − Nμ(θ) of each draw; N, where it is protected, is drawn given θ."""
    points = np.array([evidence.with_size(z) for z in positions])
    pool = Pool.around(evidence, centre, source, records=_POOL, draws=points)
    means = pool.means(positions)
    sizes = np.full(len(positions), float(evidence.population.size))
    if not evidence.population.known:
        precision = np.einsum("di,ij,dj->d", means, centre.weight, means)
        sizes = means @ centre.weight @ evidence.values / precision
        sizes += generator.normal(size=len(sizes)) / np.sqrt(precision)
    return np.asarray(evidence.values - sizes[:, None] * means)


def _weights(covariance: Floats, variance: Floats) -> Floats:
    """Return V⁻¹ for each row of variances of the noise."""
    return np.asarray(np.linalg.inv(covariance + variance[:, :, None] * np.eye(len(covariance))))
