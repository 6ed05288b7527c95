"""The paper's Beta synthesiser for one bounded column (Supplement 2).

    u ~ Beta(λφ, λ(1 − φ)),    φ ~ Uniform(0, 1),    λ ~ Pareto(0.1, 1.5),

where u is the outcome scaled to [0, 1] by its declared bounds. φ is the mean, λ the precision.
"""

from __future__ import annotations

from numpyro.distributions import constraints

from understudy._jax import jax
from understudy.domain.schema import Schema, Type
from understudy.domain.tables import Columns
from understudy.errors import BadInput
from understudy.models.base import Data, Model, Parameter, Theta, host_generator
from understudy.models.beta_density import (
    PRECISION_FLOOR,
    beta_loglik,
    log_precision_prior,
    logarithms,
)


def beta(schema: Schema) -> Model:
    """Return the Beta model of the schema's one confidential column.

    Args:
        schema: Declares exactly one confidential column, continuous and with bounds.

    Raises:
        BadInput: If there are several confidential columns, or one of another type.
    """
    if len(schema.confidential) != 1:
        names = ", ".join(column.name for column in schema.confidential) or "none"
        raise BadInput(
            f"the beta model synthesises exactly one confidential column, but the schema declares "
            f"{names}: give the others the role 'ignore' or 'public', or use another model."
        )
    (outcome,) = schema.confidential
    if outcome.type is not Type.CONTINUOUS:
        raise BadInput(
            f"column '{outcome.name}' is declared {outcome.type}, but a beta model needs a "
            f"continuous outcome with bounds: declare it continuous or choose another model."
        )

    def record_loglik(theta: Theta, data: Data) -> jax.Array:
        return beta_loglik(theta["lambda"], theta["phi"], 1 - theta["phi"], data)

    def simulate(key: jax.Array, theta: Theta, public: Columns, rows: int) -> Columns:
        precision, mean = float(theta["lambda"]), float(theta["phi"])
        u = host_generator(key).beta(precision * mean, precision * (1 - mean), rows)
        return {outcome.name: outcome.lower + outcome.width * u}

    return Model(
        title=f"beta model of {outcome.name}",
        schema=schema,
        parameters=(
            Parameter("phi", constraints.unit_interval),
            Parameter("lambda", constraints.greater_than(PRECISION_FLOOR)),
        ),
        log_prior=lambda theta: log_precision_prior(theta["lambda"]),
        prepare=lambda columns: logarithms(columns[outcome.name], outcome),
        record_loglik=record_loglik,
        simulate=simulate,
        spec={"name": "beta"},
    )
