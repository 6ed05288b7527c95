"""What must hold for a user's model: sentences, each record alone, and finite gradients."""

import re

import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest

from numpyro_functions import REAL, SCHEMA, refusal, schema_with, table_likelihood
from understudy._jax import jax, jnp
from understudy.adapters.checks import scored_alone
from understudy.adapters.numpyro import from_numpyro
from understudy.domain.schema import Schema
from understudy.errors import BadInput

CALLS = []


def nan_prior(y, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    spread = numpyro.sample("spread", dist.Normal(jnp.log(-1.0), 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, jnp.exp(spread)), obs=y)


def negative_scale(y, n):
    centre = numpyro.sample("centre", dist.Normal(0, -1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)


def boundless_uniform(y, n):
    centre = numpyro.sample("centre", dist.Uniform(-jnp.inf, jnp.inf))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)


def side_effect_on_the_prior(y, n):
    CALLS.append(n)
    centre = numpyro.sample("centre", dist.Normal(0, len(CALLS)))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)


def side_effect_on_the_likelihood(y, n):
    CALLS.append(n)
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, len(CALLS)), obs=y)


def random_numbers(y, n):
    centre = numpyro.sample("centre", dist.Normal(np.random.default_rng().normal(), 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)


def float32(y, w, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre * w.astype(jnp.float32), 1), obs=y)


def float32_inside(y, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    shift = jax.jit(lambda x: jnp.sin(x.astype(jnp.float32)))(centre)
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre + shift, 1), obs=y)


def printing(y, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    jax.debug.print("{}", y)
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)


def calling_back(y, w, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    shape = jax.ShapeDtypeStruct(w.shape, w.dtype)
    shift = jax.pure_callback(np.asarray, shape, w, vmap_method="sequential")
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre + shift, 1), obs=y)


def nan_likelihood(y, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, -1), obs=y)


def name_of_a_column(y, n):
    w = numpyro.sample("w", dist.Normal(0, 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(w, 1), obs=y)


def name_of_the_size(y, n):
    centre = numpyro.sample("n", dist.Normal(0, 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)


def prior_by_the_largest(y, w, n):
    """The largest value is the same on all large tables, but not on a single record."""
    centre = numpyro.sample("centre", dist.Normal(0, 1 + jnp.max(w > 5)))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)


def nan_when_simulating(y, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre + (jnp.nan if y is None else 0.0), 1), obs=y)


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (prior_by_the_largest, "prior of the model .* depends on the table.*write its numbers"),
        (nan_when_simulating, "simulated something that is not a number for 'y'.*: give the col"),
        (nan_prior, "prior of 'spread' is not a finite number .* check the arguments"),
        (negative_scale, "prior of 'centre' is not a finite number .* check the arguments"),
        (boundless_uniform, "prior of 'centre' is not a finite number .* check the arguments"),
        (side_effect_on_the_prior, "two answers to the same table.*let it depend on its argum"),
        (side_effect_on_the_likelihood, "two answers to the same table.*let it depend on its a"),
        (random_numbers, "two answers to the same table.*let it depend on its arguments"),
        (float32, "single precision.*leave out float32"),
        (float32_inside, "single precision.*leave out float32"),
        (printing, "calls Python while it runs.*confidential records: leave that out"),
        (calling_back, "calls Python while it runs.*confidential records: leave that out"),
        (nan_likelihood, "likelihood that is no number.*: check the arguments"),
        (name_of_a_column, "parameter 'w' has the name of a column: rename it"),
        (name_of_the_size, "parameter 'n' has the name of the number of records: rename it"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_badly_written_numpyro_model_is_told_what_to_change(function, sentence):
    assert re.search(sentence, refusal(function))


def counted_levels(kind, n):
    """A count where levels are declared: its large values are codes of none of them."""
    rate = numpyro.sample("rate", dist.Gamma(2, 4))
    with numpyro.plate("records", n):
        numpyro.sample("kind", dist.Poisson(rate), obs=kind)


@pytest.mark.parametrize("missing", ["refuse", "model"])
def test_codes_beyond_the_levels_are_refused_before_anything_is_charged(missing):
    kind = {"role": "confidential", "type": "categorical", "levels": ["a", "b"], "missing": missing}
    schema = Schema.from_dict({"columns": {"kind": kind}})
    with pytest.raises(BadInput, match="simulated codes beyond its levels for 'kind'"):
        from_numpyro(counted_levels, schema=schema)


def test_a_missing_value_is_none_that_a_model_simulates():
    column = {**SCHEMA.column("y").to_dict(), "missing": "model"}
    with pytest.raises(BadInput, match="simulated something that is not a number for 'y'"):
        from_numpyro(nan_when_simulating, schema=Schema.from_dict({"columns": {"y": column}}))


def overflowing(y, n):
    """Far out it simulates what is not a number, which is not the model's fault."""
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre + 0 * jnp.exp(700 * centre), 1), obs=y)


def test_a_model_that_overflows_now_and_then_is_a_model():
    model = from_numpyro(overflowing, schema=schema_with())
    drawn = model.simulate(jax.random.key(0), {"centre": jnp.asarray(1.9)}, {}, 3)
    assert np.isnan(drawn["y"]).all()


def test_a_parameter_may_have_the_name_of_a_column_that_is_ignored():
    model = from_numpyro(name_of_a_column, schema=schema_with(w={"role": "ignore"}))
    assert [parameter.name for parameter in model.parameters] == ["w"]


def joint_inside(y, n):
    """The same inside the plate, where the joint density would count for every record."""
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    with numpyro.plate("records", n):
        covariance = jnp.eye(n) + 0.5
        numpyro.sample("y", dist.MultivariateNormal(jnp.full(n, centre), covariance), obs=y)


def table_prior(y, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1 if y is None else jnp.std(y)))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)


def last_bits_of_the_prior(y, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1 + (0 if y is None else 1e-13 * y[0])))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)


def size_prior(y, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1 / n))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (joint_inside, "depends on other records.*exchangeable, that is conditionally independent"),
        (last_bits_of_the_prior, "prior of the model .* depends on the table"),
        (table_prior, "prior of the model .* depends on the table"),
        (size_prior, "prior of the model .* depends on the table"),
        (table_likelihood, "depends on other records"),
    ],
)
def test_a_function_that_is_not_a_model_of_records_is_refused(function, reason):
    with pytest.raises(BadInput, match=reason):
        from_numpyro(function, schema=REAL)


def loglik(theta, data):
    """Infinite at x = 0, where the slope by a is log 0."""
    return theta["a"] * jnp.log(data["x"])


def test_records_of_infinite_density_have_no_slope_and_the_others_have_theirs():
    data, spare = {"x": jnp.array([0.0, 2.0, 5.0])}, {"x": np.array([1.0])}

    def total(a):
        return scored_alone(loglik, {"a": a}, data, spare)

    np.testing.assert_allclose(total(3.0), [-np.inf, 3 * np.log(2), 3 * np.log(5)])
    np.testing.assert_allclose(jax.jacfwd(total)(3.0), [0.0, np.log(2), np.log(5)])
