"""A model of one column that a structural rule fixes in some records.

    f(x) → 0    where a rule fixes the column's value

A salary that has to be 0 because somebody is not employed says nothing about θ, and where 0 is an
edge of the domain its density would be infinite. Whether a rule fixes the value is decided by the
record's public columns alone. Models of several columns keep all terms, and their simulated rows
are set right afterwards (`domain/satisfying.py`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from understudy._jax import jax, jnp
from understudy.domain.rules import determined
from understudy.domain.tables import Columns
from understudy.models.base import Data, Model, Theta, extended, without

_FIXED = "fixed by a rule"


def without_fixed_terms(model: Model) -> Model:
    """Return the model, without the terms of values that a rule fixes."""
    schema = model.schema
    fixable = {each.column for rule in schema.rules for each in rule.assignments}
    if len(schema.confidential) != 1 or schema.confidential[0].name not in fixable:
        return model
    outcome = schema.confidential[0].name

    def prepare(columns: Columns) -> Data:
        nowhere = np.zeros(len(columns[outcome]), dtype=bool)
        fixed = determined(schema.rules, columns).get(outcome, nowhere)
        return extended(model.prepare(columns), _FIXED, fixed)

    def record_loglik(theta: Theta, data: Data) -> jax.Array:
        return jnp.where(data[_FIXED], 0.0, model.record_loglik(theta, without(data, _FIXED)))

    return replace(model, prepare=prepare, record_loglik=record_loglik)
