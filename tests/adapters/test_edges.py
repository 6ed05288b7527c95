"""Where a log-likelihood is infinite its value is kept, and its gradient is none."""

import numpy as np
import scipy.special

from understudy._jax import jax, jnp
from understudy.adapters.checks import log_sum, scored_alone


def loglik(theta, data):
    """Infinite at x = 0, where the slope by a is log 0."""
    return theta["a"] * jnp.log(data["x"])


def test_records_of_infinite_density_have_no_slope_and_the_others_have_theirs():
    data, spare = {"x": jnp.array([0.0, 2.0, 5.0])}, {"x": np.array([1.0])}

    def total(a):
        return scored_alone(loglik, {"a": a}, data, spare)

    np.testing.assert_allclose(total(3.0), [-np.inf, 3 * np.log(2), 3 * np.log(5)])
    np.testing.assert_allclose(jax.jacfwd(total)(3.0), [0.0, np.log(2), np.log(5)])


def test_a_sum_of_terms_is_scipy_s_and_has_no_slope_where_it_is_infinite():
    terms = jnp.array([[-np.inf, 1.0, np.inf, -np.inf], [-np.inf, 2.0, 1.0, 0.5]])
    np.testing.assert_allclose(log_sum(terms), scipy.special.logsumexp(terms, axis=0))
    slopes = jax.jacrev(lambda terms: jnp.sum(jnp.nan_to_num(log_sum(terms))))(terms)
    expected = [[0.0, 1 / (1 + np.e), 0.0, 0.0], [0.0, np.e / (1 + np.e), 0.0, 1.0]]
    np.testing.assert_allclose(slopes, expected, atol=1e-12)
