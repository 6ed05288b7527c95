"""What every adapter asks of a user's function before it is run, and of the running itself."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy.errors import BadInput
from understudy.schema import Role

if TYPE_CHECKING:
    from understudy.schema import Schema
    from understudy.tables import Columns


AS_GIVEN = "use its arguments as they are, and no other array with an entry for each record"
"""What to look for when a function fails on a public table."""


_ADVICE = {
    "unique names": "rename one of them",
    "already exists": "rename one of them",
    "No JAX conversion": "leave that operation out, or write it with those of PyTensor",
    "No JAX implementation": "leave that operation out, or write it with others",
}
"""What to do about complaints of NumPyro and PyMC that come up in other people's words."""


def title_of(function: Callable[..., Any]) -> str:
    """Return what sentences and reports call a function."""
    return getattr(function, "__name__", "model")


def signature(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return what a function takes; some that are not written in Python do not say."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise BadInput(
            f"'{title_of(function)}' does not say what arguments it takes: give a function that is "
            f"written in Python."
        ) from None


def arguments(function: Callable[..., Any], schema: Schema) -> tuple[str, ...]:
    """Return the names of the columns, and `n`, that a function asks for; refuse any other."""
    roles = {column.name: column.role for column in schema.columns}
    names = []
    for parameter in signature(function):
        name = parameter.name
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise BadInput(
                f"the model takes '*{name}', but its arguments must be names of columns and 'n'."
            )
        if name != "n" and roles.get(name) not in (Role.CONFIDENTIAL, Role.PUBLIC):
            raise BadInput(
                f"the model asks for '{name}', which is neither a confidential or public column "
                f"of the schema nor 'n', the number of records."
            )
        names.append(name)
    for column in schema.confidential:
        if column.name not in names:
            raise BadInput(
                f"the model does not take the confidential column '{column.name}': add it as an "
                f"argument, or give it the role 'ignore'."
            )
    check_closure(function, schema)
    return tuple(names)


def check_closure(function: Callable[..., Any], schema: Schema) -> None:
    """Refuse a function that reaches for a table which is not among its arguments.

    What a function takes from outside is the same for every table, so no trial on other tables can
    show that it came from this one: a data frame is taken for a table, and so is an array with as
    many entries as records were declared.
    """
    try:
        outside = inspect.getclosurevars(function)
    except TypeError:
        return
    for name, value in {**outside.globals, **outside.nonlocals}.items():
        framed = type(value).__module__.split(".")[0] in ("pandas", "polars", "pyarrow")
        sized = isinstance(value, np.ndarray) and schema.size in value.shape[:1]
        if (framed and hasattr(value, "shape")) or sized:
            raise BadInput(
                f"the model '{title_of(function)}' has a table baked in, '{name}', from outside: "
                f"use its arguments instead, and write public constants as plain numbers or lists."
            )


def digest(function: Callable[..., Any]) -> str | None:
    """Return a fingerprint of a function's source, or None where it has none."""
    try:
        source = inspect.getsource(function)
    except (OSError, TypeError):
        return None
    return hashlib.sha256(source.encode()).hexdigest()


def frozen(table: Columns) -> Columns:
    """Return views of the columns that cannot be written to, so that no function changes them."""
    views = {name: np.asarray(values).view() for name, values in table.items()}
    for values in views.values():
        values.flags.writeable = False
    return views


@contextmanager
def user_code(title: str, doing: str, advice: str = "") -> Iterator[None]:
    """Report whatever the user's code raises as one sentence that says what it was `doing`.

    The code only ever sees public tables or abstract values, so its messages can hold nothing
    confidential; and it may raise anything, which is why the net is wide.
    """
    try:
        yield
    except BadInput:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001
        lines = str(error).strip().splitlines()
        reason = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
        advice = next((_ADVICE[words] for words in _ADVICE if words in reason), advice)
        end = f": {advice}" if advice else ""
        raise BadInput(
            f"the model '{title}' raised {reason.rstrip('.')} when {doing}{end}."
        ) from None
