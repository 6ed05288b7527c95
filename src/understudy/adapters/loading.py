"""Which model is meant: a built-in name, a formula, or a function in a Python file.

In which language a user's model is written is found by looking at it, or by running it once.
"""

from __future__ import annotations

import hashlib
import importlib.util
import linecache
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from numpyro import handlers

from understudy.adapters.bambi import FRAME, from_bambi
from understudy.adapters.checks import SIZES, example_table
from understudy.adapters.functions import arguments, frozen, signature
from understudy.adapters.numpyro import from_numpyro
from understudy.adapters.pymc import from_pymc
from understudy.domain.schema import Schema
from understudy.errors import BadInput, nearest
from understudy.models.base import Model
from understudy.models.beta import beta
from understudy.models.formula import FAMILIES, formula
from understudy.models.priors import read_prior_options
from understudy.models.table.joint import joint
from understudy.models.table.mixture import mixture

_BUILT_IN = {"beta": beta, "joint": joint, "mixture": mixture}
_REST = {"priors"}
"""What else the spec of a formula may hold."""
_RAISED = object()
"""What a function returns that does not return."""


def load_model(
    text: str,
    *,
    schema: Schema,
    family: str | None = None,
    priors: Sequence[str] = (),
) -> Model:
    """Return the model that a text names: built in, by formula, or `path/to/file.py:function`.

    Args:
        text: What names the model.
        schema: Declares the columns.
        family: The family of a formula, and of nothing else.
        priors: Priors of a formula's parameters, such as `Intercept=normal(0, 1)`.
    """
    if "~" in text and names_file(text) is None:
        if family is None:
            known = ", ".join(FAMILIES)
            raise BadInput(f"a formula needs a family: add `family` with one of {known}.")
        return formula(text, family=family, schema=schema, priors=read_prior_options(priors))
    for option, given in (("`family`", family is not None), ("`priors`", bool(priors))):
        if given:
            raise BadInput(f"{option} belongs to a formula, but the model is '{text}'.")
    file = model_file(text)
    return _built_in(text, schema) if file is None else file.load(schema)


def _built_in(text: str, schema: Schema) -> Model:
    name, colon, order = text.partition(":")
    if name == "joint" and colon:
        return joint(schema, order=[each.strip() for each in order.split(",")])
    if text in _BUILT_IN:
        return _BUILT_IN[text](schema)
    raise BadInput(
        f"'{text}' is not a model{nearest(text, _BUILT_IN)}: give a built-in name "
        f"({', '.join(_BUILT_IN)}), a formula such as 'salary ~ gender + age', or a function as "
        f"path/to/file.py:function."
    )


def rebuild_model(spec: dict[str, Any], *, schema: Schema, text: str | None = None) -> Model:
    """Return the model of a release from its spec; one from a file needs that file again.

    A spec is read from a published file, so it may be anything: no file that it names is opened.
    """
    match spec:
        case {"name": "joint", **structure}:
            return _joint(structure, schema)
        case {"name": str(name)}:
            return _built_in(name, schema)
        case {"formula": str(written), "family": str(family), **rest} if not rest.keys() - _REST:
            return formula(written, family=family, schema=schema, **rest)
        case {"file": file, "function": function}:
            if text is None:
                raise BadInput(
                    f"this release was made with the model '{file}:{function}', which is not part "
                    f"of it: name the file with `model`."
                )
            model = load_model(text, schema=schema)
            if model.spec != spec:
                raise BadInput(f"the model '{text}' is not the one this release was made with.")
            return model
    raise BadInput("this release was made with a model that was built in Python; simulate there.")


def _joint(structure: dict[str, Any], schema: Schema) -> Model:
    match structure:
        case {"order": [*order], "groups": dict(groups), "parents": dict(parents), **rest}:
            if not rest:
                return joint(schema, order=list(map(str, order)), groups=groups, parents=parents)
        case {"order": [*order], **rest}:
            if not rest:
                return joint(schema, order=list(map(str, order)))
        case _:
            if not structure:
                return joint(schema)
    raise BadInput("what this release says of its joint model's columns cannot be read.")


@dataclass(frozen=True)
class ModelFile:
    """A Python file that was read once, so that what runs is what the digest is of."""

    path: Path
    function: str
    source: bytes = field(repr=False)

    @property
    def digest(self) -> str:
        """A fingerprint of the file."""
        return hashlib.sha256(self.source).hexdigest()

    def load(self, schema: Schema) -> Model:
        """Execute the file and return its model."""
        module = _run(self.path, self.source)
        if not hasattr(module, self.function):
            raise BadInput(
                f"the model file '{self.path}' has no function or model called '{self.function}'."
            )
        spec = {"file": self.path.name, "function": self.function, "digest": self.digest}
        return from_any(getattr(module, self.function), schema=schema, spec=spec)


def names_file(text: str) -> tuple[Path, str] | None:
    """Return the file and the function that a text names, if it names any; nothing is opened."""
    path, colon, function = text.rpartition(":")
    return (Path(path), function) if colon and path.endswith(".py") else None


def model_file(text: str) -> ModelFile | None:
    """Read the file that a text names, if it names one; nothing is executed."""
    named = names_file(text)
    if named is None:
        return None
    path, function = named[0].expanduser(), named[1]
    try:
        return ModelFile(path, function, path.read_bytes())
    except FileNotFoundError:
        raise BadInput(f"the model file '{path}' does not exist.") from None
    except OSError as error:
        raise BadInput(f"the model file '{path}' cannot be read: {error.strerror}.") from None


def _run(path: Path, source: bytes) -> ModuleType:
    """Execute a file's source as a module of its own, registered so that its names can be found.

    The file is not opened again, not even for its lines in a traceback, and neither is a compiled
    one: either could be another by now.
    """
    name, place = f"understudy_model_{path.stem}", str(path.absolute())
    spec = importlib.util.spec_from_file_location(name, place)
    if spec is None:
        raise BadInput(f"the model file '{path}' is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        text = importlib.util.decode_source(source)
        # No time of change: so the lines are never compared with the file.
        linecache.cache[place] = (len(source), None, text.splitlines(keepends=True), place)
        exec(compile(source, place, "exec", dont_inherit=True), module.__dict__)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a user's file may raise anything
        del sys.modules[name]
        if isinstance(error, ModuleNotFoundError) and error.name in ("pymc", "pytensor", "bambi"):
            raise BadInput(
                f"the model file '{path}' needs {error.name}, which is not installed: "
                f"pip install 'understudy[pymc]'."
            ) from None
        raise BadInput(f"the model file '{path}' raised {type(error).__name__}: {error}") from None
    return module


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
    if _is_model_of("pymc", returned) or (returned is _RAISED and _mentions_pymc(thing)):
        return from_pymc(thing, schema=schema, spec=spec)
    return from_numpyro(thing, schema=schema, spec=spec)


def _returned(function: Callable[..., Any], schema: Schema) -> Any:
    """Return what a function returns for a public table.

    Whatever it raises it will raise again where the sentence about it is written.
    """
    names = arguments(function, schema)
    columns = frozen(example_table(schema, SIZES[0]))
    inputs: dict[str, Any] = {name: SIZES[0] if name == "n" else columns[name] for name in names}
    try:
        with handlers.block(), handlers.seed(rng_seed=0):
            return function(**inputs)
    except (Exception, SystemExit):  # noqa: BLE001 - a user's function may raise anything
        return _RAISED


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
