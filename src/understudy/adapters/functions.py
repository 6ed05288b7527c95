"""What every adapter asks of a user's function before it is run, and of the running itself."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy._jax import jax, jnp
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
    show that it came from this one: a data frame is taken for a table, and so is an array, list or
    tuple with as many entries along any axis as records were declared; alone, or in a dict, list
    or tuple; and whether the function uses it or another one of the same module that it calls.
    """
    for name, value in _outside(function, set()):
        if any(_is_table(each, schema.size) for each in (value, *_contents(value))):
            raise BadInput(
                f"the model '{title_of(function)}' has a table baked in, '{name}', from outside: "
                f"use its arguments instead, and write public constants as plain numbers or short "
                f"lists."
            )


def _outside(function: Any, seen: set[Any]) -> Iterator[tuple[str, Any]]:
    """Yield what a function takes from outside, and what its helpers in the same module take."""
    function = inspect.unwrap(getattr(function, "__func__", function))
    if not isinstance(function, FunctionType) or function in seen:
        return
    seen.add(function)
    for name, value in _taken(function).items():
        yield name, value
        if getattr(value, "__module__", None) == function.__module__:
            yield from _outside(value, seen)


def _taken(function: FunctionType) -> dict[str, Any]:
    """Return what a function finds by name outside itself, and the defaults of its arguments."""
    found = {
        name: function.__globals__[name]
        for name in _names(function.__code__)
        if name in function.__globals__
    }
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # Nothing was assigned to that name yet.
            found[name] = cell.cell_contents
    for parameter in inspect.signature(function).parameters.values():
        if parameter.default is not parameter.empty:
            found[parameter.name] = parameter.default
    return found


def _names(code: CodeType) -> set[str]:
    """Return the names in a piece of code, and in the functions that are written inside it."""
    inside = [each for each in code.co_consts if isinstance(each, CodeType)]
    return set(code.co_names).union(*map(_names, inside))


def _contents(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple) else []


def _is_table(value: Any, size: int | None) -> bool:
    if type(value).__module__.split(".")[0] in ("pandas", "polars", "pyarrow"):
        return hasattr(value, "shape")
    if isinstance(value, list | tuple):
        return len(value) == size
    return isinstance(value, np.ndarray | jax.Array) and size in value.shape


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


def _check_precision() -> None:
    """Refuse to go on in single precision, which a user's code may have switched on."""
    if jnp.zeros(()).dtype != np.float64:
        raise BadInput(
            "the setting jax_enable_x64 was switched off, so that everything would be computed in "
            "single precision, whose error grows with the table: leave the setting alone."
        )


@contextmanager
def user_code(title: str, doing: str, advice: str = "") -> Iterator[None]:
    """Report whatever the user's code raises as one sentence that says what it was `doing`.

    The code only ever sees public tables or abstract values, so its messages can hold nothing
    confidential; and it may raise anything, which is why the net is wide.
    """
    try:
        yield
        _check_precision()
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
