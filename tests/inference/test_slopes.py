"""f and ∇f of records: those of the model, wherever a record stands, and at bounds of one near."""

import numpy as np
import pytest

from summaries import BETA, OUTCOMES
from understudy._jax import jax, jnp
from understudy.inference.slopes import Prepared, inside

Z = np.array([0.3, 0.8])


@pytest.mark.parametrize("name", OUTCOMES)
def test_they_are_those_of_the_model(name):
    model, columns = OUTCOMES[name]
    columns = inside(model, columns)
    z = 0.3 * np.random.default_rng(1).normal(size=model.dimension)
    data = model.prepare(columns)
    expected = jax.jacrev(lambda z: model.record_loglik(model.constrain(z), data))(jnp.asarray(z))
    prepared = Prepared.of(model, columns)
    np.testing.assert_allclose(prepared.slopes(z), expected, rtol=1e-8, atol=1e-10)
    values = model.record_loglik(model.constrain(jnp.asarray(z)), data)
    np.testing.assert_allclose(prepared.loglik(z[None])[0], values, rtol=1e-10, atol=1e-12)


def test_a_record_is_evaluated_alike_wherever_it_stands():
    values = np.random.default_rng(2).beta(0.8, 5, 9001)
    values[[3, 5000]] = 0.0, 1.0
    order = np.random.default_rng(3).permutation(len(values))
    one, other = (Prepared.of(BETA, {"x": each}) for each in (values, values[order]))
    np.testing.assert_array_equal(one.slopes(Z)[order], other.slopes(Z))
    places = np.array([Z, -Z, Z + 1])
    np.testing.assert_array_equal(one.loglik(places)[:, order], other.loglik(places))


def test_at_a_bound_where_f_is_infinite_the_record_nearby_is_taken():
    at, near = np.array([0.0, 0.4, 1.0]), inside(BETA, {"x": np.array([0.0, 0.4, 1.0])})["x"]
    z = np.array([0.0, -1.0])
    prepared, moved = (Prepared.of(BETA, {"x": each}) for each in (at, near))
    assert prepared.rows.tolist() == [0, 2]
    np.testing.assert_array_equal(prepared.slopes(z), moved.slopes(z))
    assert np.isfinite(prepared.loglik(z[None])).all()
