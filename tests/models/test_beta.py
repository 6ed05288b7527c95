"""The paper's Beta model against SciPy."""

import numpy as np
import pytest
import scipy.stats

from understudy._jax import jax, jnp
from understudy.domain.schema import Schema
from understudy.errors import BadInput
from understudy.models.beta import beta

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

    def test_two_confidential_columns_are_refused_by_name(self):
        schema = Schema.from_dict({"columns": {"pay": PAY, "bonus": PAY}})
        with pytest.raises(BadInput, match="declares pay, bonus"):
            beta(schema)

    def test_an_outcome_that_is_not_continuous_is_refused(self):
        counted = {"role": "confidential", "type": "count", "bounds": [0, 9]}
        with pytest.raises(BadInput, match="'k' is declared count"):
            beta(Schema.from_dict({"columns": {"k": counted}}))
