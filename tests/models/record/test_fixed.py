"""Values that a rule fixes say nothing about the parameters."""

import numpy as np
import scipy.stats

import understudy as us
from understudy._jax import jax, jnp
from understudy.models.record.declared import as_declared
from understudy.models.record.fixed import without_fixed_terms
from understudy.score import Row, log_target

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
    loglik = jax.jit(model.record_loglik)(theta, model.prepare(TABLE))
    expected = scipy.stats.beta.logpdf([0.4, 0.7], 2.0, 3.0)
    np.testing.assert_allclose(loglik, [0.0, expected[0], 0.0, expected[1]], rtol=1e-12)


def test_a_fixed_value_at_the_edge_has_no_slope():
    model = as_declared(model_of(RULE))
    data = model.prepare(TABLE)
    row = Row(jnp.ones(4), jnp.zeros(4), jnp.asarray(1.0))
    slope = jax.jit(jax.grad(lambda z: log_target(model, z, data, row)))
    assert np.isfinite(slope(jnp.asarray([0.2, 1.0]))).all()


def test_a_model_whose_column_no_rule_fixes_stays_as_it_is():
    model = model_of([])
    assert without_fixed_terms(model) is model
