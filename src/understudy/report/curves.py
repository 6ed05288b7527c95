"""The numbers behind the pictures, so that they can be tested as numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

BINS = 50
CURVE_POINTS = 1024


def bin_edges(bounds: tuple[float, float], *, whole: bool) -> NDArray[np.float64]:
    """Return the edges of equal bins over the declared bounds: 50, or up to 100 for whole numbers.

    The last bin of whole numbers may reach beyond the bound, so that all bins are equally wide.
    """
    low, high = bounds
    if not whole:
        return np.linspace(low, high, BINS + 1)
    numbers = int(high) - int(low) + 1
    step = -(-numbers // (2 * BINS))
    return int(low) - 0.5 + step * np.arange(-(-numbers // step) + 1, dtype=np.float64)


def reflected_kde(
    values: ArrayLike, bounds: tuple[float, float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return a grid over the bounds and the gaussian kernel density on it, reflected at both ends.

    Reflection returns the mass that a kernel would push over a bound, so the curve integrates to 1
    and does not drop at a bound where the records do not. The values are counted on a fine grid
    first, so the cost does not grow with records times grid points. The bandwidth is Silverman's.
    """
    from scipy.ndimage import gaussian_filter1d

    sample = np.asarray(values, dtype=np.float64)
    counts, edges = np.histogram(sample, CURVE_POINTS, bounds)
    cell = (bounds[1] - bounds[0]) / CURVE_POINTS
    quarter, three_quarters = np.quantile(sample, [0.25, 0.75])
    spreads = [sample.std(), (three_quarters - quarter) / 1.34]
    spread = min((spread for spread in spreads if spread > 0), default=0.0)
    bandwidth = 0.9 * spread * sample.size**-0.2
    curve = gaussian_filter1d(
        counts / (sample.size * cell), max(bandwidth / cell, 1.0), mode="reflect", truncate=6
    )
    return (edges[:-1] + edges[1:]) / 2, curve


def widest_gap(confidential: ArrayLike, synthetic: ArrayLike) -> tuple[float, float, float]:
    """Return the value at which the distribution functions differ most, and both their heights."""
    x, y = np.sort(np.asarray(confidential)), np.sort(np.asarray(synthetic))
    pooled = np.concatenate([x, y])
    f, g = (np.searchsorted(sample, pooled, side="right") / sample.size for sample in (x, y))
    at = int(np.argmax(np.abs(f - g)))
    low, high = sorted((float(f[at]), float(g[at])))
    return float(pooled[at]), low, high


def steps(
    values: ArrayLike, bounds: tuple[float, float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the corners of a distribution function, thinned to what a picture can show."""
    at, counts = np.unique(np.asarray(values, dtype=np.float64), return_counts=True)
    height = np.cumsum(counts) / counts.sum()
    kept = evenly(at.size, CURVE_POINTS)
    return (
        np.concatenate([[bounds[0]], at[kept], [bounds[1]]]),
        np.concatenate([[0.0], height[kept], [1.0]]),
    )


def evenly(count: int, most: int) -> NDArray[np.intp]:
    """Return at most `most` positions spread evenly over `count`, first and last included."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.intp))
