"""Shares of bins given noisy counts: against sums over every possible table, and by coverage."""

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.stats

import understudy as us
from understudy.errors import BadInput, Refused
from understudy.inference import counts
from understudy.inference.counts import draws_of_counts, likelihood, read_counts

LAMBDAS = np.array([0.0, 0.3, 2.0, 17.5])


@pytest.mark.parametrize("scale", [0.3, 2.0, 9.0])
@pytest.mark.parametrize("noisy", [0, 1, 6, 40])
def test_the_likelihood_adds_up_over_every_true_count(noisy, scale):
    """With SciPy's Poisson and discrete Laplace distributions; 0 stands for 0 and less."""
    true = np.arange(400)
    poisson = scipy.stats.poisson.pmf(true, LAMBDAS[:, None])
    noise = scipy.stats.dlaplace(1 / scale)
    published = noise.cdf(-true) if noisy == 0 else noise.pmf(noisy - true)
    np.testing.assert_allclose(
        likelihood(noisy, scale, LAMBDAS), poisson @ published, rtol=1e-6, atol=1e-15
    )


def test_without_noise_the_likelihood_is_that_of_the_count():
    for count in (0, 3):
        expected = scipy.stats.poisson.pmf(count, LAMBDAS)
        np.testing.assert_allclose(likelihood(count, 0.0, LAMBDAS), expected, rtol=1e-12)


def brute_force(noisy, scale, edges):
    """Return the probability of every combination of levels of three bins, and the levels.

    The prior is written down once more: σ and π from their lists, each as likely as another; an
    empty bin, or a logarithm that lies between two edges.
    """
    levels = np.append(0, np.exp((edges[1:] + edges[:-1]) / 2))
    seen = [likelihood(each, scale, levels) for each in noisy]
    anew = np.append(0.5, 0.5 * np.diff(edges) / (edges[-1] - edges[0]))
    total = np.zeros((len(levels),) * 3)
    for sigma, leap in itertools.product((0.05, 0.1, 0.2, 0.4, 0.8), (0.01, 0.03, 0.1, 0.3)):
        after = np.zeros((len(levels), len(levels)))
        after[0, 0] = 1
        for k in range(1, len(levels)):
            after[k, 1:] = np.diff(scipy.stats.norm.cdf(edges, np.log(levels[k]), sigma))
            after[k] /= after[k].sum()
        after = (1 - leap) * after + leap * anew
        total += np.einsum("i,ij,jk->ijk", anew * seen[0], after * seen[1], after * seen[2])
    return total / total.sum()


@pytest.mark.parametrize(("noisy", "scale"), [((0, 4, 30), 3.0), ((9, 0, 0), 8.0)])
def test_draws_are_those_of_a_sum_over_all_levels_of_all_bins(noisy, scale):
    histogram = counts._Histogram.of(np.array(noisy), scale)
    edges = np.append(histogram.lower[1:], histogram.upper[-1])
    exact = brute_force(noisy, scale, edges)
    drawn = counts._draws(histogram, np.random.default_rng(1), 20_000)
    for j in range(3):
        marginal = exact.sum(axis=tuple({0, 1, 2} - {j}))
        assert np.mean(drawn[:, j] == 0) == pytest.approx(marginal[0], abs=0.02)
        for k in (len(edges) // 3, len(edges) // 2, 2 * len(edges) // 3):
            below = np.mean(drawn[:, j] < np.exp(edges[k]))
            assert below == pytest.approx(marginal[: k + 1].sum(), abs=0.02)
    both_empty = exact[:, 0, 0].sum()
    assert np.mean((drawn[:, 1:] == 0).all(axis=1)) == pytest.approx(both_empty, abs=0.02)


def test_levels_that_no_bin_needs_are_left_out_and_change_nothing():
    """A heap of a million beside small bins: few levels, and the same draws of the small ones."""
    generator = np.random.default_rng(0)
    histogram = counts._Histogram.of(np.array([3, 1_000_000, 5, 0, 4]), 1.0)
    assert len(histogram.levels) < 400
    assert histogram.transition(0.1, 0.1).sum(axis=1).max() <= 1 + 1e-12
    heap = counts._draws(histogram, generator, 2000)[:, 1]
    assert heap.mean() == pytest.approx(1_000_000, abs=100)
    assert heap.std() == pytest.approx(1000, rel=0.1)


BINS = 45
TRUTHS = {
    "skewed": scipy.stats.beta(0.5, 3),
    "high": scipy.stats.beta(20, 5),
    "narrow": scipy.stats.beta(200, 600),
    "even": scipy.stats.uniform(),
}


def shares_of(truth):
    if truth == "heaped":
        heaps = np.zeros(BINS)
        heaps[[4, 9, 13, 18, 22, 31]] = [0.3, 0.3, 0.15, 0.15, 0.06, 0.04]
        smooth = np.diff(scipy.stats.beta.cdf(np.linspace(0, 1, BINS + 1), 2, 4))
        return 0.7 * smooth + 0.3 * heaps
    return np.diff(TRUTHS[truth].cdf(np.linspace(0, 1, BINS + 1)))


def answers(shares):
    """Return mean, median and 90th percentile of histograms, one in a row."""
    bins = shares.shape[1]
    found = [shares @ ((np.arange(bins) + 0.5) / bins)]
    edges, below = np.linspace(0, 1, bins + 1), np.cumsum(shares, axis=1)
    for level in (0.5, 0.9):
        found.append([np.interp(level, np.append(0, each), edges) for each in below])
    return np.array(found).T


def with_noise(true, scale, generator):
    one, other = generator.geometric(-np.expm1(-1 / scale), (2, len(true)))
    return np.maximum(true + one - other, 0)


def coverage(truth, epsilon, tables, generator):
    shares, hits = shares_of(truth), 0
    for _ in range(tables):
        noisy = with_noise(generator.multinomial(2000, shares), 1 / epsilon, generator)
        drawn = answers(draws_of_counts(noisy, 1 / epsilon, generator, count=400))
        low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
        (true,) = answers(shares[None])
        hits += (low <= true) & (true <= high)
    return hits / tables


def test_intervals_hold_the_mean_of_a_distribution_that_leaves_most_bins_empty():
    """A prior of each bin by itself, alike for every count, did so for none of sixty tables."""
    covered = coverage("narrow", 0.1, 30, np.random.default_rng(0))
    assert (covered >= scipy.stats.binom.ppf(0.0005, 30, 0.95) / 30).all()


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1.0, 0.1])
@pytest.mark.parametrize("truth", [*TRUTHS, "heaped"])
def test_intervals_hold_what_they_should(truth, epsilon):
    covered = coverage(truth, epsilon, 200, np.random.default_rng(1))
    assert (covered >= scipy.stats.binom.ppf(0.0005, 200, 0.95) / 200).all()


def test_without_noise_draws_spread_as_those_of_the_true_counts_would():
    """Dirichlet draws around the true counts, of which the noisy ones are close at ε = 5."""
    generator = np.random.default_rng(2)
    true = generator.multinomial(2000, shares_of("skewed"))
    noisy = with_noise(true, 0.2, generator)
    ours = answers(draws_of_counts(noisy, 0.2, generator, count=2000, noise=False))
    theirs = answers(generator.dirichlet(true + 0.01, 2000))
    np.testing.assert_allclose(ours.std(axis=0), theirs.std(axis=0), rtol=0.15)


def test_noise_makes_intervals_wider_and_the_more_the_larger_it_is():
    generator = np.random.default_rng(3)
    true = generator.multinomial(2000, shares_of("skewed"))
    spreads = []
    for scale in (1.0, 10.0):
        noisy = with_noise(true, scale, generator)
        for noise in (False, True):
            drawn = draws_of_counts(noisy, scale, generator, count=400, noise=noise)
            spreads.append(answers(drawn)[:, 0].std())
    assert spreads[1] / spreads[0] < 1.3
    assert spreads[3] / spreads[2] > 2


@pytest.mark.parametrize("noise", [True, False])
def test_shares_are_shares_even_where_noise_has_left_nothing(noise):
    for noisy in ([0, 0, 0, 0], [7], [0, 100_000, 3]):
        drawn = draws_of_counts(noisy, 5.0, np.random.default_rng(0), count=50, noise=noise)
        assert drawn.shape == (50, len(noisy))
        assert (drawn >= 0).all()
        np.testing.assert_allclose(drawn.sum(axis=1), 1)


SCHEMA = us.Schema.from_dict(
    {
        "table": {"size": 400},
        "columns": {"x": {"role": "confidential", "type": "continuous", "bounds": [0, 1]}},
    }
)


def test_a_release_says_all_that_is_needed():
    table = pd.DataFrame({"x": np.random.default_rng(0).beta(2, 5, 400)})
    mechanism = us.PerturbedHistogram(epsilon=0.5, adjacency="replace-one")
    published = us.synthesize(SCHEMA, table, mechanism, seed=1).parameters[0]
    noisy, scale = read_counts(published)
    assert noisy.tolist() == published["parameters"]["counts"]
    assert scale == pytest.approx(4.0)


@pytest.mark.parametrize(
    "noise", [None, {"distribution": "normal", "scale": 1.0}, {"scale": 1.0}, {"scale": "wide"}]
)
def test_counts_with_unknown_noise_are_refused(noise):
    with pytest.raises(BadInput, match="does not say how much noise"):
        read_counts({"parameters": {"counts": [1, 2]}, "noise": noise})


@pytest.mark.parametrize(
    ("noisy", "scale", "problem", "words"),
    [
        ([1, 10**15], 1.0, BadInput, "more records than any table"),
        ([1, 2], 1e5, Refused, "next to nothing"),
    ],
)
def test_numbers_that_would_take_forever_are_refused(noisy, scale, problem, words):
    noise = {"distribution": "discrete-laplace", "scale": scale}
    with pytest.raises(problem, match=words):
        read_counts({"parameters": {"counts": noisy}, "noise": noise})


def test_more_bins_than_draws_fit_into_memory_for_are_refused():
    noise = {"distribution": "discrete-laplace", "scale": 1.0}
    with pytest.raises(Refused, match="10,001 bins"):
        read_counts({"parameters": {"counts": [1] * 10_001}, "noise": noise})
