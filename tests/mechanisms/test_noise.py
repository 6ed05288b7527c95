"""Noise on whole numbers: its distribution, and the ε or ρ that it keeps."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.special
import scipy.stats

from understudy.inference.allowance import Allowance
from understudy.mechanisms.noise import with_gaussian, with_laplace, with_noise
from understudy.privacy.accounting import Cost, epsilon_above, rho_within
from understudy.privacy.guarantee import Adjacency
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


# Discrete Gaussian noise -------------------------------------------------------------------------


def gaussian(scale, reach):
    """Return the whole numbers within reach, and the log of their probabilities, normalised."""
    steps = np.arange(-reach, reach + 1)
    heights = -((steps / scale) ** 2) / 2
    return steps, heights - scipy.special.logsumexp(heights)


@pytest.mark.parametrize("source", [Source(), Source(3)], ids=["OpenDP", "NumPy"])
@pytest.mark.parametrize("scale", [0.4, 2.3])
def test_noise_is_discrete_gaussian(source, scale):
    true = np.full(20_000, 7)
    noisy, found = with_gaussian(true, sensitivity=1.0, rho=1 / (2 * scale**2), source=source)
    assert found == pytest.approx(scale)
    steps, log_pmf = gaussian(found, 40)
    counts = np.bincount(noisy - 7 + 40, minlength=81)
    often = 20_000 * np.exp(log_pmf) > 5
    seen = np.append(counts[often], 20_000 - counts[often].sum())
    expected = np.append(np.exp(log_pmf[often]), -np.expm1(np.log(np.exp(log_pmf[often]).sum())))
    # OpenDP takes no seed: a false alarm once in a million runs.
    assert scipy.stats.chisquare(seen, 20_000 * expected / expected.sum()).pvalue > 1e-6
    assert (noisy - 7).mean() == pytest.approx(0, abs=5 * scale / np.sqrt(20_000))
    assert len(steps) == len(counts)


@pytest.mark.parametrize("source", [Source(), Source(4)], ids=["OpenDP", "NumPy"])
def test_wide_noise_has_the_moments_of_a_normal(source):
    noisy, scale = with_gaussian(
        np.zeros(20_000, dtype=np.int64), sensitivity=3e6, rho=0.02, source=source
    )
    assert scale == pytest.approx(3e6 / 0.2)
    assert scipy.stats.kstest(noisy / scale, "norm").pvalue > 1e-6


@pytest.mark.parametrize("rho", [1e-6, 0.02, 0.5, 3.0, 1e4])
@pytest.mark.parametrize("sensitivity", [1.0, float(np.nextafter(np.sqrt(2), 2)), 4 * 2**20 + 0.5])
def test_no_neighbour_is_told_apart_by_more_than_rho(sensitivity, rho):
    """ρ = C²/2σ², in exact arithmetic; OpenDP confirms."""
    import opendp.prelude as dp

    zero = np.zeros(1, dtype=np.int64)
    _, scale = with_gaussian(zero, sensitivity=sensitivity, rho=rho, source=Source())
    found = Fraction(sensitivity) ** 2 / (2 * Fraction(scale) ** 2)
    assert found <= Fraction(rho) * (1 + Fraction(1, 2**51))
    assert found > Fraction(rho) * (1 - Fraction(1, 10**12))
    domain, metric = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
    assert dp.m.make_gaussian(domain, metric, scale=scale).map(sensitivity) <= rho


@pytest.mark.parametrize("order", [1.01, 1.5, 2.0, 8.0, 60.0])
@pytest.mark.parametrize("vector", [(3,), (2, 1), (1, 1, 1), (4, 0, -3)], ids=str)
@pytest.mark.parametrize("rho", [0.02, 0.5, 4.0])
def test_renyi_divergences_between_neighbours_are_at_most_rho_times_their_order(vector, rho, order):
    """By enumeration: entries are independent, so the divergences of the entries add up."""
    scale = np.linalg.norm(vector) / np.sqrt(2 * rho)
    steps, log_pmf = gaussian(scale, int(60 * scale) + 4 * int(order + 1) * max(vector))
    for sign in (1, -1):
        found = 0.0
        for shift in vector:
            # log p(k − shift), by the same formula, so that nothing is lost in the tails.
            moved = log_pmf - ((steps - sign * shift) ** 2 - steps**2) / (2 * scale**2)
            found += scipy.special.logsumexp(order * log_pmf + (1 - order) * moved) / (order - 1)
        assert found <= rho * order * (1 + 1e-9)
        # As close as it may come where the noise is not tiny: no smaller ρ holds.
        assert found > 0.99 * rho * order or scale < 1


@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize("delta", [1e-9, 1e-6, 0.01, 0.3])
@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 4.0])
@pytest.mark.parametrize("bound", [1, 7])
def test_what_lies_beyond_the_factor_is_at_most_delta(bound, epsilon, delta, adjacency):
    """Hockey-stick divergence by enumeration: Σ max(P − e^ε Q, 0), of one entry that moves by C."""
    steps = adjacency.steps
    rho = rho_within(epsilon, delta=delta) / steps**2
    scale = bound / np.sqrt(2 * rho)
    numbers, log_pmf = gaussian(scale, int(45 * scale) + 50 * bound)
    for shift in {steps * bound, -steps * bound, 1}:
        moved = log_pmf - ((numbers - shift) ** 2 - numbers**2) / (2 * scale**2)
        beyond = np.sum(np.maximum(np.exp(log_pmf) - np.exp(epsilon + moved), 0.0))
        assert beyond <= delta * (1 + 1e-9)
    # What is stated under the other adjacency holds as well.
    other = Cost(None, 4 * rho if steps == 1 else rho)
    stated, shift = epsilon_above(other, delta=delta), bound * (2 if steps == 1 else 1)
    moved = log_pmf - ((numbers - shift) ** 2 - numbers**2) / (2 * scale**2)
    assert np.sum(np.maximum(np.exp(log_pmf) - np.exp(stated + moved), 0.0)) <= delta * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_a_much_larger_rho_would_not_do(epsilon):
    """A control of the test above: it can fail."""
    delta = 1e-6
    scale = 1 / np.sqrt(2 * rho_within(epsilon, delta=delta) * 1.6)
    numbers, log_pmf = gaussian(scale, 2000)
    moved = log_pmf - ((numbers - 1) ** 2 - numbers**2) / (2 * scale**2)
    assert np.sum(np.maximum(np.exp(log_pmf) - np.exp(epsilon + moved), 0.0)) > delta


def test_the_allowance_decides_which_noise_it_is():
    true = np.zeros(5, dtype=np.int64)
    _, laplace = with_noise(true, sensitivity=3, allowance=Allowance(epsilon=1.5), source=Source())
    assert (laplace.distribution, laplace.scale) == ("discrete-laplace", pytest.approx(2.0))
    _, normal = with_noise(true, sensitivity=3.0, allowance=Allowance(rho=0.5), source=Source())
    assert (normal.distribution, normal.scale) == ("discrete-gaussian", pytest.approx(3.0))


def test_normal_noise_on_sums_beyond_32_bits_is_whole():
    noisy, _ = with_gaussian(np.array([2**61]), sensitivity=2.0**26, rho=0.5, source=Source())
    assert noisy.dtype == np.int64
    assert abs(int(noisy[0]) - 2**61) < 100 * 2**26
