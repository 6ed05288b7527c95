"""Which model is meant: a built-in name, a formula, or a function in a Python file."""

from __future__ import annotations

import hashlib
import importlib.util
import linecache
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from understudy.domain.schema import Schema
from understudy.errors import BadInput, nearest
from understudy.models.base import Model

BUILT_IN = ("beta", "joint", "mixture")
_REST = {"priors"}
"""What else the spec of a formula may hold."""


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
    if names_file(text) is not None:
        _check_no_family(text, family, priors)
    file = model_file(text)
    if file is not None:
        return file.load(schema)
    if "~" in text:
        from understudy.models.formula import FAMILIES, formula
        from understudy.models.priors import read_prior_options

        if family is None:
            known = ", ".join(FAMILIES)
            raise BadInput(f"a formula needs a family: add `family` with one of {known}.")
        return formula(text, family=family, schema=schema, priors=read_prior_options(priors))
    _check_no_family(text, family, priors)
    return _built_in(text, schema)


def _built_in(text: str, schema: Schema) -> Model:
    name, colon, order = text.partition(":")
    if name == "joint":
        from understudy.models.table.joint import joint

        names = [each.strip() for each in order.split(",")] if colon else None
        return joint(schema, order=names)
    if text == "beta":
        from understudy.models.beta import beta

        return beta(schema)
    if text == "mixture":
        from understudy.models.table.mixture import mixture

        return mixture(schema)
    raise BadInput(
        f"'{text}' is not a model{nearest(text, BUILT_IN)}: give a built-in name "
        f"({', '.join(BUILT_IN)}), a formula such as 'salary ~ gender + age', or a function as "
        f"path/to/file.py:function."
    )


def _check_no_family(text: str, family: str | None, priors: Sequence[str]) -> None:
    for option, given in (("`family`", family is not None), ("`priors`", bool(priors))):
        if given:
            raise BadInput(f"{option} belongs to a formula, but the model is '{text}'.")


def rebuild_model(spec: dict[str, Any], *, schema: Schema, text: str | None = None) -> Model:
    """Return the model of a release from its spec; one from a file needs that file again.

    A spec is read from a published file, so it may be anything: no file that it names is opened.
    """
    match spec:
        case {"name": "joint", "order": [*order]}:
            from understudy.models.table.joint import joint

            return joint(schema, order=[str(name) for name in order])
        case {"name": str(name)}:
            return _built_in(name, schema)
        case {"formula": str(formula), "family": str(family), **rest} if not rest.keys() - _REST:
            from understudy.models.formula import formula as build

            return build(formula, family=family, schema=schema, **rest)
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
        from understudy.adapters.recognise import from_any

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
