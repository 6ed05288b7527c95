"""Models that look converged when they are not: adversaries of any sampler.

Each is a model of one column between 0 and 1 with a normal prior, and a table on which a careless
sampler gives a record away, or misses most of the target.
"""

import numpy as np
from numpyro.distributions import constraints

from understudy._jax import jax, jnp
from understudy.domain.schema import Schema
from understudy.models.base import Model, Parameter

SCHEMA = Schema.from_dict(
    {
        "table": {"size": 61},
        "columns": {"x": {"role": "confidential", "type": "continuous", "bounds": [0, 1]}},
    }
)


def _model(title, dimension, record_loglik, log_prior=None):
    def normal(theta):
        return -0.5 * jnp.sum(theta["z"] ** 2) / 4

    def prepare(columns):
        return {"x": jnp.asarray(columns["x"])}

    def simulate(key, theta, public, rows):
        # Where the first coordinate is positive, records lie in the upper half.
        upper = jnp.where(theta["z"][0] > 0, 0.5, 0.0)
        return {"x": np.asarray(upper + 0.5 * jax.random.uniform(key, (rows,)))}

    return Model(
        title=title,
        schema=SCHEMA,
        parameters=(Parameter("z", constraints.real_vector, (dimension,)),),
        log_prior=log_prior or normal,
        prepare=prepare,
        record_loglik=lambda theta, data: record_loglik(theta["z"], data["x"]),
        simulate=simulate,
        spec={"adversary": title},
    )


def two_wells() -> Model:
    """Two flat wells with a wall between them; a record at either end of the column tips them.

    A record in the middle says that θ lies beyond 1 in size and does not care about its sign. One
    at an end cares about nothing else. Each is bounded by the censoring, but sixty of the first
    kind make a wall that no chain climbs, so where a chain starts, there it stays.
    """

    def record_loglik(z, x):
        wall = jnp.minimum(jnp.abs(z[0]) / 2.4 - 0.25, 0.25)
        tip = 10 * jnp.tanh(20 * z[0]) * jnp.sign(x - 0.5)
        return jnp.where(jnp.abs(x - 0.5) < 0.25, wall, tip)

    def log_prior(theta):
        return -50.0 * jnp.sum(jnp.maximum(jnp.abs(theta["z"]) - 2.2, 0.0) ** 2)

    return _model("two wells", 1, record_loglik, log_prior)


def ridge() -> Model:
    """A narrow curved ridge, θ₂ close to θ₁², along which the records say next to nothing."""

    def record_loglik(z, x):
        across = 100 * (z[1] - z[0] ** 2)
        return -0.5 * across**2 + 0.01 * (x - 0.5) * z[0]

    return _model("ridge", 2, record_loglik)


def funnel() -> Model:
    """Neal's funnel in the prior: its neck is narrower than any step that suits its mouth."""

    def log_prior(theta):
        scale, rest = theta["z"][0], theta["z"][1:]
        return -0.5 * (scale / 3) ** 2 - jnp.sum(
            0.5 * (rest * jnp.exp(-scale / 2)) ** 2 + scale / 2
        )

    def record_loglik(z, x):
        return 0.01 * (x - 0.5) * z[0]

    return _model("funnel", 10, record_loglik, log_prior)


def leaning(record: float) -> dict[str, list[float]]:
    """Return a table of sixty equal records in the middle and one of choice."""
    return {"x": [0.5] * 60 + [record]}
