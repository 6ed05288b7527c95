"""Noise on whole numbers: its distribution, and the ε that it keeps."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.stats

from understudy.mechanisms.noise import with_laplace
from understudy.support.randomness import Source


@pytest.mark.parametrize("source", [Source(), Source(3)], ids=["OpenDP", "NumPy"])
def test_noise_is_discrete_laplace(source):
    true = np.full(20_000, 7)
    noisy, scale = with_laplace(true, sensitivity=3, epsilon=1.5, source=source)
    assert scale == pytest.approx(2.0)
    values = np.arange(-8, 9)
    expected = scipy.stats.dlaplace(0.5).pmf(values)
    seen = np.array([(noisy - 7 == value).sum() for value in values])
    seen, expected = np.append(seen, 20_000 - seen.sum()), np.append(expected, 1 - expected.sum())
    # OpenDP takes no seed: a false alarm once in a million runs.
    assert scipy.stats.chisquare(seen, 20_000 * expected).pvalue > 1e-6


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1.0, 3.0, 7.7, 0.7 * (1 - 2.0**-40)])
@pytest.mark.parametrize("sensitivity", [1, 2, 4 * 2**20 + 1])
def test_no_neighbour_is_told_apart_by_more_than_epsilon(sensitivity, epsilon):
    """The log-ratio of discrete Laplace noise is the distance over the scale; OpenDP confirms."""
    import opendp.prelude as dp

    zero = np.zeros(1, dtype=np.int64)
    _, scale = with_laplace(zero, sensitivity=sensitivity, epsilon=epsilon, source=Source())
    assert Fraction(sensitivity) / Fraction(scale) <= Fraction(epsilon)
    assert sensitivity / scale > epsilon * (1 - 1e-12)
    domain, metric = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    assert dp.m.make_laplace(domain, metric, scale=scale).map(sensitivity) <= epsilon


def test_sums_beyond_32_bits_are_whole():
    noisy, _ = with_laplace(np.array([2**61]), sensitivity=2**26, epsilon=1.0, source=Source())
    assert noisy.dtype == np.int64
    assert abs(int(noisy[0]) - 2**61) < 100 * 2**26
