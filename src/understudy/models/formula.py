"""Regression of a bounded outcome on public predictors, by formula.

    u ~ Beta(λμ, λ(1 − μ)),    logit μ = X β,    β ~ Normal(0, 2.5),    λ ~ Pareto(0.1, 1.5),

where u is the outcome scaled to [0, 1] by its declared bounds and X is the design matrix of
`design.py`, whose columns run from 0 to 1 over the declared domain: a coefficient is the change of
logit μ from one end of its predictor's declared range to the other, or against the first level.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpyro.distributions import constraints

from understudy._jax import jax, jnp
from understudy.errors import BadInput
from understudy.models.base import Data, Model, Parameter, Theta
from understudy.models.beta_density import (
    PRECISION_FLOOR,
    beta_loglik,
    check_outcome,
    log_precision_prior,
    logarithms,
)
from understudy.models.design import design

if TYPE_CHECKING:
    from understudy.schema import Schema
    from understudy.tables import Columns

FAMILIES = ("beta",)
COEFFICIENT_SD = 2.5


def formula(text: str, *, family: str, schema: Schema) -> Model:
    """Return the regression model that a formula such as `salary ~ gender + age` describes."""
    if family not in FAMILIES:
        known = ", ".join(FAMILIES)
        raise BadInput(f"family '{family}' is not known: a formula can have the family {known}.")
    plan = design(text, schema)
    outcome = check_outcome(schema.column(plan.outcome))
    if "lambda" in plan.names:
        raise BadInput("a predictor cannot be called 'lambda', the name of the precision.")

    def log_prior(theta: Theta) -> jax.Array:
        coefficients = _coefficients(theta)
        standardised = coefficients / COEFFICIENT_SD
        constant = np.log(COEFFICIENT_SD * np.sqrt(2 * np.pi))
        normal = -0.5 * jnp.sum(standardised**2) - len(plan.names) * constant
        return normal + log_precision_prior(theta["lambda"])

    def prepare(columns: Columns) -> Data:
        logs = logarithms(columns[outcome.name], outcome)
        return {**logs, "design": jnp.asarray(plan.matrix(columns))}

    def record_loglik(theta: Theta, data: Data) -> jax.Array:
        return beta_loglik(theta["lambda"], *_means(theta, data["design"]), data)

    def simulate(key: jax.Array, theta: Theta, public: Columns, rows: int) -> Columns:
        mean, one_minus_mean = _means(theta, _design_rows(public, rows))
        precision = theta["lambda"]
        u = jax.random.beta(key, precision * mean, precision * one_minus_mean)
        return {outcome.name: outcome.lower + outcome.width * np.asarray(u)}

    def _design_rows(public: Columns, rows: int) -> jax.Array:
        if not plan.predictors:
            return jnp.ones((rows, len(plan.names)))
        return jnp.asarray(plan.matrix(public))

    def _coefficients(theta: Theta) -> jax.Array:
        return jnp.stack([theta[name] for name in plan.names])

    def _means(theta: Theta, matrix: jax.Array) -> tuple[jax.Array, jax.Array]:
        linear = matrix @ _coefficients(theta)
        # The logistic of −x, rather than 1 − logistic(x), keeps both above zero.
        return jax.nn.sigmoid(linear), jax.nn.sigmoid(-linear)

    return Model(
        title=text,
        schema=schema,
        parameters=(
            *(Parameter(name, constraints.real) for name in plan.names),
            Parameter("lambda", constraints.greater_than(PRECISION_FLOOR)),
        ),
        log_prior=log_prior,
        prepare=prepare,
        record_loglik=record_loglik,
        simulate=simulate,
        spec={"formula": text, "family": family},
    )
