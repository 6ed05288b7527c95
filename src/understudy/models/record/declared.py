"""A model as the schema's declarations change it.

A model describes one row. What the schema says about rows holds for any model, and is added to it
here, from the row outwards: a rule fixes a value, a value may be missing (`missing.py`), a rule
says that it is, a row stands for many people, several rows belong to one person (`units.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np

from understudy._jax import jax, jnp
from understudy.domain.expressions import Missing
from understudy.domain.rules import determined, enforce
from understudy.domain.tables import Columns
from understudy.models.base import Data, Model, Theta, extended, without
from understudy.models.record.missing import with_missing_values
from understudy.models.record.units import by_unit


@cache
def as_declared(model: Model) -> Model:
    """Return the model of a record, from one of a row; the same object whenever it is asked for.

    Kernels are compiled for a model, so one that was built twice would be compiled twice.
    """
    if model.as_declared:
        return model
    row = with_missing_values(without_fixed_terms(model))
    row = without_fixed_terms(row, missing=True)
    declared = by_unit(_with_survey_weights(row))
    if declared is row:
        return model if row is model else replace(row, as_declared=True)
    return replace(declared, as_declared=True, row=replace(row, as_declared=True))


def without_fixed_terms(model: Model, *, missing: bool = False) -> Model:
    """Return the model of one column with f(x) → 0 where a rule fixes the column's value.

    A salary that has to be 0 because somebody is not employed says nothing about θ, and where 0 is
    an edge of the domain its density would be infinite. Whether a rule fixes the value is decided
    by the record's public columns alone, so simulated rows have it where the table's would. Models
    of several columns keep all terms, and their simulated rows are set right afterwards
    (`domain/satisfying.py`).

    If asked to, do so where a rule says that the value is missing: then that it is tells nothing
    about how often values are, either.
    """
    schema = model.schema
    fixable = {
        each.column
        for rule in schema.rules
        for each in rule.assignments
        if isinstance(each.to, Missing) is missing
    }
    if len(schema.confidential) != 1 or schema.confidential[0].name not in fixable:
        return model
    outcome = schema.confidential[0].name

    def is_fixed(columns: Columns) -> np.ndarray:
        nowhere = np.zeros(len(columns[outcome]), dtype=bool)
        return determined(schema.rules, columns, missing=missing).get(outcome, nowhere)

    def simulate(key: jax.Array, theta: Theta, public: Columns, rows: int) -> Columns:
        simulated = model.simulate(key, theta, public, rows)
        free = np.asarray(simulated[outcome])
        columns = {**public, outcome: free}
        ruled = enforce(schema.rules, columns)[outcome]
        return {**simulated, outcome: np.where(is_fixed(columns), ruled, free)}

    name = "missing by a rule" if missing else "fixed by a rule"
    changed = _changed(model, name, is_fixed, lambda fixed, f: jnp.where(fixed, 0.0, f))
    return replace(changed, simulate=simulate)


def _with_survey_weights(model: Model) -> Model:
    """Return the model with f(x) → (w / average) f(x), where the schema declares a weight.

    Inside the clip, so that the draw estimates the population and not the sample, while no record
    counts for more than its bound allows. `average` is declared: divided by the mean weight of the
    table, each score would depend on all the other records.
    """
    weight = model.schema.survey_weight
    if weight is None:
        return model
    return _changed(
        model,
        "survey weight over its average",
        lambda columns: columns[weight.name] / weight.average,
        # A row of weight 0 counts for nothing, even where its density is infinite.
        lambda share, loglik: jnp.where(share > 0, share * loglik, 0.0),
    )


def _changed(
    model: Model,
    name: str,
    values: Callable[[Columns], np.ndarray],
    change: Callable[[jax.Array, jax.Array], jax.Array],
) -> Model:
    """Return the model with one more prepared array, which changes each record's log-likelihood."""

    def prepare(columns: Columns) -> Data:
        return extended(model.prepare(columns), name, values(columns))

    def record_loglik(theta: Theta, data: Data) -> jax.Array:
        return change(data[name], model.record_loglik(theta, without(data, name)))

    return replace(model, prepare=prepare, record_loglik=record_loglik, record_slope=None)
