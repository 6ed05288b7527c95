"""Regression by formula: its density, prior and simulation against SciPy."""

import numpy as np
import pytest
import scipy.stats

from understudy._jax import jax
from understudy.domain.schema import Schema
from understudy.errors import BadInput
from understudy.models.formula import COEFFICIENT_SD, formula

PAY = {"role": "confidential", "type": "continuous", "bounds": [1000, 5000]}
COLUMNS = {
    "pay": PAY,
    "sex": {"role": "public", "type": "categorical", "levels": ["F", "M"]},
    "age": {"role": "public", "type": "categorical", "levels": ["a", "b", "c"]},
    "weeks": {"role": "public", "type": "integer", "bounds": [2, 52]},
    "rate": {"role": "public", "type": "continuous", "bounds": [-1, 3]},
    "name": {"role": "ignore"},
}
SCHEMA = Schema.from_dict({"columns": COLUMNS})
N = 60


def table(rows=N, seed=1):
    generator = np.random.default_rng(seed)
    return {
        "pay": 1000 + 4000 * generator.beta(2, 5, rows),
        "sex": generator.integers(2, size=rows),
        "age": generator.integers(3, size=rows),
        "weeks": generator.integers(2, 53, size=rows).astype(float),
        "rate": generator.uniform(-1, 3, rows),
    }


def theta_of(model, seed=0):
    z = model.starting_points(jax.random.key(seed), 1)[0]
    return z, model.constrain(z)


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
        ours = self.MODEL.record_loglik(theta, self.MODEL.prepare(columns))
        np.testing.assert_allclose(ours, expected, rtol=1e-10)

    def test_the_prior_is_normal_and_pareto(self):
        _, theta = theta_of(self.MODEL)
        coefficients = [float(theta[p.name]) for p in self.MODEL.parameters[:-1]]
        expected = scipy.stats.norm.logpdf(coefficients, scale=COEFFICIENT_SD).sum()
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
