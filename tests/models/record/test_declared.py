"""What the schema declares about rows is added to a model once, and from the row outwards."""

import numpy as np

import understudy as us
from understudy._jax import jax, jnp
from understudy.models.record.declared import as_declared

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
    seen = np.asarray(jax.jit(plain.record_loglik)(own, plain.prepare({"x": np.array([0.4, 0.9])})))
    expected = [
        0.5 * (np.log(0.8) + seen[0]) + 2.0 * np.log(0.2),
        3.0 * (np.log(0.8) + seen[1]),
    ]
    ours = jax.jit(model.record_loglik)(theta, model.prepare(table))
    np.testing.assert_allclose(ours, expected, rtol=1e-12)
