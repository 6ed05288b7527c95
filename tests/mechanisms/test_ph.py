"""The perturbed histogram: its bins, its noise, and the rows that are drawn from it."""

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from understudy.domain.schema import Schema
from understudy.errors import BadInput
from understudy.mechanisms import PerturbedHistogram, ph
from understudy.mechanisms.ph import HistogramPlan
from understudy.privacy.guarantee import Adjacency
from understudy.support.randomness import Source


@pytest.mark.parametrize(
    ("bins", "size", "expected"),
    [
        ("sqrt", 2000, 45),
        ("ln", 2000, 8),
        ("sqrt", 1, 1),
        ("ln", 1, 1),
        (12, None, 12),
        ("9", 4, 9),
    ],
)
def test_the_number_of_bins_comes_from_the_declared_size(bins, size, expected):
    assert PerturbedHistogram(epsilon=1.0, bins=bins).bin_count(size) == expected


def test_a_declared_size_beyond_reason_makes_no_endless_histogram():
    with pytest.raises(BadInput, match="1,000,000,000 bins"):
        PerturbedHistogram(epsilon=1.0).bin_count(10**18)


def test_bins_without_a_declared_size_are_refused():
    with pytest.raises(BadInput, match="declares none"):
        PerturbedHistogram(epsilon=1.0).bin_count(None)


@pytest.mark.parametrize(("adjacency", "scale"), [("add-remove", 1), ("replace-one", 2)])
def test_a_table_costs_epsilon_under_the_adjacency_that_was_asked_for(adjacency, scale):
    mechanism = PerturbedHistogram(epsilon=0.5, adjacency=adjacency)
    cost = HistogramPlan(SimpleNamespace(tables=3), mechanism, None).cost
    assert mechanism.sensitivity == scale
    assert cost[Adjacency.ADD_REMOVE].epsilon == pytest.approx(3 * 0.5 / scale)
    assert cost[Adjacency.REPLACE_ONE].epsilon == pytest.approx(3 * 1.0 / scale)
    assert cost[Adjacency.ADD_REMOVE].rho == pytest.approx(3 * (0.5 / scale) ** 2 / 2)


@pytest.mark.parametrize(
    ("theta", "fits"),
    [
        ({"counts": [3, 0]}, True),
        ({"counts": []}, False),
        ({"counts": [-1, 5]}, False),
        ({"counts": [[1]]}, False),
        ({"counts": "many"}, False),
        ({"counts": [1], "more": 2}, False),
    ],
)
def test_what_it_publishes_is_a_list_of_counts(theta, fits):
    assert PerturbedHistogram.reads(theta, None) is fits


SCHEMA = Schema.from_dict(
    {
        "table": {"size": 400},
        "columns": {"x": {"role": "confidential", "type": "continuous", "bounds": [-2, 8]}},
    }
)
COLUMN = SCHEMA.column("x")


def test_counts_follow_the_definition():
    values = np.random.default_rng(0).uniform(-2, 8, 500)
    ours = ph.counts(values, COLUMN, 7)
    assert ours.tolist() == np.histogram(values, bins=7, range=(-2, 8))[0].tolist()


def test_both_bounds_belong_to_a_bin():
    assert ph.counts(np.array([-2.0, 8.0]), COLUMN, 5).tolist() == [1, 0, 0, 0, 1]


@pytest.mark.parametrize("seed", [None, 7], ids=["opendp", "seeded"])
@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_the_noise_is_discrete_laplace_at_the_scale_of_the_adjacency(adjacency, seed):
    """P(k) ∝ exp(−|k| ε / sensitivity), compared by chi-squared over 20,000 bins."""
    mechanism = PerturbedHistogram(epsilon=1.0, adjacency=adjacency)
    base = 1000
    noisy, _ = ph.perturbed(np.full(20_000, base), mechanism, Source(seed))
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


@pytest.mark.parametrize(("adjacency", "moved"), [("add-remove", 1), ("replace-one", 2)])
def test_noise_is_asked_for_what_a_neighbour_moves(monkeypatch, adjacency, moved):
    asked = {}
    monkeypatch.setattr(
        ph, "with_laplace", lambda true, **given: (asked.update(given) or true, 1.0)
    )
    mechanism = PerturbedHistogram(epsilon=0.3, adjacency=adjacency)
    ph.perturbed(np.zeros(5, dtype=int), mechanism, Source())
    assert (asked["sensitivity"], asked["epsilon"]) == (moved, 0.3)


def test_noisy_counts_are_never_negative():
    mechanism = PerturbedHistogram(epsilon=0.1)
    assert ph.perturbed(np.zeros(500, dtype=int), mechanism, Source())[0].min() == 0


@pytest.mark.parametrize(("adjacency", "scale"), [("add-remove", 2.0), ("replace-one", 4.0)])
def test_a_release_says_how_much_noise_its_counts_have(adjacency, scale):
    import understudy as us

    table = {"x": np.linspace(-2, 8, 400)}
    mechanism = PerturbedHistogram(epsilon=0.5, adjacency=adjacency)
    published = us.synthesize(SCHEMA, pd.DataFrame(table), mechanism, seed=1).parameters[0]
    assert published["noise"] == {
        "distribution": "discrete-laplace",
        "scale": pytest.approx(scale, rel=1e-12),
    }


def test_rows_are_drawn_in_proportion_and_evenly_within_a_bin():
    generator = np.random.default_rng(3)
    values = ph.draw_rows(np.array([0, 30, 0, 10]), COLUMN, 8000, generator)
    second, fourth = values[(values >= 0.5) & (values < 3)], values[values >= 5.5]
    assert len(second) + len(fourth) == 8000
    assert len(second) / 8000 == pytest.approx(0.75, abs=0.02)
    assert scipy.stats.kstest((second - 0.5) / 2.5, "uniform").pvalue > 0.001


def test_counts_that_noise_has_wiped_out_give_even_rows():
    values = ph.draw_rows(np.zeros(5), COLUMN, 5000, np.random.default_rng(0))
    assert scipy.stats.kstest((values + 2) / 10, "uniform").pvalue > 0.001


@pytest.mark.parametrize("extra", [{"y": COLUMN.to_dict()}, {"x": {"role": "ignore"}}])
def test_a_histogram_needs_exactly_one_continuous_column(extra):
    public = {"role": "public", "type": "binary"}
    schema = Schema.from_dict({"columns": {"x": COLUMN.to_dict(), "p": public} | extra})
    with pytest.raises(BadInput, match="exactly one confidential column"):
        ph.histogram_column(schema)


def test_balanced_rows_have_each_bin_s_share_and_are_even_within_it():
    schema = Schema.from_dict({"columns": {"x": COLUMN.to_dict()}})
    draw = PerturbedHistogram.simulator(
        {"counts": [0, 30, 0, 10]}, Source(3), schema=schema, model=None, balanced=True
    )
    values = draw({}, 400)["x"]
    second, fourth = values[(values >= 0.5) & (values < 3)], values[values >= 5.5]
    assert (len(second), len(fourth)) == (300, 100)
    assert scipy.stats.kstest((second - 0.5) / 2.5, "uniform").statistic < 1.01 / 300
    assert (np.diff(values) < 0).any(), "in no order"
