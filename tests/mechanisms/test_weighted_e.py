"""Weighted-e: records that would still reach ε/2 are dropped."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from understudy._jax import jnp
from understudy.mechanisms import Weighted, WeightedE

RISK = jnp.asarray([1.0, 2.0, 3.0, 5.0, jnp.inf])
"""Weights 1, 3/4, 1/2, 0 and 0: the products are 1, 1.5, 1.5 and 0."""


@pytest.mark.parametrize(
    ("epsilon", "adjacency", "expected"),
    [
        (3.0, "add-remove", [1.0, 0.75, 0.5, 0.0, 0.0]),
        (2.8, "add-remove", [1.0, 0.0, 0.0, 0.0, 0.0]),
        (1.8, "add-remove", [0.0, 0.0, 0.0, 0.0, 0.0]),
        (6.0, "replace-one", [1.0, 0.75, 0.5, 0.0, 0.0]),
        (5.6, "replace-one", [1.0, 0.0, 0.0, 0.0, 0.0]),
    ],
)
def test_a_product_beyond_half_of_epsilon_is_dropped_and_one_at_it_stays(
    epsilon, adjacency, expected
):
    alpha = np.asarray(WeightedE(epsilon=epsilon, adjacency=adjacency).alpha(RISK))
    np.testing.assert_allclose(alpha, expected, atol=1e-12)


@given(arrays(float, 12, elements=st.floats(0, 100) | st.just(np.inf)), st.floats(0.01, 50))
def test_truncation_drops_exactly_the_records_that_still_reach_the_bound(risk, bound):
    alpha = np.asarray(Weighted().alpha(jnp.asarray(risk)))
    kept = np.asarray(WeightedE(epsilon=2 * bound).alpha(jnp.asarray(risk)))
    for before, after, f in zip(alpha, kept, risk, strict=True):
        reaches = np.isfinite(f) and before * f > bound
        assert after == (0.0 if reaches else before)
