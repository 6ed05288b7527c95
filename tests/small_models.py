"""Models of one column with few parameters, written by hand, for tests of samplers."""

import numpy as np
from numpyro.distributions import constraints

from understudy._jax import jax, jnp
from understudy.domain.schema import Schema
from understudy.models.base import Model, Parameter
from understudy.models.beta import beta

UNIT = Schema.from_dict(
    {"columns": {"x": {"role": "confidential", "type": "continuous", "bounds": [0, 1]}}}
)
BETA = beta(UNIT)
NUMBER = {"role": "confidential", "type": "continuous", "bounds": [-20, 20]}
REAL = Schema.from_dict({"columns": {"y": NUMBER}})


def log_normal(value, centre=0.0, sd=1.0):
    return -0.5 * ((value - centre) / sd) ** 2 - jnp.log(sd) - 0.5 * np.log(2 * np.pi)


def model_of(parameters, log_prior, record_loglik, schema=REAL):
    """Return a model of prepared columns as they are; it is never simulated from."""

    def prepare(columns):
        return {name: jnp.asarray(values) for name, values in columns.items()}

    return Model(
        title="by hand",
        schema=schema,
        parameters=parameters,
        log_prior=log_prior,
        prepare=prepare,
        record_loglik=record_loglik,
        simulate=lambda key, theta, public, rows: {},
        spec={},
    )


def two_components(shares=(0.5, 0.5)):
    """A mixture of two normal components with known shares."""

    def record_loglik(theta, data):
        parts = log_normal(data["y"][:, None], theta["centres"]) + jnp.log(jnp.asarray(shares))
        return jax.nn.logsumexp(parts, axis=1)

    return model_of(
        (Parameter("centres", constraints.real, (2,)),),
        lambda theta: jnp.sum(log_normal(theta["centres"], 0.0, 5.0)),
        record_loglik,
    )


def groups():
    """A normal mean for each of nine declared levels."""
    levels = [f"level {k}" for k in range(9)]
    column = {"role": "public", "type": "categorical", "levels": levels}
    schema = Schema.from_dict({"columns": {"y": NUMBER, "g": column}})
    return model_of(
        (Parameter("level", constraints.real, (9,)),),
        lambda theta: jnp.sum(log_normal(theta["level"])),
        lambda theta, data: log_normal(data["y"], theta["level"][data["g"]]),
        schema,
    )


def normal_mean(sd=2.0):
    """A mean with a normal prior, whose posterior is known."""
    return model_of(
        (Parameter("centre", constraints.real),),
        lambda theta: log_normal(theta["centre"], 0.0, sd),
        lambda theta, data: log_normal(data["y"], theta["centre"]),
    )


def uniform_width():
    """An even density from 0 to an unknown end, beyond which no record can lie."""

    def record_loglik(theta, data):
        inside = (data["y"] >= 0) & (data["y"] <= theta["width"])
        return jnp.where(inside, -jnp.log(theta["width"]), -jnp.inf)

    return model_of(
        (Parameter("width", constraints.positive),),
        lambda theta: log_normal(jnp.log(theta["width"]), 2.5, 0.5) - jnp.log(theta["width"]),
        record_loglik,
    )
