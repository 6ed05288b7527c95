"""Noise on whole numbers: OpenDP's discrete Laplace, at the smallest scale that keeps an ε.

Its privacy map, not our arithmetic, is what confirms ε. OpenDP takes no seed, so a seeded run,
which is never for release, draws the same distribution, of the same scale, with NumPy.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from understudy.support.randomness import Source

Wholes = NDArray[np.int64]


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
