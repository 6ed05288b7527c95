"""Where a PyMC graph comes from: the user's function, called on public tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pymc
import pytensor
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.scalar.basic import Cast

from understudy.adapters.checks import check_names
from understudy.adapters.functions import AS_GIVEN, check_returned, frozen, title_of, user_code
from understudy.adapters.pymc_graph import Graph
from understudy.domain.schema import Schema
from understudy.domain.tables import Columns
from understudy.errors import BadInput


def graph_of_function(
    function: Callable[..., Any], schema: Schema, arguments: tuple[str, ...], table: Columns
) -> Graph:
    """Call a function on a public table and return the graph that it builds.

    Arrays come first: a function that puts them into `pm.Data` has its inputs there. Any other
    function is called again with PyTensor vectors, which are then the inputs.
    """
    title = title_of(function)
    columns = {name: table[name] for name in arguments if name != "n"}
    rows = len(next(iter(columns.values())))

    def call(inputs: dict[str, Any], size: Any, doing: str, advice: str) -> Any:
        with user_code(title, doing, advice):
            built = function(**inputs, **({"n": size} if "n" in arguments else {}))
        check_returned(title, built, pymc.Model, "a PyMC function must return the pm.Model")
        return built

    inputs: dict[str, Any] = {}
    fault = None
    try:
        model = call(frozen(columns), rows, f"given a public table of {rows} records", AS_GIVEN)
        inputs = _by_name_or_value(model, columns)
    except BadInput as error:
        # It may want what only PyTensor's vectors have, a method of theirs for example.
        fault = error
    if len(inputs) < len(columns):
        inputs = {name: pytensor.shared(values, name=name) for name, values in columns.items()}
        try:
            model = call(
                inputs,
                next(iter(inputs.values())).shape[0],
                "given its columns as PyTensor vectors",
                "put all of them into pm.Data, or use PyTensor's functions and .shape[0]",
            )
        except BadInput as error:
            raise fault or error from None
    check_names(title, [variable.name for variable in model.free_RVs], schema)
    return graph_of_model(title, model, inputs, schema)


def graph_of_model(title: str, model: Any, inputs: dict[str, Any], schema: Schema) -> Graph:
    """Return the graph of a model, with those of its inputs that are known."""
    observed = _observed(title, model, inputs, schema)
    return Graph(
        title=title,
        inputs=inputs,
        lengths=_lengths(model, [*inputs, *(each.name for each in observed.values())]),
        free={variable.name: variable for variable in model.free_RVs},
        transforms={each.name: model.rvs_to_transforms[each] for each in model.free_RVs},
        observed=observed,
        values={name: model.rvs_to_values[variable] for name, variable in observed.items()},
    )


def _observed(title: str, model: Any, inputs: dict[str, Any], schema: Schema) -> dict[str, Any]:
    """Return the variable that observes each column: by its own name, or by what it observes."""
    if model.potentials:
        raise BadInput(
            f"in the model '{title}' the pm.Potential '{model.potentials[0].name}' is neither a "
            f"prior nor the density of a column: use a distribution."
        )
    if not model.observed_RVs:
        raise BadInput(f"the model '{title}' has no observed variable: pass a column as observed.")
    names = [column.name for column in schema.confidential]
    observed = {}
    for variable in model.observed_RVs:
        value = _uncast(model.rvs_to_values[variable])
        held = [name for name in names if inputs.get(name) is value]
        name = variable.name if variable.name in names else "".join(held)
        if not name or name in observed:
            raise BadInput(
                f"in the model '{title}' the variable '{variable.name}' is observed, but it is "
                f"not the one variable of a confidential column of the schema: give the variable "
                f"that observes a column the column's name, and drop any other."
            )
        observed[name] = variable
    for name in names:
        if name not in observed:
            raise BadInput(
                f"the model '{title}' has no observed variable called '{name}': give the variable "
                f"that observes the confidential column the column's name."
            )
    return observed


def _lengths(model: Any, names: list[str]) -> list[Any]:
    """Return shared variables that hold the number of records as the length of a dimension."""
    dims = [model.named_vars_to_dims.get(name) for name in names]
    lengths = {model.dim_lengths[each[0]] for each in dims if each and each[0]}
    return [each for each in lengths if isinstance(each, SharedVariable)]


def _by_name_or_value(model: Any, columns: Columns) -> dict[str, Any]:
    """Return the containers that hold the columns a function was called with."""
    held = {each.name: each for each in model.data_vars if isinstance(each, SharedVariable)}
    holders = {name: held[name] for name in columns if name in held}
    for name, values in columns.items():
        for variable in held.values():
            if name not in holders and np.array_equal(variable.get_value(borrow=True), values):
                holders[name] = variable
    return holders


def _uncast(variable: Any) -> Any:
    """Return what a variable is a mere change of type of."""
    while variable.owner is not None and isinstance(
        getattr(variable.owner.op, "scalar_op", None), Cast
    ):
        (variable,) = variable.owner.inputs
    return variable
