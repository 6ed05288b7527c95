"""What a NumPyro function's sites must look like, and the sentences where they do not."""

import re

import numpyro
import numpyro.distributions as dist
import pytest

from numpyro_functions import REAL, SIZE, refusal, wrong_return
from understudy._jax import jnp
from understudy.adapters.numpyro import from_numpyro
from understudy.errors import BadInput


def wrong_plate_size(y, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    with numpyro.plate("records", SIZE):
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)


def two_plates_side_by_side(y, w, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    with numpyro.plate("records", n):
        numpyro.deterministic("shifted", centre + w)
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)
    with numpyro.plate("again", n):
        numpyro.deterministic("more", centre + w)


def two_plates_in_each_other(y, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    with numpyro.plate("rows", n, dim=-2), numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)


def improper_prior(y, n):
    centre = numpyro.sample("centre", dist.ImproperUniform(dist.constraints.real, (), ()))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)


def no_observed_site(y, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1))


def other_outcome_baked_in(y, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1), obs=jnp.zeros(n))


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (wrong_plate_size, "plate 'records' .* has 500 entries .* let its size be 'n'"),
        (two_plates_side_by_side, "two plates over the records, 'records' and 'again': put all"),
        (two_plates_in_each_other, "two plates over the records, 'rows' and 'records': put all"),
        (improper_prior, "prior of 'centre' is improper.*: give it a wide Normal"),
        (no_observed_site, "no observed site: pass a column as obs"),
        (other_outcome_baked_in, "'y' observes something other .* pass the argument"),
        (wrong_return, "samples nothing: a NumPyro function must call numpyro.sample, a PyMC"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_badly_written_numpyro_model_is_told_what_to_change(function, sentence):
    assert re.search(sentence, refusal(function))


def endless(y, n):
    rate = numpyro.sample("rate", dist.Gamma(2.0, 1.0))
    with numpyro.plate("records", n):
        count = numpyro.sample("count", dist.Poisson(rate))
        numpyro.sample("y", dist.Normal(count, 1), obs=y)


def too_many(y, n):
    rate = numpyro.sample("rate", dist.Beta(2.0, 1.0))
    with numpyro.plate("records", n):
        count = numpyro.sample("count", dist.Binomial(64, rate))
        numpyro.sample("y", dist.Normal(count, 1), obs=y)


def several_at_once(y, n):
    rate = numpyro.sample("rate", dist.Beta(2.0, 1.0))
    with numpyro.plate("records", n):
        with numpyro.plate("items", 3, dim=-2):
            item = numpyro.sample("item", dist.Bernoulli(rate))
        numpyro.sample("y", dist.Normal(item.sum(0), 1), obs=y)


def size_of_the_table(y, n):
    rate = numpyro.sample("rate", dist.Beta(2.0, 1.0))
    with numpyro.plate("records", n):
        count = numpyro.sample("count", dist.Binomial(1 if n < 102 else 2, rate))
        numpyro.sample("y", dist.Normal(count, 1), obs=y)


def no_plate(y, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    numpyro.sample("y", dist.Normal(centre, 1).expand([n]), obs=y)


def joint(y, n):
    """A Gaussian process over records: the likelihood does not split."""
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    covariance = jnp.eye(n) + 0.5
    numpyro.sample("y", dist.MultivariateNormal(jnp.full(n, centre), covariance), obs=y)


def joint_latent(y, n):
    """A Gaussian process as a parameter with an entry for each record, outside the plate."""
    process = numpyro.sample("process", dist.MultivariateNormal(jnp.zeros(n), jnp.eye(n) + 0.5))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(process, 1), obs=y)


def local_latent(y, n):
    with numpyro.plate("records", n):
        own = numpyro.sample("own", dist.Normal(0, 1))
        numpyro.sample("y", dist.Normal(own, 1), obs=y)


def discrete(y, n):
    component = numpyro.sample("component", dist.Bernoulli(0.5))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(component, 1), obs=y)


def improper(y, n):
    centre = numpyro.sample("centre", dist.ImproperUniform(dist.constraints.real, (), ()))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)


def moving_support(y, n):
    low = numpyro.sample("low", dist.Normal(0, 1))
    high = numpyro.sample("high", dist.Uniform(low, low + 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(high, 1), obs=y)


def other_name(y, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    with numpyro.plate("records", n):
        numpyro.sample("outcome", dist.Normal(centre, 1), obs=y)


def subsampled(y, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    with numpyro.plate("records", n, subsample_size=3) as index:
        numpyro.sample("y", dist.Normal(centre, 1), obs=None if y is None else y[index])


def no_parameters(y, n):
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(0, 1), obs=y)


def factor_in_plate(y, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)
        numpyro.factor("more", -(centre**2) * jnp.ones(n))


def transformed(y, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1), obs=None if y is None else jnp.tanh(y))


def with_param(y, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    spread = numpyro.param("spread", 1.0)
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, spread), obs=y)


def factored_prior(y, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    numpyro.factor("bump", centre**2)
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (no_plate, "no record plate"),
        (joint, "no record plate.*exchangeable, that is conditionally independent"),
        (joint_latent, "size of the parameter 'process' depends on the table.*exchangeable"),
        (local_latent, "'own' is in the record plate"),
        (endless, "'count' has no end of values"),
        (too_many, "have 65 combinations for each record, and at most 64"),
        (several_at_once, "'item' has several values for each record"),
        (size_of_the_table, "values of a discrete variable depend on the table"),
        (discrete, "'component' is discrete"),
        (improper, "'centre' is improper"),
        (moving_support, "'high' depends on the table or on another parameter"),
        (other_name, "no observed site called 'y'"),
        (subsampled, "takes a subsample"),
        (no_parameters, "no parameter to draw"),
        (factor_in_plate, "numpyro.factor 'more'"),
        (factored_prior, "numpyro.factor 'bump'"),
        (with_param, "'spread' is a numpyro.param"),
        (transformed, "observes something other than the column"),
    ],
)
def test_a_function_that_is_not_a_model_of_records_is_refused(function, reason):
    with pytest.raises(BadInput, match=reason):
        from_numpyro(function, schema=REAL)
