"""Weighted: risky records count less."""

import numpy as np
import pytest

from understudy._jax import jnp
from understudy.mechanisms import Weighted

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
