"""What every adapter asks of a user's function before it is run, and of the running itself."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from understudy._jax import jnp
from understudy.adapters.outside import BY_NAME, first_computed
from understudy.domain.schema import Role, Schema
from understudy.domain.tables import Columns
from understudy.errors import BadInput

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
    roles = {column.name: column.treated_as for column in schema.columns}
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
    check_closure(function)
    return tuple(names)


def check_closure(function: Callable[..., Any], also: Mapping[str, Any] | None = None) -> None:
    """Refuse a function that takes anything from outside itself which was computed.

    What a function takes from outside is the same for every table, so no trial on other tables can
    show that it came from this one. It may take what a person writes down: plain Python numbers,
    texts and truth values, collections of up to a hundred of them, and modules, functions, classes
    and objects made of these. Whatever a library computes is refused, one number (`y.mean()` is
    one) or many. So is a longer collection, which may be a table's column: a hundred is more than
    the knots or levels of a model, and fewer than the records of most tables. So is an object that
    keeps what it holds out of sight, such as an iterator, and so are the usual ways of finding a
    value by its name at run time, such as `globals()`.

    `also` is what the function reaches in another way than by its code. This finds mistakes, and
    does not stop anybody who wants to cheat: a plain number that somebody computed, such as
    `float(y.mean())`, cannot be told from one that was written down, and what a function reads from
    a file while it runs is not seen. The guarantee assumes that the model was chosen without
    looking at the table.
    """
    computed = first_computed(function, also)
    if computed is not None:
        name, what = computed
        does = "reaches for values by name at run time" if what is BY_NAME else None
        raise BadInput(
            f"the model '{title_of(function)}' {does or f'has {what} baked in'}, '{name}', from "
            f"outside: use its arguments instead, write public constants as plain numbers or short "
            f"lists, and make whatever else it needs inside the function."
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
        if jnp.zeros(()).dtype != np.float64:
            raise BadInput(
                "the setting jax_enable_x64 was switched off, so that everything would be computed "
                "in single precision, whose error grows with the table: leave the setting alone."
            )
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


def check_returned(title: str, built: Any, kind: type, must: str) -> None:
    """Refuse what a function returned unless it is a model of that kind."""
    if not isinstance(built, kind):
        returned = "nothing" if built is None else f"a {type(built).__name__}"
        raise BadInput(f"the model '{title}' returned {returned}, but {must} that it built.")
