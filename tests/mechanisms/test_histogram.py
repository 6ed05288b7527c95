import math

import numpy as np
import pytest
import scipy.stats

from understudy.domain.schema import Schema
from understudy.errors import BadInput
from understudy.mechanisms import PerturbedHistogram, histogram
from understudy.support.randomness import Source

SCHEMA = Schema.from_dict(
    {
        "table": {"size": 400},
        "columns": {"x": {"role": "confidential", "type": "continuous", "bounds": [-2, 8]}},
    }
)
COLUMN = SCHEMA.column("x")


def test_counts_follow_the_definition():
    values = np.random.default_rng(0).uniform(-2, 8, 500)
    ours = histogram.counts(values, COLUMN, 7)
    assert ours.tolist() == np.histogram(values, bins=7, range=(-2, 8))[0].tolist()


def test_both_bounds_belong_to_a_bin():
    assert histogram.counts(np.array([-2.0, 8.0]), COLUMN, 5).tolist() == [1, 0, 0, 0, 1]


@pytest.mark.parametrize("seed", [None, 7], ids=["opendp", "seeded"])
@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_the_noise_is_discrete_laplace_at_the_scale_of_the_adjacency(adjacency, seed):
    """P(k) ∝ exp(−|k| ε / sensitivity), compared by chi-squared over 20,000 bins."""
    mechanism = PerturbedHistogram(epsilon=1.0, adjacency=adjacency)
    base = 1000
    noisy = histogram.perturbed(np.full(20_000, base), mechanism, Source(seed))
    decay = 1.0 / (1 if adjacency == "add-remove" else 2)
    ks = np.arange(-12, 13)
    shares = np.exp(-np.abs(ks) * decay) * math.tanh(decay / 2)
    edges = np.clip(noisy - base, -12, 12)
    observed = np.array([(edges == k).sum() for k in ks])
    tail = (1 - shares.sum()) / 2
    shares[0] += tail
    shares[-1] += tail
    # OpenDP takes no seed: a false alarm once in a million runs.
    assert scipy.stats.chisquare(observed, shares * 20_000).pvalue > 1e-6


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1.0, 3.0, 7.7])
@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_opendp_confirms_the_epsilon(epsilon, adjacency):
    mechanism = PerturbedHistogram(epsilon=epsilon, adjacency=adjacency)
    confirmed = histogram._measurement(mechanism).map(mechanism.sensitivity)
    assert confirmed <= epsilon
    assert confirmed == pytest.approx(epsilon)


def test_noisy_counts_are_never_negative():
    mechanism = PerturbedHistogram(epsilon=0.1)
    assert histogram.perturbed(np.zeros(500, dtype=int), mechanism, Source()).min() == 0


def test_rows_are_drawn_in_proportion_and_evenly_within_a_bin():
    generator = np.random.default_rng(3)
    values = histogram.draw(np.array([0, 30, 0, 10]), COLUMN, 8000, generator)
    second, fourth = values[(values >= 0.5) & (values < 3)], values[values >= 5.5]
    assert len(second) + len(fourth) == 8000
    assert len(second) / 8000 == pytest.approx(0.75, abs=0.02)
    assert scipy.stats.kstest((second - 0.5) / 2.5, "uniform").pvalue > 0.001


def test_counts_that_noise_has_wiped_out_give_even_rows():
    values = histogram.draw(np.zeros(5), COLUMN, 5000, np.random.default_rng(0))
    assert scipy.stats.kstest((values + 2) / 10, "uniform").pvalue > 0.001


@pytest.mark.parametrize("extra", [{"y": COLUMN.to_dict()}, {"x": {"role": "ignore"}}])
def test_a_histogram_needs_exactly_one_continuous_column(extra):
    public = {"role": "public", "type": "binary"}
    schema = Schema.from_dict({"columns": {"x": COLUMN.to_dict(), "p": public} | extra})
    with pytest.raises(BadInput, match="exactly one confidential column"):
        histogram.histogram_column(schema)
