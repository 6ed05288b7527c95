"""Weighted: risky records count less."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from understudy._jax import jnp
from understudy.mechanisms import Weighted
from understudy.mechanisms.weighted import weights_from_risk

RISK = jnp.asarray([1.0, 2.0, 3.0, 5.0, jnp.inf])
"""Relative to the smallest and the largest finite one: 0, 1/4, 1/2, 1."""


@pytest.mark.parametrize(
    ("c1", "c2", "expected"),
    [
        (1.0, 0.0, [1.0, 0.75, 0.5, 0.0, 0.0]),
        (0.8, 0.1, [0.9, 0.7, 0.5, 0.1, 0.0]),
        (1.0, 0.5, [1.0, 1.0, 1.0, 0.5, 0.0]),
        (1.0, -0.5, [0.5, 0.25, 0.0, 0.0, 0.0]),
    ],
)
def test_weights_fall_with_the_risk_from_c1_plus_c2_to_c2_within_0_and_1(c1, c2, expected):
    alpha = np.asarray(Weighted(c1=c1, c2=c2).alpha(RISK))
    np.testing.assert_allclose(alpha, expected, atol=1e-12)


RISKS = arrays(float, 12, elements=st.floats(0, 100) | st.just(np.inf))
SCALE = st.floats(0, 2)


def by_definition(risk, c1, c2):
    """The formula of the docstring, one record at a time."""
    finite = [f for f in risk if np.isfinite(f)]
    alphas = []
    for f in risk:
        if not np.isfinite(f):
            alphas.append(0.0)
            continue
        spread = max(finite) - min(finite)
        relative = (f - min(finite)) / spread if spread > 0 else 0.0
        alphas.append(min(max(c1 * (1 - relative) + c2, 0.0), 1.0))
    return np.array(alphas)


@given(RISKS, SCALE, st.floats(-1, 1))
def test_weights_are_the_linear_map_of_the_risk(risk, c1, c2):
    ours = np.asarray(weights_from_risk(jnp.asarray(risk), c1=c1, c2=c2))
    np.testing.assert_allclose(ours, by_definition(risk, c1, c2), atol=1e-12)
    assert np.all((ours >= 0) & (ours <= 1))


def test_the_safest_record_counts_in_full_and_the_riskiest_not_at_all():
    alpha = np.asarray(weights_from_risk(jnp.asarray([1.0, 2.0, 3.0, np.inf]), c1=1.0, c2=0.0))
    assert alpha.tolist() == [1.0, 0.5, 0.0, 0.0]


def test_records_that_are_all_alike_keep_their_weight():
    alpha = weights_from_risk(jnp.full(5, 2.0), c1=0.8, c2=0.0)
    assert np.asarray(alpha) == pytest.approx(np.full(5, 0.8))
