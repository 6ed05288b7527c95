"""The mixture model: a proper distribution over records that simulation agrees with."""

import numpy as np
import pytest
from scipy.stats import gamma, ks_2samp, norm

import understudy as us
import understudy.models.table.mixture
from table_models import (
    AGE,
    GENDER,
    KINDS,
    PAY,
    WEEKS,
    check_balanced_rows,
    crossed,
    domain_of,
    every_record,
    gradient,
    loglik,
    middles,
    peak,
    schema,
    theta_of,
)
from understudy._jax import jax, jnp
from understudy.adapters.loading import load_model, rebuild_model
from understudy.score import Row, log_target

MIXED = schema(pay=PAY, gender=GENDER, age=AGE)


@pytest.fixture(params=[4096, 0], ids=["by cell", "by record"])
def table(request, monkeypatch):
    """Run a test both ways: with every different record computed once, and record by record."""
    monkeypatch.setattr(understudy.models.table.mixture, "_LARGEST_TABLE", request.param)


def test_probabilities_of_all_records_sum_to_one(table):
    model = us.mixture(schema(gender=GENDER, weeks=WEEKS, age=AGE))
    records = every_record(gender=range(2), weeks=np.arange(53.0), age=np.arange(25.0, 29))
    for seed in range(3):
        assert np.exp(loglik(model, theta_of(model, seed), records)).sum() == pytest.approx(1)


def test_a_missing_value_is_one_more_value_of_its_column():
    declared = schema(gender=GENDER, age=AGE)
    for column in declared.columns:
        object.__setattr__(column, "missing", "model")
    model = us.mixture(declared)
    ages = np.append(np.arange(25.0, 29), np.nan)
    records = every_record(gender=range(-1, 2), age=ages)
    assert np.exp(loglik(model, theta_of(model), records)).sum() == pytest.approx(1)
    simulated = model.simulate(jax.random.key(1), theta_of(model), {}, 5000)
    assert (simulated["gender"] == -1).any()
    assert np.isnan(simulated["age"]).any()


@pytest.mark.parametrize(
    "kinds",
    [
        ("levels with codes", "levels in an order", "few whole numbers with codes"),
        ("whole numbers with spikes", "levels with codes"),
        ("levels in an order", "whole numbers on a grid"),
        ("days", "few days"),
    ],
    ids=", ".join,
)
def test_probabilities_of_all_records_of_any_kind_sum_to_one(kinds, table):
    from understudy.models.table.coding import variable

    declared = schema(**{f"x{k}": KINDS[kind] for k, kind in enumerate(kinds)})
    model = us.mixture(declared)
    records = crossed(*(domain_of(variable(column)) for column in declared.columns))
    theta = theta_of(model, scale=0.3)
    assert np.exp(loglik(model, theta, records)).sum() == pytest.approx(1)
    made = model.simulate(jax.random.key(1), theta, {}, 2000)
    assert set(made) == set(records)
    assert np.isfinite(loglik(model, theta, made)).all()


def test_densities_integrate_to_one_given_public_columns(table):
    model = us.mixture(schema(pay=PAY, gender=GENDER | {"role": "public"}))
    points = middles(100_000, 50.0)
    for gender in range(2):
        records = {"pay": points, "gender": np.full(len(points), gender)}
        density = np.exp(loglik(model, theta_of(model, scale=0.3), records))
        assert density.mean() == pytest.approx(1, abs=5e-3)


@pytest.mark.parametrize("role", ["confidential", "public"])
def test_simulated_records_are_as_frequent_as_the_likelihood_says(role, table):
    model = us.mixture(schema(age=AGE, region=GENDER, gender=GENDER | {"role": role}))
    theta, rows = theta_of(model, 2), 200_000
    records = every_record(gender=range(2), age=np.arange(25.0, 29), region=range(2))
    shares = np.exp(loglik(model, theta, records))
    public = {"gender": np.repeat([0, 1], rows // 2)} if role == "public" else {}
    simulated = public | model.simulate(jax.random.key(3), theta, public, rows)
    cell = (simulated["gender"] * 4 + simulated["age"] - 25) * 2 + simulated["region"]
    seen = np.bincount(cell.astype(int), minlength=16) / rows
    assert np.abs(seen - shares / shares.sum()).max() < 5 * np.sqrt(0.25 / rows)


def test_gradients_are_finite_at_the_bounds_and_far_out():
    model = us.mixture(MIXED)
    records = every_record(pay=np.array([0.0, 50.0, 25.0]), gender=range(2), age=np.array([25.0]))
    for scale in (0.0, 1.0, 10.0):
        assert np.isfinite(gradient(model, theta_of(model, scale=scale), records)).all()


def test_the_masses_are_gamma_variables_whose_shares_are_dirichlet():
    model = us.mixture(MIXED)
    theta = theta_of(model)
    masses = np.exp(np.asarray(theta["log masses"]))
    expected = np.sum(gamma(2.0).logpdf(masses) + np.log(masses)) + sum(
        norm.logpdf(np.asarray(theta[name])).sum() for name in ("pay", "gender", "age")
    )
    assert model.log_prior(theta) == pytest.approx(expected)


def test_components_differ_in_every_column_and_no_two_columns_agree():
    from understudy.models.table.coding import variable
    from understudy.models.table.mixture import _Tilted

    columns = [_Tilted(variable(MIXED.column("gender")), turn).tilts[:, 0] for turn in range(6)]
    assert len(set(np.round(columns[0], 6))) == 24
    assert np.abs(np.corrcoef(columns) - np.eye(6)).max() < 0.5


def test_the_model_is_named_and_rebuilt_from_its_spec():
    model = load_model("mixture", schema=MIXED)
    assert rebuild_model(model.spec, schema=MIXED).parameters == model.parameters


def test_what_cannot_be_modelled_is_refused():
    with pytest.raises(us.BadInput, match="needs a confidential column"):
        us.mixture(schema(gender=GENDER | {"role": "public"}))
    with pytest.raises(us.BadInput, match="two parameters of the mixture model 'log masses'"):
        us.mixture(schema(**{"log masses": GENDER}))


@pytest.mark.slow
def test_every_climb_ends_at_the_same_peak():
    """Components have their places, so that chains find one peak and not a permutation of it."""
    model = us.mixture(MIXED)
    generator = np.random.default_rng(0)
    gender = generator.integers(2, size=2000)
    records = {
        "pay": 50 * generator.beta(2 + gender, 6),
        "gender": gender,
        "age": 25.0 + generator.integers(4, size=2000),
    }
    data = model.prepare(records)
    row = Row(jnp.ones(2000), jnp.zeros(2000), jnp.asarray(np.inf))
    starts = [np.zeros(model.dimension), *generator.uniform(-2, 2, (4, model.dimension))]
    peaks = [peak(model, data, row, start) for start in starts]
    heights = [float(log_target(model, peak, data, row)) for peak in peaks]
    np.testing.assert_allclose(heights, heights[0], atol=0.05)


def test_columns_of_balanced_rows_hang_together_as_in_independent_rows():
    model = us.mixture(MIXED)
    check_balanced_rows(model, theta_of(model, seed=4, scale=0.7), 0.4)


def test_balanced_components_follow_public_columns():
    given = schema(gender=GENDER | {"role": "public"}, pay=PAY)
    model = us.mixture(given)
    theta = theta_of(model, seed=3, scale=0.7)
    gender = np.arange(960) % 2
    made = model.balanced(np.random.default_rng(0), theta, {"gender": gender}, 960)["pay"]
    for code in range(2):
        one = {"gender": np.full(100_000, code)}
        many = model.simulate(jax.random.key(1), theta, one, 100_000)["pay"]
        assert ks_2samp(made[gender == code], many).statistic < 0.035
