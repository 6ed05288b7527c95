"""The Beta density from logarithms, against SciPy and at the ends of its interval."""

import numpy as np
import pytest
import scipy.stats

from understudy._jax import jax, jnp
from understudy.domain.schema import Column, Role, Type
from understudy.models.beta_density import beta_loglik, logarithms

COLUMN = Column("y", Role.CONFIDENTIAL, Type.CONTINUOUS, (-3.0, 5.0))


def density(precision, mean, u):
    data = logarithms(-3.0 + 8.0 * np.asarray(u), COLUMN)
    return beta_loglik(jnp.asarray(precision), jnp.asarray(mean), jnp.asarray(1 - mean), data)


@pytest.mark.parametrize(("precision", "mean"), [(0.2, 0.5), (3.0, 0.1), (50.0, 0.9), (1e4, 0.3)])
def test_the_density_is_scipy_s(precision, mean):
    u = np.linspace(0.01, 0.99, 25)
    expected = scipy.stats.beta.logpdf(u, precision * mean, precision * (1 - mean))
    np.testing.assert_allclose(density(precision, mean, u), expected, rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize(
    ("precision", "mean", "lower", "upper"),
    [
        (1.0, 0.5, np.inf, np.inf),
        (8.0, 0.5, -np.inf, -np.inf),
        (4.0, 0.1, np.inf, -np.inf),
        (4.0, 0.9, -np.inf, np.inf),
        (2.0, 0.5, 0.0, 0.0),
    ],
)
def test_at_the_bounds_it_is_its_limit(precision, mean, lower, upper):
    np.testing.assert_allclose(density(precision, mean, [0.0, 1.0]), [lower, upper], atol=1e-14)


def test_gradients_are_finite_at_the_bounds_and_where_shapes_underflow():
    for precision, mean in [(0.1, 1e-300), (1e-300, 0.5), (1e300, 0.5), (1.0, 0.5)]:
        slope = jax.jacfwd(lambda p, mean=mean: density(p, mean, [0.0, 0.3, 1.0]))(precision)
        assert np.isfinite(slope).all()
