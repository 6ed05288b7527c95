"""How much of an interval is due to the noise: its width beside that without any.

Without noise the covariance of what was measured is NΣ instead of NΣ + noise. Around the estimate,
with the slope J of the predicted sums and the prior's precision P, the covariance of θ is

    C = (J′(NΣ + noise)⁻¹J + P)⁻¹    and    C₀ = (J′(NΣ)⁻¹J + P)⁻¹,

and an answer that moves by g′dz varies by g′Cg, or by g′C₀g without the noise. g is found by least
squares from the answers at the draws. What varies from draw to draw for other reasons (who was
drawn from the population, what is not linear) would be the same without noise.

Of a whole table's parameters there are too many for that. There, the sums that the estimate
predicts are taken for measured ones without noise, and draws are made from them as from any others.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from understudy.inference.evidence import Evidence
from understudy.inference.measurement import LEAST, Measurement, Noise
from understudy.inference.mode import RECORDS, around
from understudy.inference.posterior import infer
from understudy.support.randomness import Source

Floats = NDArray[np.float64]

_NONE = 1e-3
"""A scale, in units, at which noise is 0 for certain."""
_PER_PARAMETER = 10
"""Draws for each parameter from which it can be told how answers move with it."""
_RECORDS = 2**16


def few_parameters(evidence: Evidence, draws: int) -> bool:
    """Whether so many draws tell how answers move with each parameter."""
    return draws >= _PER_PARAMETER * evidence.population.model.dimension


def narrowing(evidence: Evidence, z: Floats, source: Source) -> tuple[Floats, Floats]:
    """Return the covariance of θ, unconstrained, with the noise and without it.

    Args:
        evidence: What was measured.
        z: The estimate, in unconstrained coordinates.
        source: Where randomness comes from.
    """
    own = around(evidence, evidence.with_size(z), source, records=_RECORDS)
    here = own.prediction
    weight = np.linalg.inv(here.covariance + 2 * LEAST**2 * np.eye(len(here.mean)))
    without = np.asarray(np.linalg.inv(here.slope.T @ weight @ here.slope + here.precision))
    inner = slice(0, len(z))
    return own.covariance[inner, inner], without[inner, inner]


def shares_of_width(
    values: Floats, positions: Floats, covariances: tuple[Floats, Floats]
) -> Floats:
    """Return the share of each answer's spread that is due to the noise.

    Args:
        values: Answers, shape (draws, names).
        positions: The draws, in unconstrained coordinates.
        covariances: Of θ, with the noise and without it.
    """
    centred = positions - positions.mean(axis=0)
    deviations = values - values.mean(axis=0)
    slope = np.linalg.lstsq(centred, deviations, rcond=None)[0]
    with_noise, without = (np.einsum("pk,pq,qk->k", slope, c, slope) for c in covariances)
    total, linear = deviations.var(axis=0), (centred @ slope).var(axis=0)
    kept = np.divide(without, with_noise, out=np.ones_like(total), where=with_noise > 0)
    narrower = total - linear * (1 - kept)
    ratio = np.divide(narrower, total, out=np.ones_like(total), where=total > 0)
    return np.asarray(1 - np.sqrt(ratio.clip(0, 1)))


def draws_without_noise(evidence: Evidence, z: Floats, source: Source, *, count: int) -> Floats:
    """Return draws of θ, unconstrained, had the sums that z predicts been measured without noise.

    Args:
        evidence: What was measured.
        z: The estimate, in unconstrained coordinates.
        source: Where randomness comes from.
        count: How many draws.
    """
    point = evidence.with_size(z)
    mean = around(evidence, point, source, records=RECORDS).prediction.mean
    measured, start = [], 0
    for each in evidence.measurements:
        stop = start + each.contribution.width
        units = mean[start:stop] * each.contribution.units
        measured.append(_quiet(each, np.rint(units).astype(np.int64)))
        start = stop
    quiet = replace(evidence, measurements=tuple(measured))
    return infer(quiet, point, point, source, draws=count).positions


def _quiet(measurement: Measurement, values: NDArray[np.int64]) -> Measurement:
    """Return the measurement of these values without noise."""
    return replace(measurement, noisy=values, noise=Noise(_NONE))
