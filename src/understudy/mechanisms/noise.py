"""Noise on whole numbers: OpenDP's discrete Laplace and Gaussian, at the smallest sufficient scale.

Its privacy map, not our arithmetic, is what confirms ε, or ρ. OpenDP takes no seed, so a seeded
run, which is never for release, draws the same distribution, of the same scale, with NumPy.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from understudy.inference.allowance import Allowance
from understudy.inference.measurement import GAUSSIAN, Noise
from understudy.support.randomness import Source

Wholes = NDArray[np.int64]


def with_noise(
    true: Wholes, *, sensitivity: float, allowance: Allowance, source: Source
) -> tuple[Wholes, Noise]:
    """Return whole numbers with the noise that an allowance asks for, and which that is.

    Args:
        true: Sums over the records of a table.
        sensitivity: The length of what one record adds at most, by the norm of the allowance.
        allowance: What it may cost.
        source: Where randomness comes from.
    """
    if allowance.rho is not None:
        noisy, scale = with_gaussian(
            true, sensitivity=sensitivity, rho=allowance.rho, source=source
        )
        return noisy, Noise(scale, GAUSSIAN)
    whole = math.ceil(sensitivity)
    noisy, scale = with_laplace(true, sensitivity=whole, epsilon=allowance.amount, source=source)
    return noisy, Noise(scale)


def with_laplace(
    true: Wholes, *, sensitivity: int, epsilon: float, source: Source
) -> tuple[Wholes, float]:
    """Return whole numbers with discrete Laplace noise on each, and the scale of the noise.

    Args:
        true: Sums over the records of a table.
        sensitivity: The most by which neighbouring tables differ, added up over the numbers.
        epsilon: What it costs then.
        source: Where randomness comes from.
    """
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain, metric = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    scale = sensitivity / epsilon
    while (made := dp.m.make_laplace(domain, metric, scale=scale)).map(sensitivity) > epsilon:
        scale = math.nextafter(scale, math.inf)
    if source.seeded:
        # The difference of two geometric variables has the same distribution.
        one, other = source.generator().geometric(-math.expm1(-1 / scale), (2, len(true)))
        return true + one - other, scale
    return np.asarray(made(true.tolist()), dtype=np.int64), scale


def with_gaussian(
    true: Wholes, *, sensitivity: float, rho: float, source: Source
) -> tuple[Wholes, float]:
    """Return whole numbers with discrete Gaussian noise on each, and its parameter σ.

    Shifting all of it by w changes its Rényi divergences of order α to α‖w‖₂²/2σ² at most, as for
    the continuous one (Canonne, Kamath and Steinke, arXiv:2004.00010): ρ = ‖w‖₂²/2σ².

    Args:
        true: Sums over the records of a table.
        sensitivity: The most by which neighbouring tables differ, as a Euclidean distance.
        rho: What it costs then.
        source: Where randomness comes from.
    """
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain, metric = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
    scale = sensitivity / math.sqrt(2 * rho)
    while (made := dp.m.make_gaussian(domain, metric, scale=scale)).map(sensitivity) > rho:
        scale = math.nextafter(scale, math.inf)
    if source.seeded:
        return true + _gaussian(source.generator(), scale, len(true)), scale
    return np.asarray(made(true.tolist()), dtype=np.int64), scale


def _gaussian(generator: np.random.Generator, scale: float, count: int) -> Wholes:
    """Return draws from P(k) ∝ exp(−k²/2σ²), by rejection from a discrete Laplace distribution.

    With t = ⌊σ⌋ + 1, exp(−|k|/t) is kept with probability exp(−(|k| − σ²/t)²/2σ²): the product is
    in proportion to exp(−k²/2σ²).
    """
    width, kept = math.floor(scale) + 1, np.empty(0, dtype=np.int64)
    while len(kept) < count:
        one, other = generator.geometric(-math.expm1(-1 / width), (2, count + 16))
        drawn = one - other
        height = -0.5 * ((np.abs(drawn) - scale**2 / width) / scale) ** 2
        kept = np.append(kept, drawn[generator.random(len(drawn)) < np.exp(height)])
    return kept[:count]
