"""The paper's Beta synthesiser for one bounded column (Supplement 2).

    u ~ Beta(λφ, λ(1 − φ)),    φ ~ Uniform(0, 1),    λ ~ Pareto(0.1, 1.5),

where u is the outcome scaled to [0, 1] by its declared bounds. φ is the mean, λ the precision.

The density is evaluated from logarithms that are taken once, with u = (y − lower) / width:

    f = (a − 1) log u + (b − 1) log(1 − u) + log Γ(λ) − log Γ(a) − log Γ(b),    λ = a + b,

which is linear in (a, b) apart from the normalising constant. At u = 0 and u = 1 it is infinite;
the value returned is the limit and the gradient is that of the finite part, so nothing turns into
a NaN.
"""

from __future__ import annotations

import numpy as np
from numpyro.distributions import constraints

from understudy._jax import jax, jnp
from understudy.domain.schema import Column, Schema, Type
from understudy.domain.tables import Columns
from understudy.errors import BadInput
from understudy.models.balance import Floats, among_public, evenly
from understudy.models.base import Data, Model, Parameter, Theta, drawn_in_blocks
from understudy.models.beta_draws import beta_draws
from understudy.models.log_gamma import log_gamma

PRECISION_FLOOR = 0.1
PRECISION_SHAPE = 1.5
_SMALLEST_SHAPE = 1e-100
_LARGEST_PRECISION = 1e12


def beta(schema: Schema) -> Model:
    """Return the Beta model of the schema's one confidential column.

    Args:
        schema: Declares exactly one confidential column, continuous and with bounds.

    Raises:
        BadInput: If there are several confidential columns, or one of another type.
    """
    schema.refuse_released_weight("the beta model")
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
        a, b = precision * mean, precision * (1 - mean)

        def draw(generator: np.random.Generator, some: slice) -> np.ndarray:
            u = beta_draws(generator, a, b, some.stop - some.start)
            return outcome.lower + outcome.width * u

        return {outcome.name: drawn_in_blocks(key, rows, draw)}

    def balanced(
        generator: np.random.Generator, theta: Theta, public: Columns, rows: int
    ) -> Columns:
        u = evenly(generator, rows, among_public(schema, public))
        precision, mean = float(theta["lambda"]), float(theta["phi"])
        share = beta_quantile(u, precision * mean, precision * (1 - mean))
        return {outcome.name: outcome.lower + outcome.width * share}

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
        balanced=balanced,
        spec={"name": "beta"},
    )


def logarithms(values: np.ndarray, column: Column) -> Data:
    """Return log u and log(1 − u), each measured from its own bound so that no digit is lost."""
    with np.errstate(divide="ignore"):
        log_u = np.log((values - column.lower) / column.width)
        log_1mu = np.log((column.upper - values) / column.width)
    return {"log_u": jnp.asarray(log_u), "log_1mu": jnp.asarray(log_1mu)}


def beta_loglik(
    precision: jax.Array, mean: jax.Array, one_minus_mean: jax.Array, data: Data
) -> jax.Array:
    """Return the log density of Beta(λ mean, λ (1 − mean)) at u, with its limits at 0 and 1."""
    log_u, log_1mu = data["log_u"], data["log_1mu"]
    # Shapes that underflow would make the gradient infinite; one that overflows is not a number.
    precision = jnp.minimum(precision, _LARGEST_PRECISION)
    a = jnp.maximum(precision * mean, _SMALLEST_SHAPE)
    b = jnp.maximum(precision * one_minus_mean, _SMALLEST_SHAPE)
    inside_u, inside_1mu = jnp.isfinite(log_u), jnp.isfinite(log_1mu)
    finite_part = (
        (a - 1) * jnp.where(inside_u, log_u, 0.0)
        + (b - 1) * jnp.where(inside_1mu, log_1mu, 0.0)
        + (log_gamma(precision) - log_gamma(a) - log_gamma(b))
    )
    at_edge = jnp.where(inside_u, 0.0, edge(a)) + jnp.where(inside_1mu, 0.0, edge(b))
    return finite_part + at_edge


def beta_quantile(u: Floats, a: Floats | float, b: Floats | float) -> Floats:
    """Return where Beta(a, b) has the share u of its mass below."""
    from scipy.special import betaincinv

    return np.asarray(betaincinv(a, b, u), dtype=np.float64)


def edge(shape: jax.Array) -> jax.Array:
    """Return the limit of (shape − 1) log u as u → 0: ±∞, or 0 for a density that is level."""
    limit = jnp.where(shape < 1, jnp.inf, jnp.where(shape > 1, -jnp.inf, 0.0))
    return jax.lax.stop_gradient(limit)


def log_precision_prior(precision: jax.Array) -> jax.Array:
    """Log density of Pareto(0.1, 1.5), the paper's prior on the precision λ."""
    return (
        np.log(PRECISION_SHAPE)
        + PRECISION_SHAPE * np.log(PRECISION_FLOOR)
        - (PRECISION_SHAPE + 1) * jnp.log(precision)
    )
