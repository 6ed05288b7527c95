"""Any Bambi model of one outcome, as a model.

Bambi learns from the frame it is given: levels, the constants of `scale` and `bs`, the centre of
each predictor, and the scales of its default priors. Here it is given a *public* frame, laid out
over the declared domain, and never the table, so that all of these follow from the schema. A model
that was built on the table is built again on the public frame, from its formula and family.

Bambi turns every number of a prior into an array, so that in a finished model a number that was
written down cannot be told from one that was computed from the table. A finished model may
therefore have no priors of its own; a function that builds the model may, because it is looked at.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from typing import Any

import numpy as np
import pandas as pd

from understudy.adapters.functions import check_closure, check_returned, digest, title_of, user_code
from understudy.adapters.outside import first_computed
from understudy.adapters.pymc import installed
from understudy.domain.schema import Role, Schema
from understudy.domain.tables import Columns
from understudy.errors import BadInput
from understudy.models.base import Model

FRAME = "data"
"""What a function that builds a Bambi model calls its one argument, a data frame."""
_POINTS = 1009
_OPTIONS = ("potentials", "auto_scale", "noncentered", "center_predictors")
"""What else a finished model was built with, none of which follows from its table."""


def from_bambi(
    model: Callable[..., Any] | Any, *, schema: Schema, spec: dict[str, Any] | None = None
) -> Model:
    """Turn a `bambi.Model`, or a function of a frame that builds one, into a model.

    Args:
        model: A function of one argument, a data frame, that returns a `bambi.Model` of it; or a
            finished `bambi.Model` without priors of its own, which is built again on public rows.
        schema: Declares the columns that it may take, and the domain of public trial tables.
        spec: What a release says about the model; by default its name and a digest of its source.

    Raises:
        BadInput: If Bambi is not installed, or the model depends on what it must not depend on; the
            sentence says what to change.
    """
    bambi = installed("bambi")
    from understudy.adapters.bambi_inputs import BambiInputs
    from understudy.adapters.pymc_graph import as_model

    points = _points(schema)
    frame = as_frame(points, schema)
    if isinstance(model, bambi.Model):
        title = str(model.formula)
        with user_code(title, "built again on a public frame (give a function that builds it)"):
            built = _again(model, frame)
        # Of the model on the public frame: the text of the other one tells of its table.
        mark = hashlib.sha256(str(built).encode()).hexdigest()
    elif callable(model):
        title, mark = title_of(model), digest(model) or ""
        built = _called(model, frame)
    else:
        raise BadInput("from_bambi takes a bambi.Model, or a function that returns one.")
    inputs = BambiInputs(title, built, schema, frame, points)
    inputs.check()
    with user_code(title, "read on a public frame"):
        levels, parts = inputs.levels(), dict(inputs.parts())
        graph = inputs.graph(parts)
    outcome = inputs.outcome.name

    def encode(columns: Columns) -> Columns:
        rows = as_frame(columns, schema)
        arrays = {name: np.asarray(part(rows)) for name, part in parts.items()}
        values = columns[outcome]
        return {**arrays, outcome: values if levels is None else levels[values]}

    def decode(drawn: Columns) -> Columns:
        if levels is None:
            return drawn
        order = np.argsort(levels)
        return {outcome: order[np.searchsorted(levels[order], drawn[outcome])]}

    spec = spec or {"bambi": title, "digest": mark}
    return as_model(
        title, lambda table: graph, schema=schema, spec=spec, encode=encode, decode=decode
    )


def _points(schema: Schema) -> Columns:
    """Return public records all over the declared domain, its two ends included."""
    points = schema.public_points(_POINTS - 2)
    ends = {
        column.name: [column.lower, column.upper]
        if column.numeric
        else [0, len(column.levels or ()) - 1]
        for column in schema.having(Role.CONFIDENTIAL, Role.PUBLIC)
    }
    return {name: np.concatenate([values, ends[name]]) for name, values in points.items()}


def _called(function: Callable[..., Any], frame: pd.DataFrame) -> Any:
    """Return the Bambi model that a function builds from a public frame."""
    title = title_of(function)
    check_closure(function)
    with user_code(title, f"given a public frame of {len(frame)} records"):
        built = function(frame.copy())
    check_returned(title, built, installed("bambi").Model, "it must return the bambi.Model")
    # Bambi looks up the functions of a formula where the formula is written.
    outside = getattr(getattr(function, "func", function), "__globals__", {})
    words = {*re.findall(r"\w+", " ".join(built.formula.get_all_formulas()))} - {*built.data}
    check_closure(function, {word: outside[word] for word in sorted(words & outside.keys())})
    used = [name for name in frame if name in built.data]
    if len(built.data) != len(frame) or not built.data[used].equals(frame[used]):
        raise BadInput(
            f"the model '{title}' has a table baked in, or changes the one it is given: build the "
            f"bambi.Model from the argument, and write transforms into the formula."
        )
    return built


def as_frame(columns: Columns, schema: Schema) -> pd.DataFrame:
    """Return columns as a frame: numbers, whole numbers, and levels in their declared order.

    A binary column of 0 and 1 is a number, as it would be in a frame that was read from a file.
    """
    frame = {}
    for column in schema.having(Role.CONFIDENTIAL, Role.PUBLIC):
        if column.name not in columns:
            continue
        values = np.asarray(columns[column.name])
        if column.levels in (None, ("0", "1")):
            whole = column.levels is not None or column.whole
            frame[column.name] = pd.Series(values.astype(np.int64) if whole else values)
        else:
            kind = pd.CategoricalDtype(pd.Index(column.levels), ordered=True)
            frame[column.name] = pd.Series(pd.Categorical.from_codes(values, dtype=kind))
    return pd.DataFrame(frame)


def _again(model: Any, frame: pd.DataFrame) -> Any:
    """Build a model on another frame, where nothing in it can have come from its own."""
    if model._added_priors:
        raise BadInput(
            f"on the model '{model.formula}' set_priors was called, after which Bambi no longer "
            f"tells the priors that were set from those it made up from the table: give a function "
            f"that builds the model."
        )
    _check_family(model)
    constants: dict[str, float] = {}
    for name, component in model.components.items():
        for label, prior in _priors(name, component):
            if type(prior) in (int, float):
                constants[label] = prior
            elif prior is not None and not getattr(prior, "auto_scale", False):
                raise _untold(model, f"the prior of '{label}'")
    options = {name: getattr(model, name) for name in _OPTIONS}
    family = deepcopy(model.family)
    make = installed("bambi").Model
    return make(model.formula, frame, family=family, priors=constants, **options)


def _priors(name: str, component: Any) -> list[tuple[str, Any]]:
    """Return the priors of a component by what they belong to; Bambi's own have `auto_scale`."""
    if not hasattr(component, "terms"):
        return [(name, component.prior)]
    terms = component.terms.values()
    return [(term.term.name, getattr(term, "prior", None)) for term in terms]


def _check_family(model: Any) -> None:
    """Refuse a family with priors of its own, or with computed numbers in its functions."""
    from bambi.defaults import get_builtin_family

    family, same = model.family, not model.family.default_priors
    with suppress(ValueError, KeyError):  # Of a family of one's own, or of arrays.
        same = same or family.default_priors == get_builtin_family(family.name).default_priors
    if not same:
        raise _untold(model, f"a prior of the family '{family.name}'")
    if first_computed([family.likelihood, family.link]) is not None:
        raise _untold(model, f"the family '{family.name}'")


def _untold(model: Any, what: str) -> BadInput:
    return BadInput(
        f"in the finished model '{model.formula}' {what} has numbers that cannot be told from "
        f"numbers that were computed from the table: give a function that builds the model, in two "
        f"lines: 'def build(data):' / 'return bambi.Model(..., data, ...)'."
    )
