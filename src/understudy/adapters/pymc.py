"""Any PyMC model of records, as a model.

Two forms are understood. A function takes columns of the schema by argument name and returns a
`pm.Model` whose observed variables bear the names of the confidential columns; it is called with
PyTensor vectors, or with arrays if it puts them into `pm.Data` under the columns' names. Or a
`pm.Model` holds such `pm.Data` containers already. Either way the columns are inputs of the graph
and never constants in it, so that the log prior, the record log-likelihood and the simulation
follow for tables of any size.
"""

from __future__ import annotations

import hashlib
import importlib
import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from understudy.adapters.functions import arguments, digest, title_of
from understudy.errors import BadInput

if TYPE_CHECKING:
    from understudy.models.base import Model
    from understudy.schema import Schema


def from_pymc(
    model: Callable[..., Any] | Any, *, schema: Schema, spec: dict[str, Any] | None = None
) -> Model:
    """Turn a `pm.Model`, or a function that builds one, into a model of confidential columns."""
    pymc = installed("pymc")
    from understudy.adapters.pymc_model import Program, as_model
    from understudy.adapters.pymc_source import graph_of_function, graph_of_object

    if isinstance(model, pymc.Model):
        title = model.name or "PyMC model"
        mark: str | None = hashlib.sha256(_text(model).encode()).hexdigest()
        build = partial(graph_of_object, title, model, schema)
    elif callable(model):
        title, mark = title_of(model), digest(model)
        build = partial(graph_of_function, model, schema, arguments(model, schema))
    else:
        raise BadInput("from_pymc takes a pm.Model, or a function that returns one.")
    return as_model(
        Program(title, build), schema=schema, spec=spec or {"pymc": title, "digest": mark}
    )


def _text(model: Any) -> str:
    """Return what a model says: columns by their names alone, and no places in memory."""
    pytensor = installed("pytensor")
    variables = [*model.free_RVs, *model.observed_RVs]
    return re.sub(r" at 0x[0-9A-Fa-f]+", "", pytensor.dprint(variables, file="str", id_type=""))


def installed(package: str) -> Any:
    """Return an optional package, or say how to get it."""
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise BadInput(
            f"this needs {package}, which is not installed: pip install 'understudy[pymc]'."
        ) from None
