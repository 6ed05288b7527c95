"""Any PyMC model of records, as a model.

It is given as a function that takes columns of the schema by argument name and returns a `pm.Model`
whose observed variables bear the names of the confidential columns. The function is called with
PyTensor vectors, or with arrays if it puts them into `pm.Data` under the columns' names. Either way
the columns are inputs of the graph and never constants in it, so that the log prior, the record
log-likelihood and the simulation follow for tables of any size.

A `pm.Model` that is finished already is refused. Its constants can no longer be told from numbers
that were computed from the table, and a prior centred at the table's mean moves with every record:
no guarantee would hold. A function is tried on public tables, and what it takes from outside is
looked at.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

from understudy.adapters.functions import arguments, digest, title_of
from understudy.domain.schema import Schema
from understudy.errors import BadInput
from understudy.models.base import Model

_SHOWN = 4
"""Columns that a sentence names, at most."""


def from_pymc(
    function: Callable[..., Any], *, schema: Schema, spec: dict[str, Any] | None = None
) -> Model:
    """Turn a function that builds a `pm.Model` into a model of the confidential columns.

    Args:
        function: Takes columns of the schema by argument name, and `n`, the number of records, if
            it asks for it; returns the `pm.Model`, whose observed variables bear the names of the
            confidential columns.
        schema: Declares the columns that it may take, and the domain of public trial tables.
        spec: What a release says about the model; by default its name and a digest of its source.

    Raises:
        BadInput: If PyMC is not installed, the model is finished already, or it depends on what it
            must not depend on; the sentence says what to change.
    """
    pymc = installed("pymc")
    from understudy.adapters.pymc_graph import as_model
    from understudy.adapters.pymc_source import graph_of_function

    if isinstance(function, pymc.Model):
        columns = [column.name for column in (*schema.confidential, *schema.public)]
        names = ", ".join([*columns[:_SHOWN], *(["..."] if len(columns) > _SHOWN else [])])
        raise BadInput(
            f"a finished pm.Model is not taken, because its numbers cannot be told from numbers "
            f"that were computed from the table: give a function that builds it from columns, with "
            f"its numbers written down, in three lines: 'def build({names}):' / 'with pm.Model() "
            f"as model: ...' / 'return model'."
        )
    if not callable(function):
        raise BadInput("from_pymc takes a function of columns that returns a pm.Model.")
    title = title_of(function)
    build = partial(graph_of_function, function, schema, arguments(function, schema))
    spec = spec or {"pymc": title, "digest": digest(function)}
    return as_model(title, build, schema=schema, spec=spec)


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
