"""The perturbed histogram's bins."""

from types import SimpleNamespace

import pytest

from understudy.errors import BadInput
from understudy.mechanisms import PerturbedHistogram
from understudy.mechanisms.ph import HistogramPlan
from understudy.privacy.guarantee import Adjacency


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
