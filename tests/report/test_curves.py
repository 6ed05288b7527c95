"""The numbers behind the pictures, against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.report.curves import bin_edges, evenly, reflected_kde, steps, widest_gap
from understudy.utility import max_ecdf


@settings(deadline=None)
@given(
    st.lists(st.floats(0, 10), min_size=2, max_size=60),
    st.sampled_from([(0.0, 10.0), (-5.0, 12.0)]),
)
def test_the_density_curve_integrates_to_1_within_the_bounds(values, bounds):
    at, curve = reflected_kde(values, bounds)
    assert curve.min() >= 0
    assert curve.sum() * (at[1] - at[0]) == pytest.approx(1)


def test_the_density_curve_is_the_reflected_kernel_density():
    rng = np.random.default_rng(0)
    values = 10 * rng.beta(0.8, 2, 300)
    at, curve = reflected_kde(values, (0.0, 10.0))
    quarters = np.quantile(values, [0.25, 0.75])
    bandwidth = 0.9 * min(values.std(), np.ptp(quarters) / 1.34) * 300**-0.2
    images = np.concatenate([values, -values, 20 - values])
    kernels = np.exp(-(((at[:, None] - images) / bandwidth) ** 2) / 2)
    brute_force = kernels.sum(axis=1) / (300 * bandwidth * np.sqrt(2 * np.pi))
    assert np.abs(curve - brute_force).max() < 0.01 * brute_force.max()


@given(st.integers(-50, 50), st.integers(1, 700))
def test_bins_of_whole_numbers_hold_equally_many_of_them(low, span):
    edges = bin_edges((low, low + span), whole=True)
    held = np.histogram(np.arange(low, low + span + 1), edges)[0]
    assert held.sum() == span + 1
    assert len(set(held[:-1])) <= 1
    assert held[-1] <= held[0]
    assert len(held) <= 100


@given(st.lists(st.integers(0, 9), min_size=1), st.lists(st.integers(0, 9), min_size=1))
def test_the_marked_gap_is_the_max_ecdf(x, y):
    where, low, high = widest_gap(x, y)
    assert high - low == pytest.approx(max_ecdf(x, y))
    heights = (sum(v <= where for v in sample) / len(sample) for sample in (x, y))
    assert sorted(heights) == pytest.approx([low, high])


def test_the_distribution_function_climbs_from_0_to_1_at_the_values():
    at, height = steps([3, 1, 3, 4], (0, 10))
    assert at.tolist() == [0, 1, 3, 4, 10]
    assert height.tolist() == [0, 0.25, 0.75, 1, 1]


@given(st.integers(0, 5000), st.integers(2, 2000))
def test_a_subsample_is_even_and_never_too_large(count, most):
    kept = evenly(count, most)
    assert len(kept) == min(count, most)
    if count:
        assert (kept[0], kept[-1]) == (0, count - 1)
        assert np.ptp(np.diff(kept)) <= 1 if len(kept) > 1 else True
