"""The joint model: a proper distribution over records that simulation agrees with."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare

import understudy as us
from table_models import (
    AGE,
    GENDER,
    PAY,
    WEEKS,
    cells,
    check_balanced_rows,
    every_record,
    fitted,
    gradient,
    loglik,
    middles,
    schema,
    theta_of,
)
from understudy._jax import jax, jnp
from understudy.adapters.loading import load_model, rebuild_model
from understudy.models.table import effects

DISCRETE = schema(gender=GENDER, weeks=WEEKS, age=AGE)
MIXED = schema(pay=PAY, gender=GENDER, age=AGE)


def missing(declared, *names):
    for column in declared.columns:
        if column.name in names:
            object.__setattr__(column, "missing", "model")
    return declared


@pytest.fixture(params=[1024, 0], ids=["by combination", "by record"])
def grid(request, monkeypatch):
    """Run a test both ways: with all combinations of predictors computed, and record by record."""
    monkeypatch.setattr(effects, "LARGEST_GRID", request.param)


def test_probabilities_of_all_records_sum_to_one(grid):
    model = us.joint(DISCRETE)
    records = every_record(gender=range(2), weeks=np.arange(53.0), age=np.arange(25.0, 29))
    for seed in range(3):
        assert np.exp(loglik(model, theta_of(model, seed), records)).sum() == pytest.approx(1)


def test_densities_integrate_to_one(grid):
    model = us.joint(MIXED)
    points = middles(20_000, 50.0)
    records = every_record(gender=range(2), age=np.arange(25.0, 29), pay=points)
    density = np.exp(loglik(model, theta_of(model, scale=0.3), records))
    assert density.sum() / len(points) == pytest.approx(1, abs=1e-3)


def test_a_missing_value_is_one_more_value_of_its_column(grid):
    model = us.joint(missing(schema(gender=GENDER, weeks=WEEKS, age=AGE), "gender", "weeks", "age"))
    records = every_record(
        gender=range(-1, 2),
        weeks=np.append(np.arange(53.0), np.nan),
        age=np.append(np.arange(25.0, 29), np.nan),
    )
    assert np.exp(loglik(model, theta_of(model), records)).sum() == pytest.approx(1)
    simulated = model.simulate(jax.random.key(1), theta_of(model), {}, 5000)
    assert (simulated["gender"] == -1).any()
    assert np.isnan(simulated["weeks"]).any()
    assert np.isnan(simulated["age"]).any()


def test_simulated_records_are_as_frequent_as_the_likelihood_says(grid):
    model = us.joint(schema(gender=GENDER, age=AGE, region=GENDER))
    theta, rows = theta_of(model, 2), 200_000
    records = every_record(gender=range(2), age=np.arange(25.0, 29), region=range(2))
    shares = np.exp(loglik(model, theta, records))
    simulated = model.simulate(jax.random.key(3), theta, {}, rows)
    cell = (simulated["gender"] * 4 + simulated["age"] - 25) * 2 + simulated["region"]
    seen = np.bincount(cell.astype(int), minlength=16) / rows
    assert np.abs(seen - shares).max() < 5 * np.sqrt(0.25 / rows)


def test_simulated_numbers_follow_the_density_given_the_other_columns(grid):
    model = us.joint(schema(pay=PAY, gender=GENDER))
    theta, rows, points = theta_of(model, 4, 0.2), 100_000, middles(5000, 50.0)
    simulated = model.simulate(jax.random.key(3), theta, {}, rows)
    for gender in range(2):
        there = {"pay": points, "gender": np.full(5000, gender)}
        density = np.exp(loglik(model, theta, there))
        below = (np.cumsum(density) - density / 2) / density.sum()
        pay = simulated["pay"][simulated["gender"] == gender]
        empirical = np.searchsorted(np.sort(pay), points) / len(pay)
        assert np.abs(empirical - below).max() < 0.01


def test_public_columns_are_given_and_bear_on_the_others():
    model = us.joint(schema(pay=PAY, gender=GENDER | {"role": "public"}))
    theta = theta_of(model)
    points = middles(20_000, 50.0)
    for gender in range(2):
        records = {"pay": points, "gender": np.full(len(points), gender)}
        assert np.exp(loglik(model, theta, records)).mean() == pytest.approx(1, abs=1e-3)
    theta = {name: 0 * value for name, value in theta.items()}
    theta["pay by gender"] = theta["pay by gender"].at[0, 0].set(3.0)
    gender = np.repeat([0, 1], 2000)
    pay = model.simulate(jax.random.key(0), theta, {"gender": gender}, 4000)["pay"]
    assert abs(pay[gender == 0].mean() - pay[gender == 1].mean()) > 10


@pytest.mark.parametrize("scale", [0.0, 1.0, 10.0])
def test_gradients_are_finite_at_the_bounds_and_far_out(scale):
    model = us.joint(MIXED)
    records = every_record(pay=np.array([0.0, 50.0, 25.0]), gender=range(2), age=np.array([25.0]))
    assert np.isfinite(gradient(model, theta_of(model, scale=scale), records)).all()


def test_the_prior_is_standard_normal():
    model = us.joint(MIXED)
    z = jax.random.normal(jax.random.key(0), (model.dimension,))
    expected = jax.scipy.stats.norm.logpdf(z).sum()
    assert model.log_prior_unconstrained(z) == pytest.approx(float(expected))


def test_a_record_stands_alone():
    model = us.joint(MIXED)
    records = every_record(pay=middles(7, 50.0), gender=range(2), age=np.array([25.0, 28.0]))
    one = {name: values[3:4] for name, values in records.items()}
    theta = theta_of(model)
    assert loglik(model, theta, one)[0] == pytest.approx(
        loglik(model, theta, records)[3], abs=1e-12
    )


def test_the_likelihood_is_concave():
    model = us.joint(MIXED)
    records = every_record(pay=middles(9, 50.0), gender=range(2), age=np.array([25.0, 28.0]))
    data = model.prepare(records)
    ends = [3 * jax.random.normal(jax.random.key(k), (model.dimension,)) for k in range(2)]
    along = jnp.linspace(0, 1, 21)[:, None]
    path = jax.jit(jax.vmap(lambda z: model.record_loglik(model.constrain(z), data)))
    heights = path(ends[0] + along * (ends[1] - ends[0]))
    assert (np.diff(np.asarray(heights), n=2, axis=0) <= 1e-9).all()


class TestOrder:
    def test_columns_with_few_values_come_first_by_default(self):
        assert us.joint(MIXED).spec["order"] == ["gender", "age", "pay"]

    def test_another_order_can_be_declared(self):
        model = load_model("joint: age, pay, gender", schema=MIXED)
        assert model.spec["order"] == ["age", "pay", "gender"]
        assert model.spec == us.joint(MIXED, order=["age", "pay", "gender"]).spec
        points = middles(20_000, 50.0)
        records = every_record(gender=range(2), age=np.arange(25.0, 29), pay=points)
        density = np.exp(loglik(model, theta_of(model, scale=0.3), records))
        assert density.sum() / len(points) == pytest.approx(1, abs=1e-3)

    @pytest.mark.parametrize(
        ("order", "sentence"),
        [
            (["gender", "aeg", "pay"], r"names 'aeg', which is not confidential \(did you mean"),
            (["gender", "age"], "leaves out pay"),
            (["gender", "age", "pay", "age"], "names 'age' more than once"),
        ],
    )
    def test_an_order_that_is_none_is_refused(self, order, sentence):
        with pytest.raises(us.BadInput, match=sentence):
            us.joint(MIXED, order=order)

    def test_the_model_is_rebuilt_from_its_spec(self):
        model = us.joint(MIXED, order=["age", "pay", "gender"])
        again = rebuild_model(json.loads(json.dumps(model.spec)), schema=MIXED)
        assert again.spec == model.spec
        assert again.parameters == model.parameters


def test_a_table_without_confidential_columns_is_refused():
    with pytest.raises(us.BadInput, match="needs a confidential column"):
        us.joint(schema(gender=GENDER | {"role": "public"}))


def test_two_modes_and_what_groups_have_to_do_with_them_are_kept():
    """Pay has two modes among women and one among men, and only older men earn more."""
    generator = np.random.default_rng(0)
    gender, age = generator.integers(0, 2, 2000), generator.integers(25, 29, 2000)
    low = (gender == 0) & (generator.uniform(size=2000) < 0.5)
    centre = np.where(low, 8.0, np.where((gender == 1) & (age > 26), 35.0, 25.0))
    pay = np.clip(generator.normal(centre, 2.0), 0, 50)
    model = us.joint(MIXED)
    theta = fitted(model, {"pay": pay, "gender": gender, "age": age.astype(float)})
    made = pd.DataFrame(model.simulate(jax.random.key(0), theta, {}, 8000))
    women = made[made.gender == 0].pay
    assert ((women > 12) & (women < 18)).mean() < 0.5 * ((women > 5) & (women < 11)).mean()
    assert ((women > 12) & (women < 18)).mean() < 0.5 * ((women > 22) & (women < 28)).mean()
    by = made.groupby(["gender", made.age > 26]).pay.mean()
    assert by[1, True] - by[1, False] > 5
    assert abs(by[0, True] - by[0, False]) < 3


class TestBalancedRows:
    MODEL = us.joint(MIXED)
    THETA = theta_of(MODEL, seed=4, scale=0.7)

    def test_columns_hang_together_as_in_independent_rows(self):
        check_balanced_rows(self.MODEL, self.THETA, 0.2)

    def test_a_row_by_itself_has_the_distribution_of_the_model(self):
        generator, records = np.random.default_rng(2), []
        for _ in range(500):
            table = self.MODEL.balanced(generator, self.THETA, {}, 7)
            records.append({name: values[3] for name, values in table.items()})
        drawn = {name: np.array([each[name] for each in records]) for name in records[0]}
        times = np.bincount(cells(drawn, *drawn), minlength=24)
        many = cells(self.MODEL.simulate(jax.random.key(5), self.THETA, {}, 400_000), *drawn)
        expected = 500 * np.bincount(many, minlength=24) / 400_000
        usual = expected >= 5
        times = np.append(times[usual], times[~usual].sum())
        expected = np.append(expected[usual], expected[~usual].sum())
        assert chisquare(times, expected).pvalue > 0.001

    def test_public_columns_are_given(self):
        given = schema(gender=GENDER | {"role": "public"}, age=AGE, pay=PAY)
        model = us.joint(given)
        theta = theta_of(model, seed=1)
        gender = np.repeat([0, 1], [400, 80])
        made = model.balanced(np.random.default_rng(0), theta, {"gender": gender}, 480)
        assert set(made) == {"age", "pay"}
        for code in range(2):
            one = {"gender": np.full(200_000, code)}
            many = model.simulate(jax.random.key(1), theta, one, 200_000)["age"]
            expected = np.bincount(many.astype(int) - 25, minlength=4) / 200_000
            found = np.bincount(made["age"][gender == code].astype(int) - 25, minlength=4)
            np.testing.assert_allclose(found, expected * np.sum(gender == code), atol=6)
        assert ((made["pay"] >= 0) & (made["pay"] <= 50)).all()

    def test_missing_values_are_one_more_code(self):
        model = us.joint(missing(schema(gender=GENDER, weeks=WEEKS, age=AGE), "gender", "weeks"))
        theta = theta_of(model, seed=2, scale=0.5)
        made = model.balanced(np.random.default_rng(0), theta, {}, 2000)
        many = model.simulate(jax.random.key(1), theta, {}, 400_000)
        assert np.mean(made["gender"] < 0) == pytest.approx(np.mean(many["gender"] < 0), abs=0.003)
        lost = np.isnan(made["weeks"]).mean()
        assert lost == pytest.approx(np.isnan(many["weeks"]).mean(), abs=0.006)
        assert np.array_equal(made["weeks"], np.rint(made["weeks"]), equal_nan=True)
