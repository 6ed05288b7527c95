"""Which model is meant: a built-in name, a formula, or a function in a Python file."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.errors import BadInput, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from understudy.models.base import Model
    from understudy.schema import Schema

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
    """Return the model that `--model`, `--family` and `--prior` name."""
    path, colon, function = text.rpartition(":")
    if colon and path.endswith(".py"):
        _check_no_family(text, family, priors)
        return _from_file(Path(path).expanduser(), function, schema)
    if "~" in text:
        from understudy.models.formula import FAMILIES, formula
        from understudy.models.priors import read_prior_options

        if family is None:
            known = ", ".join(FAMILIES)
            raise BadInput(f"a formula needs a family: add --family with one of {known}.")
        return formula(text, family=family, schema=schema, priors=read_prior_options(priors))
    _check_no_family(text, family, priors)
    return _built_in(text, schema)


def _built_in(text: str, schema: Schema) -> Model:
    name, colon, order = text.partition(":")
    if name == "joint":
        from understudy.models.joint import joint

        names = [each.strip() for each in order.split(",")] if colon else None
        return joint(schema, order=names)
    if text == "beta":
        from understudy.models.beta import beta

        return beta(schema)
    if text == "mixture":
        from understudy.models.mixture import mixture

        return mixture(schema)
    raise BadInput(
        f"'{text}' is not a model{nearest(text, BUILT_IN)}: give a built-in name "
        f"({', '.join(BUILT_IN)}), a formula such as 'salary ~ gender + age', or a function as "
        f"path/to/file.py:function."
    )


def _check_no_family(text: str, family: str | None, priors: Sequence[str]) -> None:
    for option, given in (("--family", family is not None), ("--prior", bool(priors))):
        if given:
            raise BadInput(f"{option} belongs to a formula, but the model is '{text}'.")


def rebuild_model(spec: dict[str, Any], *, schema: Schema, text: str | None = None) -> Model:
    """Return the model of a release from its spec; one from a file needs that file again.

    A spec is read from a published file, so it may be anything: no file that it names is opened.
    """
    match spec:
        case {"name": "joint", "order": [*order]}:
            from understudy.models.joint import joint

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
                    f"of it: name the file with --model."
                )
            model = load_model(text, schema=schema)
            if model.spec != spec:
                raise BadInput(f"the model '{text}' is not the one this release was made with.")
            return model
    raise BadInput("this release was made with a model that was built in Python; simulate there.")


def _from_file(path: Path, function: str, schema: Schema) -> Model:
    from understudy.adapters.recognise import from_any

    try:
        source = path.read_bytes()
    except FileNotFoundError:
        raise BadInput(f"the model file '{path}' does not exist.") from None
    except OSError as error:
        raise BadInput(f"the model file '{path}' cannot be read: {error.strerror}.") from None
    module = _run(path)
    if not hasattr(module, function):
        raise BadInput(f"the model file '{path}' has no function or model called '{function}'.")
    digest = hashlib.sha256(source).hexdigest()
    spec = {"file": path.name, "function": function, "digest": digest}
    return from_any(getattr(module, function), schema=schema, spec=spec)


def _run(path: Path) -> ModuleType:
    """Execute a model file as a module of its own, registered so that its names can be found."""
    name = f"understudy_model_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise BadInput(f"the model file '{path}' is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a user's file may raise anything
        del sys.modules[name]
        if isinstance(error, ModuleNotFoundError) and error.name in ("pymc", "pytensor", "bambi"):
            raise BadInput(
                f"the model file '{path}' needs {error.name}, which is not installed: "
                f"pip install 'understudy[pymc]'."
            ) from None
        raise BadInput(f"the model file '{path}' raised {type(error).__name__}: {error}") from None
    return module
