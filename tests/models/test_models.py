import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from numpyro.distributions import constraints

from understudy._jax import jax, jnp
from understudy.domain.schema import Schema
from understudy.errors import BadInput
from understudy.models.base import GRID, Model, Parameter
from understudy.models.beta import beta
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
ALONE = Schema.from_dict({"columns": {"pay": PAY}})
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


class TestCoordinates:
    MODEL = Model(
        title="coordinates",
        schema=ALONE,
        parameters=(
            Parameter("a", constraints.real),
            Parameter("b", constraints.positive, (2, 2)),
            Parameter("c", constraints.simplex, (3,)),
            Parameter("d", constraints.interval(-1.0, 4.0)),
        ),
        log_prior=lambda theta: jnp.zeros(()),
        prepare=dict,
        record_loglik=lambda theta, data: jnp.zeros(1),
        simulate=lambda key, theta, public, rows: {},
        spec={},
    )

    def test_dimension_counts_unconstrained_coordinates(self):
        assert self.MODEL.dimension == 1 + 4 + 2 + 1

    def test_names_are_given_to_every_element(self):
        assert self.MODEL.parameters[1].element_names == ("b[0,0]", "b[0,1]", "b[1,0]", "b[1,1]")
        assert self.MODEL.parameters[0].element_names == ("a",)

    @given(st.lists(st.floats(-3, 3), min_size=8, max_size=8))
    def test_constraining_and_back_is_the_identity(self, z):
        theta = self.MODEL.constrain(jnp.asarray(z))
        assert float(jnp.sum(theta["c"])) == pytest.approx(1.0)
        np.testing.assert_allclose(self.MODEL.unconstrain(theta), z, atol=1e-8)

    def test_the_jacobian_is_that_of_the_transform(self):
        free = jnp.asarray([0.3, -0.2, 0.7, 0.1, -1.0, 0.4, 0.9, 0.2])

        def independent(z):
            """θ without the redundant last share of the simplex."""
            theta = self.MODEL.constrain(z)
            parts = [theta["a"], theta["b"], theta["c"][:2], theta["d"]]
            return jnp.concatenate([jnp.ravel(part) for part in parts])

        _, expected = np.linalg.slogdet(jax.jacobian(independent)(free))
        assert float(self.MODEL.log_prior_unconstrained(free)) == pytest.approx(float(expected))

    def test_rounding_goes_to_multiples_of_the_public_grid(self):
        rounded = self.MODEL.round_to_grid(jnp.asarray([0.1, -7.123456789, 3.0]))
        assert np.all(np.asarray(rounded) / GRID == np.round(np.asarray(rounded) / GRID))
        np.testing.assert_allclose(rounded, [0.1, -7.123456789, 3.0], atol=GRID)


class TestBeta:
    MODEL = beta(ALONE)

    def test_the_log_likelihood_is_that_of_the_scaled_outcome(self):
        columns = {"pay": table()["pay"]}
        theta = {"phi": jnp.asarray(0.3), "lambda": jnp.asarray(7.0)}
        ours = self.MODEL.record_loglik(theta, self.MODEL.prepare(columns))
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

    @pytest.mark.parametrize(
        "text",
        [
            "pay ~ sex * age",
            "pay ~ weeks + scale(rate)",
            "pay ~ poly(weeks, 2)",
            "pay ~ C(weeks)",
            "pay ~ 0 + age",
            "pay ~ 1",
            "pay ~ np.log(weeks)",
        ],
    )
    def test_nothing_in_the_design_is_learned_from_the_table(self, text):
        model = formula(text, family="beta", schema=SCHEMA)
        _, theta = theta_of(model)
        columns = table()
        whole = model.record_loglik(theta, model.prepare(columns))
        for k in (0, 17, N - 1):
            alone = {name: values[k : k + 1] for name, values in columns.items()}
            record = model.record_loglik(theta, model.prepare(alone))
            np.testing.assert_allclose(record[0], whole[k], rtol=1e-9)

    def test_every_column_of_the_design_runs_from_zero_to_one_over_the_domain(self):
        model = formula("pay ~ sex + weeks + rate", family="beta", schema=SCHEMA)
        ends = {
            "pay": np.array([2000.0, 2000.0]),
            "sex": np.array([0, 1]),
            "weeks": np.array([2.0, 52.0]),
            "rate": np.array([-1.0, 3.0]),
        }
        design = np.asarray(model.prepare(ends)["design"])
        np.testing.assert_allclose(design, [[1, 0, 0, 0], [1, 1, 1, 1]], atol=1e-12)

    def test_products_and_differences_are_scaled_over_the_corners_of_the_domain(self):
        columns = {name: dict(COLUMNS["rate"]) for name in ("a", "b")}
        schema = Schema.from_dict({"columns": {"pay": PAY} | columns})
        model = formula("pay ~ a:b + I(a - b)", family="beta", schema=schema)
        ends = np.array([-1.0, -1.0, 3.0, 3.0]), np.array([-1.0, 3.0, -1.0, 3.0])
        table = {"pay": np.full(4, 2000.0), "a": ends[0], "b": ends[1]}
        design = np.asarray(model.prepare(table)["design"])
        np.testing.assert_allclose(design.min(axis=0), [1, 0, 0], atol=1e-12)
        np.testing.assert_allclose(design.max(axis=0), [1, 1, 1], atol=1e-12)

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("pay", "'outcome ~ predictors'"),
            ("~ sex", "'outcome ~ predictors'"),
            ("pay ~ sex +", "cannot be used"),
            ("pay ~ sex | age", "'outcome ~ predictors'"),
            ("pay ~ wages", "'wages', which is not a column"),
            ("wages ~ sex", "'wages', which is not a column"),
            ("log(pay) ~ sex", "not a column"),
            ("sex ~ weeks", "only a confidential column"),
            ("pay ~ pay", "must be public"),
            ("pay ~ name", "must be public"),
            ("pay ~ lag(weeks)", "only arithmetic and these functions"),
            ("pay ~ I(weeks*0+__import__('os').system('true'))", "only arithmetic"),
            ("pay ~ I(exit())", "only arithmetic"),
            ("pay ~ np.random.rand(3)", "only arithmetic"),
            ("pay ~ weeks.__class__", "only arithmetic|not a column"),
            ("pay ~ I(10**9*0 + weeks)", "only arithmetic"),
            ("pay ~ I(2**weeks)", "only arithmetic"),
            ("pay ~ I(weeks*0 + 10**100000000)", "power above 9"),
            ("pay ~ (sex + weeks)^ 40", "power above 9"),
            ("pay ~ I(weeks << 9)", "only arithmetic"),
            ("pay ~ C(sex, 'treatment')", "only arithmetic"),
            ("pay ~ I(`` + weeks)", "cannot be used|not a column"),
            ("pay ~ 0", "nothing on its right-hand side"),
            ("pay ~ I(weeks - weeks)", "the same over the whole"),
            ("pay ~ I(log(rate - weeks))", "cannot be used|not finite"),
            ("pay ~ np.log(rate)", "cannot be used|not finite"),
            ("pay ~ C(rate)", "up to 1,072 columns, more than 1,000"),
        ],
    )
    def test_a_formula_beyond_the_schema_is_refused(self, text, reason):
        with pytest.raises(BadInput, match=reason):
            formula(text, family="beta", schema=SCHEMA)

    def test_a_column_whose_name_is_code_is_not_run(self, tmp_path, monkeypatch):
        """Backticks between quotes quote nothing for formulaic, which evaluates what is there."""
        monkeypatch.chdir(tmp_path)
        name = "' + str(open('pwned', 'w')) + '"
        schema = Schema.from_dict({"columns": {"pay": PAY, name: COLUMNS["rate"]}})
        with pytest.raises(BadInput, match="only arithmetic"):
            formula(f"pay ~ C('`{name}`')", family="beta", schema=schema)
        assert not (tmp_path / "pwned").exists()
        assert formula(f"pay ~ I(2 * `{name}`)", family="beta", schema=schema).dimension == 3

    def test_an_unknown_family_is_refused(self):
        with pytest.raises(BadInput, match=r"family 'gama' is not known .did you mean 'gamma'"):
            formula("pay ~ sex", family="gama", schema=SCHEMA)

    def test_other_confidential_columns_are_refused(self):
        schema = Schema.from_dict({"columns": COLUMNS | {"bonus": PAY}})
        with pytest.raises(BadInput, match="also declares bonus confidential"):
            formula("pay ~ sex", family="beta", schema=schema)
