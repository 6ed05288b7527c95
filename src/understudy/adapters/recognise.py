"""Which language a user's model is written in, found by looking at it or by running it once."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from understudy.adapters.bambi import FRAME, from_bambi
from understudy.adapters.checks import SIZES, example_table
from understudy.adapters.functions import arguments, frozen, signature
from understudy.adapters.numpyro import from_numpyro
from understudy.adapters.pymc import from_pymc
from understudy.domain.schema import Schema
from understudy.errors import BadInput
from understudy.models.base import Model


def from_any(thing: Any, *, schema: Schema, spec: dict[str, Any] | None = None) -> Model:
    """Turn a function or a model, in any language that is understood, into a model."""
    if _is_model_of("bambi", thing):
        return from_bambi(thing, schema=schema, spec=spec)
    if _is_model_of("pymc", thing):
        return from_pymc(thing, schema=schema, spec=spec)
    if not callable(thing):
        raise BadInput(
            f"an object of the type '{type(thing).__name__}' is no model: give a NumPyro function, "
            f"a bambi.Model, or a function that returns a pm.Model or a bambi.Model."
        )
    if [each.name for each in signature(thing)] == [FRAME] and FRAME not in schema.names:
        return from_bambi(thing, schema=schema, spec=spec)
    returned = _returned(thing, schema)
    if _is_model_of("bambi", returned):
        raise BadInput(
            f"a function that returns a bambi.Model takes one argument, '{FRAME}', the table as a "
            f"data frame."
        )
    if _is_model_of("pymc", returned) or (isinstance(returned, _Raised) and _mentions_pymc(thing)):
        return from_pymc(thing, schema=schema, spec=spec)
    return from_numpyro(thing, schema=schema, spec=spec)


class _Raised:
    """What a function returns that does not return."""


def _returned(function: Callable[..., Any], schema: Schema) -> Any:
    """Return what a function returns for a public table.

    Whatever it raises it will raise again where the sentence about it is written.
    """
    from numpyro import handlers

    names = arguments(function, schema)
    columns = frozen(example_table(schema, SIZES[0]))
    inputs: dict[str, Any] = {name: SIZES[0] if name == "n" else columns[name] for name in names}
    try:
        with handlers.block(), handlers.seed(rng_seed=0):
            return function(**inputs)
    except (Exception, SystemExit):  # noqa: BLE001 - a user's function may raise anything
        return _Raised()


def _mentions_pymc(function: Callable[..., Any]) -> bool:
    """Whether a function uses the names of PyMC or PyTensor, as one that calls them would."""
    outside = getattr(function, "__globals__", {})
    names = getattr(getattr(function, "__code__", None), "co_names", ())
    used = (getattr(outside.get(name), "__name__", "") for name in names)
    return any(str(name).split(".")[0] in ("pymc", "pytensor") for name in used)


def _is_model_of(package: str, thing: Any) -> bool:
    """Whether a thing is a package's `Model`, without importing the package to find out."""
    loaded = sys.modules.get(package)
    return loaded is not None and isinstance(thing, loaded.Model)
