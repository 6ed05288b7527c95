import numpy as np
import pytest
import scipy.special

from understudy._jax import jax, jnp
from understudy.models.log_gamma import log_gamma

POINTS = np.concatenate([np.geomspace(1e-100, 1e6, 20_000), np.linspace(0.01, 30, 20_000)])


@pytest.mark.parametrize(
    ("ours", "reference"),
    [
        (log_gamma, scipy.special.gammaln),
        (jax.vmap(jax.grad(log_gamma)), scipy.special.digamma),
    ],
    ids=["value", "derivative"],
)
def test_log_gamma_agrees_with_scipy(ours, reference):
    expected = reference(POINTS)
    error = np.abs(np.asarray(ours(jnp.asarray(POINTS))) - expected)
    assert np.max(error / np.maximum(np.abs(expected), 1)) < 1e-14
