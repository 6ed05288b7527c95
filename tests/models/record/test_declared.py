"""What the schema declares about rows is added to a model once, and from the row outwards."""

import numpy as np
import scipy.stats

import understudy as us
from understudy._jax import jax, jnp
from understudy.models.record.declared import as_declared, without_fixed_terms
from understudy.score import Row, log_target

X = {"role": "confidential", "type": "continuous", "bounds": [0, 1]}
WEIGHT = {"role": "survey-weight", "bounds": [0, 50], "average": 10}


def schema_of(columns, **table):
    return us.Schema.from_dict({"table": table, "columns": columns})


def test_the_same_model_is_changed_once_and_one_without_declarations_not_at_all():
    model = us.beta(schema_of({"person": {"role": "unit"}, "x": X}, rows_per_unit=7))
    assert as_declared(model) is as_declared(model) is as_declared(as_declared(model))
    rows = us.beta(schema_of({"x": X}))
    assert as_declared(rows) is rows


def test_missing_values_weights_and_units_are_added_from_the_row_outwards():
    """Within a person rows are weighted, and within a weighted row the value may be missing."""
    columns = {"person": {"role": "unit"}, "x": {**X, "missing": "model"}, "w": WEIGHT}
    plain = us.beta(schema_of({"x": X}))
    model = as_declared(us.beta(schema_of(columns, rows_per_unit=2)))
    theta = {"phi": jnp.asarray(0.3), "lambda": jnp.asarray(4.0), "missing[x]": jnp.asarray(0.2)}
    table = {
        "person": np.array([0, 0, 1]),
        "x": np.array([0.4, np.nan, 0.9]),
        "w": np.array([5.0, 20.0, 30.0]),
    }
    own = {name: theta[name] for name in ("phi", "lambda")}
    seen = np.asarray(plain.record_loglik(own, plain.prepare({"x": np.array([0.4, 0.9])})))
    expected = [
        0.5 * (np.log(0.8) + seen[0]) + 2.0 * np.log(0.2),
        3.0 * (np.log(0.8) + seen[1]),
    ]
    ours = model.record_loglik(theta, model.prepare(table))
    np.testing.assert_allclose(ours, expected, rtol=1e-12)


PAY = {"role": "confidential", "type": "continuous", "bounds": [0, 10]}
WORKS = {"role": "public", "type": "categorical", "levels": ["no", "yes"]}


def model_of(rules, **more):
    columns = {"pay": PAY, "works": WORKS, **more}
    return us.beta(us.Schema.from_dict({"columns": columns, "rules": rules}))


RULE = [{"if": "works == 'no'", "then": "pay == 0"}]
TABLE = {"pay": np.array([0.0, 4.0, 0.0, 7.0]), "works": np.array([0, 1, 0, 1])}


def test_only_values_that_are_free_count():
    model = as_declared(model_of(RULE))
    theta = {"phi": jnp.asarray(0.4), "lambda": jnp.asarray(5.0)}
    loglik = model.record_loglik(theta, model.prepare(TABLE))
    expected = scipy.stats.beta.logpdf([0.4, 0.7], 2.0, 3.0)
    np.testing.assert_allclose(loglik, [0.0, expected[0], 0.0, expected[1]], rtol=1e-12)


def test_a_fixed_value_at_the_edge_has_no_slope():
    model = as_declared(model_of(RULE))
    data = model.prepare(TABLE)
    row = Row(jnp.ones(4), jnp.zeros(4), jnp.asarray(1.0))
    slope = jax.grad(lambda z: log_target(model, z, data, row))(jnp.asarray([0.2, 1.0]))
    assert np.isfinite(slope).all()


def test_a_model_whose_column_no_rule_fixes_stays_as_it_is():
    model = model_of([])
    assert without_fixed_terms(model) is model


def test_simulated_rows_have_the_value_that_a_rule_fixes_and_no_other():
    model = as_declared(model_of(RULE))
    public = {"works": np.arange(50) % 2}
    theta = {"phi": jnp.asarray(0.4), "lambda": jnp.asarray(5.0)}
    pay = np.asarray(model.simulate(jax.random.key(0), theta, public, 50)["pay"])
    np.testing.assert_array_equal(pay == 0, public["works"] == 0)


def test_the_model_of_a_row_knows_neither_units_nor_weights():
    columns = {"person": {"role": "unit"}, "x": {**X, "missing": "model"}, "w": WEIGHT}
    model = as_declared(us.beta(schema_of(columns, rows_per_unit=2)))
    assert model.row is not None
    assert as_declared(model.row) is model.row
    theta = {"phi": jnp.asarray(0.3), "lambda": jnp.asarray(4.0), "missing[x]": jnp.asarray(0.2)}
    table = {"x": np.array([0.4, np.nan, 0.4])}
    each = np.asarray(model.row.record_loglik(theta, model.row.prepare(table)))
    seen = scipy.stats.beta.logpdf(0.4, 1.2, 2.8) + np.log(0.8)
    np.testing.assert_allclose(each, [seen, np.log(0.2), seen], rtol=1e-12)


def test_a_value_that_a_rule_calls_missing_tells_nothing_about_how_often_values_are():
    coded = PAY | {"missing": "model", "codes": {"N": "does not apply"}}
    schema = us.Schema.from_dict(
        {
            "columns": {"pay": coded, "works": WORKS},
            "rules": [{"if": "works == 'no'", "then": "pay == 'N'"}],
        }
    )
    model = as_declared(us.beta(schema))
    theta = {"phi": jnp.asarray(0.3), "lambda": jnp.asarray(4.0), "missing[pay]": jnp.asarray(0.2)}
    table = {"pay": np.array([np.nan, 4.0, np.nan, np.nan]), "works": np.array([0, 1, 0, 1])}
    ours = np.asarray(model.record_loglik(theta, model.prepare(table)))
    assert ours[0] == ours[2] == 0
    assert np.isclose(ours[3], np.log(0.2))
    assert np.isfinite(ours[1])
    works = np.arange(400) % 2
    drawn = model.simulate(jax.random.key(0), theta, {"works": works}, 400)["pay"]
    assert np.isnan(drawn[works == 0]).all()
    assert 0.1 < np.isnan(drawn[works == 1]).mean() < 0.3
