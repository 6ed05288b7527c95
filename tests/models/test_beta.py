"""The paper's Beta model and its density against SciPy, and at the ends of the interval."""

import numpy as np
import pytest
import scipy.stats

from understudy._jax import jax, jnp
from understudy.domain.schema import Column, Role, Schema, Type
from understudy.errors import BadInput
from understudy.models.beta import beta, beta_loglik, logarithms

PAY = {"role": "confidential", "type": "continuous", "bounds": [1000, 5000]}
ALONE = Schema.from_dict({"columns": {"pay": PAY}})


class TestBeta:
    MODEL = beta(ALONE)

    def test_the_log_likelihood_is_that_of_the_scaled_outcome(self):
        columns = {"pay": 1000 + 4000 * np.random.default_rng(1).beta(2, 5, 60)}
        theta = {"phi": jnp.asarray(0.3), "lambda": jnp.asarray(7.0)}
        ours = jax.jit(self.MODEL.record_loglik)(theta, self.MODEL.prepare(columns))
        u = (columns["pay"] - 1000) / 4000
        np.testing.assert_allclose(ours, scipy.stats.beta.logpdf(u, 2.1, 4.9), rtol=1e-12)

    @pytest.mark.parametrize("precision", [0.100001, 1.0, 50.0])
    def test_the_prior_is_the_paper_s(self, precision):
        theta = {"phi": jnp.asarray(0.3), "lambda": jnp.asarray(precision)}
        expected = scipy.stats.pareto.logpdf(precision, 1.5, scale=0.1)
        assert float(self.MODEL.log_prior(theta)) == pytest.approx(expected)

    def test_simulated_outcomes_follow_the_model(self):
        theta = {"phi": jnp.asarray(0.2), "lambda": jnp.asarray(3.0)}
        simulated = self.MODEL.simulate(jax.random.key(3), theta, {}, 4000)["pay"]
        u = (simulated - 1000) / 4000
        # A false alarm once in a thousand seeds, and the seed is fixed.
        assert scipy.stats.kstest(u, scipy.stats.beta(0.6, 2.4).cdf).pvalue > 0.001

    def test_balanced_outcomes_have_one_in_each_part_of_the_distribution(self):
        theta = {"phi": jnp.asarray(0.2), "lambda": jnp.asarray(3.0)}
        made = self.MODEL.balanced(np.random.default_rng(1), theta, {}, 2000)["pay"]
        u = scipy.stats.beta(0.6, 2.4).cdf((made - 1000) / 4000)
        assert np.array_equal(np.sort((2000 * u).astype(int)), np.arange(2000))

    def test_two_confidential_columns_are_refused_by_name(self):
        schema = Schema.from_dict({"columns": {"pay": PAY, "bonus": PAY}})
        with pytest.raises(BadInput, match="declares pay, bonus"):
            beta(schema)

    def test_an_outcome_that_is_not_continuous_is_refused(self):
        counted = {"role": "confidential", "type": "count", "bounds": [0, 9]}
        with pytest.raises(BadInput, match="'k' is declared count"):
            beta(Schema.from_dict({"columns": {"k": counted}}))


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
