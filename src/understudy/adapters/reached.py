"""What a function takes from outside itself, read from its code: it is not run.

A function finds values in its module, in the functions around it, in the defaults of its arguments,
and in what it imports.
"""

from __future__ import annotations

import builtins
import dis
import inspect
import sys
from collections.abc import Iterator
from contextlib import suppress
from types import CodeType, FunctionType, ModuleType
from typing import Any

from understudy.adapters.libraries import is_kept_by_library, is_library, is_library_file

_LOOKUPS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})


def taken_from_outside(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield what a function takes from outside, or what one of a library was made around.

    Of a module of the user's, this is what the function could be asking it for.
    """
    yield from vars(function).items()
    if is_library_file(function.__code__.co_filename):
        yield from () if is_kept_by_library(function) else _enclosed(function).items()
        return
    names = _names(function.__code__)
    for name, value in [*_imported(function).items(), *_taken(function).items()]:
        yield from _asked(name, value, names)


def _asked(name: str, value: Any, names: set[str]) -> Iterator[tuple[str, Any]]:
    """Yield a value, and of a module of the user's what goes by one of the names."""
    yield name, value
    if isinstance(value, ModuleType) and (value is sys or not is_library(value.__name__)):
        held = {"modules"} if value is sys else vars(value).keys()
        for each in sorted(names & held):
            yield from _asked(f"{name}.{each}", vars(value)[each], names - {each})


def _imported(function: FunctionType) -> dict[str, Any]:
    """Return the modules that a function imports, which it would import when it is run."""
    modules = {}
    for code in _codes(function.__code__):
        steps = list(dis.get_instructions(code))
        for level, given, step in zip(steps, steps[1:], steps[2:], strict=False):
            if step.opname == "IMPORT_NAME":
                asked = function.__globals__, None, given.argval, level.argval
                with suppress(Exception, SystemExit):  # The model says so when it is run.
                    modules["." * level.argval + step.argval] = __import__(step.argval, *asked)
    return modules


def _taken(function: FunctionType) -> dict[str, Any]:
    """Return what a function finds by name outside itself, and the defaults of its arguments."""
    known = vars(builtins) | function.__globals__
    names = sorted(_globals(function.__code__) & known.keys())
    outside = {name: known[name] for name in names} | _enclosed(function)
    for parameter in inspect.signature(function, follow_wrapped=False).parameters.values():
        if parameter.default is not parameter.empty:
            outside[parameter.name] = parameter.default
    return outside


def _enclosed(function: FunctionType) -> dict[str, Any]:
    """Return what a function finds in the functions around it."""
    enclosed = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # Nothing was assigned to that name yet.
            enclosed[name] = cell.cell_contents
    return enclosed


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a piece of code, and the functions and classes that are written inside it."""
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes(each)


def _names(code: CodeType) -> set[str]:
    """Return all names in a piece of code, attributes too."""
    return {name for each in _codes(code) for name in each.co_names}


def _globals(code: CodeType) -> set[str]:
    """Return the names that a piece of code looks up in its module."""
    instructions = (each for part in _codes(code) for each in dis.get_instructions(part))
    return {each.argval for each in instructions if each.opname in _LOOKUPS}
