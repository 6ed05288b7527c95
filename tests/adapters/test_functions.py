"""What is asked of a user's function before it is run, and of the running itself."""

import re

import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest

from numpyro_functions import REAL, SCHEMA, SHORT, TABLE, WEIGHTS, centred, raises, refusal
from understudy._jax import jax
from understudy.adapters.numpyro import from_numpyro
from understudy.errors import BadInput


def table_baked_in(y, n):
    centre = numpyro.sample("centre", dist.Normal(TABLE["y"].mean(), 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)


def array_baked_in(y, n):
    centre = numpyro.sample("centre", dist.Normal(np.mean(WEIGHTS), 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)


def short_array_baked_in(y, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre + np.array(SHORT), 1), obs=y)


def side_effect_on_a_column(y, w, n):
    w -= 5
    w[0] = 0
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre * w, 1), obs=y)


def the_same_name_twice(y, n):
    one = numpyro.sample("centre", dist.Normal(0, 1))
    other = numpyro.sample("centre", dist.Normal(0, 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(one + other, 1), obs=y)


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (table_baked_in, "has a table baked in, 'TABLE', .* use its arguments instead"),
        (array_baked_in, "has a table baked in, 'WEIGHTS', .* use its arguments instead"),
        (short_array_baked_in, "raised ValueError: .* use its arguments as they are, and no other"),
        (side_effect_on_a_column, "raised TypeError: .*immutable.* use its arguments as they are"),
        (the_same_name_twice, "unique names .*: rename one of them"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_badly_written_numpyro_model_is_told_what_to_change(function, sentence):
    assert re.search(sentence, refusal(function))


def switching(y, n):
    jax.config.update("jax_enable_x64", False)
    centred(y, n, 0.0)


def test_a_model_that_switches_to_single_precision_is_told_to_leave_it():
    try:
        with pytest.raises(BadInput, match=r"jax_enable_x64 was .* off.*: leave the setting alone"):
            from_numpyro(switching, schema=SCHEMA)
        with pytest.raises(BadInput, match=r"jax_enable_x64 was .* off.*: leave the setting alone"):
            from_numpyro(centred_at_zero, schema=SCHEMA)
    finally:
        jax.config.update("jax_enable_x64", True)


def centred_at_zero(y, n):
    centred(y, n, 0.0)


def unknown_argument(y, z, n):
    raises(y, n)


def star(*columns):
    raises(*columns)


def without_the_outcome(n):
    raises(n, n)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (unknown_argument, "asks for 'z'"),
        (star, "takes '\\*columns'"),
        (without_the_outcome, "does not take the confidential column 'y'"),
    ],
)
def test_a_function_that_is_not_a_model_of_records_is_refused(function, reason):
    with pytest.raises(BadInput, match=reason):
        from_numpyro(function, schema=REAL)
