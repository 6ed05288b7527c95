"""A model as the schema's declarations change it.

A model describes one row. What the schema says about rows (a rule fixes a value, a value may be
missing, a row stands for many people, several rows belong to one person) holds for any model, and
is added to it here, from the row outwards.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from understudy.models.base import Model
from understudy.models.record.fixed import without_fixed_terms
from understudy.models.record.missing import with_missing_values
from understudy.models.record.survey import with_survey_weights
from understudy.models.record.units import by_unit


@cache
def as_declared(model: Model) -> Model:
    """Return the model of a record, from one of a row; the same object whenever it is asked for.

    Kernels are compiled for a model, so one that was built twice would be compiled twice.
    """
    if model.as_declared:
        return model
    declared = model
    for change in (without_fixed_terms, with_missing_values, with_survey_weights, by_unit):
        declared = change(declared)
    return model if declared is model else replace(declared, as_declared=True)
