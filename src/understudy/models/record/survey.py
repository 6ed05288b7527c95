"""Survey weights: a row that stands for many people counts for many.

    f(x) → (w / average) f(x)

inside the clip, so that the draw estimates the population and not the sample, while no record
counts for more than its bound allows. `average` is declared: divided by the mean weight of the
table, each score would depend on all the other records.
"""

from __future__ import annotations

from dataclasses import replace

from understudy._jax import jax, jnp
from understudy.domain.tables import Columns
from understudy.models.base import Data, Model, Theta, extended, without

_WEIGHT = "survey weight over its average"


def with_survey_weights(model: Model) -> Model:
    """Return the model with weighted log-likelihoods, where the schema declares a weight."""
    weight = model.schema.survey_weight
    if weight is None:
        return model
    name, average = weight.name, weight.average
    assert average is not None

    def prepare(columns: Columns) -> Data:
        return extended(model.prepare(columns), _WEIGHT, columns[name] / average)

    def record_loglik(theta: Theta, data: Data) -> jax.Array:
        share = data[_WEIGHT]
        loglik = model.record_loglik(theta, without(data, _WEIGHT))
        # A row of weight 0 counts for nothing, even where its density is infinite.
        return jnp.where(share > 0, share * loglik, 0.0)

    return replace(model, prepare=prepare, record_loglik=record_loglik)
