"""Weighted rows stand for people, within the bound of a record."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import understudy as us
from understudy._jax import jax, jnp
from understudy.domain.tables import encode
from understudy.models.record.declared import as_declared
from understudy.samplers.proposals import fisher_information
from understudy.score import Row, log_target
from understudy.support.randomness import Source
from understudy.utility import as_population, max_ecdf

X = {"role": "confidential", "type": "continuous", "bounds": [0, 1]}
WEIGHT = {"role": "survey-weight", "bounds": [0, 50], "average": 10}
SCHEMA = us.Schema.from_dict({"table": {"size": 400}, "columns": {"x": X, "w": WEIGHT}})
ALONE = us.Schema.from_dict({"table": {"size": 400}, "columns": {"x": X}})
PLAIN = us.beta(ALONE)
MODEL = as_declared(us.beta(SCHEMA))
Z = jnp.asarray([0.4, 1.1])


def sample(rows=400, seed=0):
    """The well paid are sampled three times as often, and weigh a third."""
    generator = np.random.default_rng(seed)
    population = generator.beta(2, 4, 20_000)
    chance = np.where(population > 0.4, 3.0, 1.0)
    chosen = generator.choice(len(population), rows, p=chance / chance.sum())
    weight = 15.0 / chance[chosen]
    return population, pd.DataFrame({"x": population[chosen], "w": weight})


def test_a_record_s_log_likelihood_is_multiplied_by_its_weight_over_the_declared_average():
    _, table = sample()
    columns = encode(table, SCHEMA)
    theta = PLAIN.constrain(Z)
    plain = np.asarray(jax.jit(PLAIN.record_loglik)(theta, PLAIN.prepare({"x": columns["x"]})))
    ours = jax.jit(MODEL.record_loglik)(theta, MODEL.prepare(columns))
    np.testing.assert_allclose(ours, table["w"] / 10 * plain, rtol=1e-12)


def test_whole_weights_are_repeated_rows():
    """Without a bound, weight 3 of average 1 is the posterior of three equal rows."""
    counted = us.Schema.from_dict({"columns": {"x": X, "w": {**WEIGHT, "average": 1}}})
    model = as_declared(us.beta(counted))
    values, times = np.array([0.1, 0.5, 0.9]), np.array([3, 1, 0])
    data = model.prepare({"x": values, "w": times.astype(float)})
    repeated = PLAIN.prepare({"x": np.repeat(values, times)})
    none = Row(jnp.ones(3), jnp.zeros(3), jnp.asarray(np.inf))
    plain = Row(jnp.ones(4), jnp.zeros(4), jnp.asarray(np.inf))
    target = jax.jit(log_target, static_argnums=0)
    for z in np.random.default_rng(0).normal(size=(5, 2)):
        expected = target(PLAIN, jnp.asarray(z), repeated, plain)
        assert float(target(model, jnp.asarray(z), data, none)) == pytest.approx(expected)


def test_no_weight_takes_a_record_beyond_its_bound():
    data = MODEL.prepare({"x": np.array([1e-9, 0.5]), "w": np.array([50.0, 50.0])})
    scores = jnp.clip(MODEL.record_loglik(MODEL.constrain(Z), data), -0.5, 0.5)
    row = Row(jnp.ones(2), jnp.zeros(2), jnp.asarray(0.5))
    prior = MODEL.log_prior_unconstrained(Z)
    total = log_target(MODEL, Z, data, row)
    assert float(total - prior) == pytest.approx(float(scores.sum()))
    assert abs(float(total - prior)) <= 1.0


def test_a_row_of_weight_zero_counts_for_nothing_even_at_the_edge():
    data = MODEL.prepare({"x": np.array([0.0, 1.0, 0.3]), "w": np.array([0.0, 0.0, 10.0])})
    loglik = jax.jit(MODEL.record_loglik)(MODEL.constrain(Z), data)
    assert loglik[:2].tolist() == [0.0, 0.0]
    row = Row(jnp.ones(3), jnp.zeros(3), jnp.asarray(1.0))
    slope = jax.jit(jax.grad(lambda z: log_target(MODEL, z, data, row)))(Z)
    assert np.isfinite(slope).all()


def test_weights_stand_inside_the_sum_of_a_unit():
    columns = {"pid": {"role": "unit"}, "x": X, "w": WEIGHT}
    schema = us.Schema.from_dict({"table": {"rows_per_unit": 3}, "columns": columns})
    model = as_declared(us.beta(schema))
    table = {
        "pid": np.array([0, 1, 0]), "x": np.array([0.1, 0.5, 0.9]), "w": np.array([5.0, 20, 30]),
    }  # fmt: skip
    theta = PLAIN.constrain(Z)
    each = np.asarray(jax.jit(PLAIN.record_loglik)(theta, PLAIN.prepare({"x": table["x"]})))
    expected = [0.5 * each[0] + 3 * each[2], 2 * each[1]]
    np.testing.assert_allclose(jax.jit(model.record_loglik)(theta, model.prepare(table)), expected)


def test_simulated_rows_have_the_average_weight():
    ours = fisher_information(MODEL, np.asarray(Z), {}, Source(1))
    np.testing.assert_allclose(ours, fisher_information(PLAIN, np.asarray(Z), {}, Source(1)))


@pytest.mark.parametrize(
    ("mechanism", "sampler"),
    [
        (us.Anchored(epsilon=5.0), "exact"),
        pytest.param(us.Unweighted(), "nuts", marks=pytest.mark.slow),
    ],
    ids=["anchored", "unweighted"],
)
def test_the_synthesis_estimates_the_population_and_not_the_sample(mechanism, sampler):
    population, table = sample(rows=4000)
    schema = replace(SCHEMA, size=4000)
    release = us.synthesize(us.beta(schema), table, mechanism, sampler=sampler, rows=20_000, seed=1)
    mean = release.synthetic["x"].mean()
    assert list(release.synthetic.columns) == ["x"], "weights are not released"
    assert mean == pytest.approx(population.mean(), abs=0.03)
    assert table["x"].mean() > population.mean() + 0.06
    # The utility compares with the population, too.
    told = release.internal.diagnostics["utility"]["x"]["confidential"]["mean"]
    assert told == pytest.approx(np.average(table["x"], weights=table["w"]), abs=0.002)
    (sentence,) = [s for s in release.guarantee.assumptions if "survey weights" in s] or [""]
    assert ("conditional on them" in sentence) == (release.guarantee.epsilon is not None)
    assert "<html" in release.internal.report()


def test_the_weighed_table_has_the_distribution_of_the_weights():
    generator = np.random.default_rng(3)
    columns = {"x": generator.beta(2, 3, 500), "w": generator.uniform(0, 50, 500)}
    weighed = as_population(columns, SCHEMA)["x"]
    at = np.sort(columns["x"])
    exact = [columns["w"][columns["x"] <= t].sum() / columns["w"].sum() for t in at]
    ours = np.searchsorted(np.sort(weighed), at, side="right") / len(weighed)
    # Each row is repeated as often as it should be, up to one in five thousand.
    assert np.abs(ours - exact).max() < 0.01
    assert abs(weighed.mean() - np.average(columns["x"], weights=columns["w"])) < 0.001
    for value, weight in zip(columns["x"], columns["w"], strict=True):
        expected = 5000 * weight / columns["w"].sum()
        assert abs(np.sum(weighed == value) - expected) < 1 + 1e-9
    same = {"x": columns["x"], "w": np.full(500, 7.0)}
    assert max_ecdf(as_population(same, SCHEMA)["x"], columns["x"]) == 0
    nothing = {"x": columns["x"], "w": np.zeros(500)}
    assert as_population(nothing, SCHEMA) is nothing
    assert as_population(columns, ALONE) is columns


def test_a_missing_or_impossible_weight_is_refused_by_its_place():
    for value, said in ((np.nan, "is missing"), (-1.0, "outside the declared"), (51, "outside")):
        frame = pd.DataFrame({"x": [0.1, 0.2], "w": [1.0, value]})
        with pytest.raises(us.BadInput, match=f"row 2 of column 'w'.*{said}"):
            encode(frame, SCHEMA)


def test_histograms_take_no_weights():
    _, table = sample()
    with pytest.raises(us.BadInput, match="survey weights are no part of it"):
        us.synthesize(SCHEMA, table, us.PerturbedHistogram(epsilon=1.0))
