"""Missing values of one confidential column, as part of the record.

    f(x) → log p  where the value is missing,    log(1 − p) + f(x)  elsewhere,    p ~ Uniform(0, 1)

So whether a value is missing is protected like the value itself, and synthetic rows miss as many.
p is the same for every record: a model of several columns can let it depend on the others, and says
so by `handles_missing`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpyro.distributions import constraints

from understudy._jax import jax, jnp
from understudy.domain.schema import Column
from understudy.domain.tables import Columns
from understudy.errors import BadInput
from understudy.models.balance import among_public, evenly
from understudy.models.base import Balanced, Data, Model, Parameter, Theta, extended, without

_MISSING = "value missing"
_SMALLEST, _LARGEST = 1e-100, 1 - 2.0**-53
"""Probabilities beyond these have infinite logarithms, and no gradient."""


def with_missing_values(model: Model) -> Model:
    """Return the model with missing values as part of the record, where the schema allows them."""
    allowing = [c for c in model.schema.confidential if c.missing == "model"]
    several = next((c.name for c in allowing if c.kinds > 1), None)
    if several is not None and not model.handles_codes:
        raise BadInput(
            f"column '{several}' declares several codes of missing values, which '{model.title}' "
            f"does not tell apart: use a model of whole tables, or declare one code."
        )
    if not allowing or model.handles_missing:
        return model
    if len(model.schema.confidential) > 1:
        raise BadInput(
            f"column '{allowing[0].name}' is declared with missing = 'model', but '{model.title}' "
            f"synthesises several columns and has no place for missing values: use a model of "
            f"whole tables that does, or declare missing = 'refuse'."
        )
    (outcome,) = allowing
    probability = Parameter(f"missing[{outcome.name}]", constraints.unit_interval)
    if probability.name in {parameter.name for parameter in model.parameters}:
        raise BadInput(
            f"the model has a parameter called '{probability.name}', which is the name of the "
            f"probability that '{outcome.name}' is missing: rename the column or the predictor."
        )
    inside = model.schema.public_points(1)[outcome.name]

    def prepare(columns: Columns) -> Data:
        values = columns[outcome.name]
        missing = is_missing(values, outcome)
        # A public value takes the place, so that no NaN meets a density or its gradient.
        complete = {**columns, outcome.name: np.where(missing, inside, values)}
        return extended(model.prepare(complete), _MISSING, missing)

    def record_loglik(theta: Theta, data: Data) -> jax.Array:
        p = jnp.clip(theta[probability.name], _SMALLEST, _LARGEST)
        own, rest = without(theta, probability.name), without(data, _MISSING)
        observed = jnp.log1p(-p) + model.record_loglik(own, rest)
        return jnp.where(data[_MISSING], jnp.log(p), observed)

    def simulate(key: jax.Array, theta: Theta, public: Columns, rows: int) -> Columns:
        key, other = jax.random.split(key)
        simulated = model.simulate(key, without(theta, probability.name), public, rows)
        missing = np.asarray(jax.random.bernoulli(other, theta[probability.name], (rows,)))
        values = np.asarray(simulated[outcome.name])
        code = np.nan if outcome.numeric else -1
        return {**simulated, outcome.name: np.where(missing, code, values)}

    return replace(
        model,
        parameters=(*model.parameters, probability),
        log_prior=lambda theta: model.log_prior(without(theta, probability.name)),
        prepare=prepare,
        record_loglik=record_loglik,
        record_slope=None,
        simulate=simulate,
        balanced=None if model.balanced is None else _balancing(model, probability.name),
    )


def _balancing(model: Model, probability: str) -> Balanced:
    """Return what spreads evenly which values are missing, and then values over all other rows.

    A balanced table that lost values by chance afterwards would be balanced no more.
    """
    (outcome,) = model.schema.confidential

    def balanced(
        generator: np.random.Generator, theta: Theta, public: Columns, rows: int
    ) -> Columns:
        assert model.balanced is not None
        u = evenly(generator, rows, among_public(model.schema, public))
        there = u >= float(theta[probability])
        values = np.full(rows, np.nan) if outcome.numeric else np.full(rows, -1)
        if there.any():
            beside = {name: np.asarray(column)[there] for name, column in public.items()}
            own, count = without(theta, probability), int(there.sum())
            values[there] = model.balanced(generator, own, beside, count)[outcome.name]
        return {outcome.name: values}

    return balanced


def is_missing(values: np.ndarray, column: Column) -> np.ndarray:
    """Return which values of a coded column are missing."""
    return np.isnan(values) if column.numeric else np.asarray(values) < 0
