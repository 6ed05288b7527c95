"""Regression by formula: its density, prior and simulation against SciPy."""

import numpy as np
import pytest
import scipy.stats

from salaries import COLUMNS, PAY, SCHEMA, table, theta_of
from understudy._jax import jax
from understudy.domain.schema import Schema
from understudy.errors import BadInput
from understudy.models.families.base import COEFFICIENTS
from understudy.models.formula import formula


class TestFormula:
    MODEL = formula("pay ~ sex + age + weeks", family="beta", schema=SCHEMA)

    def design(self, columns):
        return np.column_stack(
            [
                np.ones(len(columns["sex"])),
                columns["sex"] == 1,
                columns["age"] == 1,
                columns["age"] == 2,
                (columns["weeks"] - 2) / 50,
            ]
        )

    def test_parameters_are_named_after_the_design(self):
        names = [parameter.name for parameter in self.MODEL.parameters]
        assert names == ["Intercept", "sex[T.M]", "age[T.b]", "age[T.c]", "weeks", "lambda"]

    def test_the_log_likelihood_is_beta_regression(self):
        columns = table()
        _, theta = theta_of(self.MODEL)
        coefficients = [float(theta[p.name]) for p in self.MODEL.parameters[:-1]]
        mean = 1 / (1 + np.exp(-self.design(columns) @ coefficients))
        precision = float(theta["lambda"])
        u = (columns["pay"] - 1000) / 4000
        expected = scipy.stats.beta.logpdf(u, precision * mean, precision * (1 - mean))
        ours = jax.jit(self.MODEL.record_loglik)(theta, self.MODEL.prepare(columns))
        np.testing.assert_allclose(ours, expected, rtol=1e-10)

    def test_the_prior_is_normal_and_pareto(self):
        _, theta = theta_of(self.MODEL)
        coefficients = [float(theta[p.name]) for p in self.MODEL.parameters[:-1]]
        expected = scipy.stats.norm.logpdf(coefficients, scale=COEFFICIENTS.arguments[1]).sum()
        expected += scipy.stats.pareto.logpdf(float(theta["lambda"]), 1.5, scale=0.1)
        assert float(self.MODEL.log_prior(theta)) == pytest.approx(expected)

    def test_simulated_outcomes_follow_the_predictors(self):
        columns = table(4000)
        _, theta = theta_of(self.MODEL)
        simulated = self.MODEL.simulate(jax.random.key(1), theta, columns, 4000)["pay"]
        coefficients = [float(theta[p.name]) for p in self.MODEL.parameters[:-1]]
        mean = 1 / (1 + np.exp(-self.design(columns) @ coefficients))
        precision = float(theta["lambda"])
        scaled = (simulated - 1000) / 4000
        ranks = scipy.stats.beta.cdf(scaled, precision * mean, precision * (1 - mean))
        assert scipy.stats.kstest(ranks, "uniform").pvalue > 0.001

    def test_an_unknown_family_is_refused(self):
        with pytest.raises(BadInput, match=r"family 'gama' is not known .did you mean 'gamma'"):
            formula("pay ~ sex", family="gama", schema=SCHEMA)

    def test_other_confidential_columns_are_refused(self):
        schema = Schema.from_dict({"columns": COLUMNS | {"bonus": PAY}})
        with pytest.raises(BadInput, match="also declares bonus confidential"):
            formula("pay ~ sex", family="beta", schema=schema)
