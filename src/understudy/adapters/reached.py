"""What a function takes from outside itself, read from its code: it is not run.

A function finds values in its module, in the functions around it, in the defaults of its arguments,
and in what it imports. What belongs to Python and to installed libraries holds nobody's table.
"""

from __future__ import annotations

import builtins
import dis
import functools
import inspect
import site
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

_PLACES = [
    str(Path(__file__).parents[1]),
    *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    *site.getsitepackages(),
    site.getusersitepackages(),
]
_LOOKUPS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})


def taken_from_outside(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield what a function takes from outside, or what one of a library was made around.

    Of a module of the user's, this is what the function could be asking it for.
    """
    yield from vars(function).items()
    if is_library_file(function.__code__.co_filename):
        yield from () if is_kept_by_library(function) else _enclosed(function).items()
        return
    names = {name for code in _codes(function.__code__) for name in code.co_names}
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
    steps = (each for code in _codes(function.__code__) for each in dis.get_instructions(code))
    names = {each.argval for each in steps if each.opname in _LOOKUPS}
    outside = {name: known[name] for name in sorted(names & known.keys())} | _enclosed(function)
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


def is_library(name: str | None) -> bool:
    """Whether a module comes with Python, with this library, or from where libraries are put.

    The main module is the user's, even where a tool such as a profiler runs it and stands there.
    """
    top = str(name).partition(".")[0]
    if top in sys.builtin_module_names:
        return True
    module = None if top == "__main__" else sys.modules.get(top)
    file = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), None)
    return file is not None and is_library_file(file)


@functools.cache
def is_library_file(file: str) -> bool:
    """Whether a file is one of Python's, of this library's, or where libraries are put."""
    return file.startswith("<frozen ") or any(Path(file).is_relative_to(each) for each in _PLACES)


def is_kept_by_library(value: Any) -> bool:
    """Whether an object is one that a library keeps for everybody."""
    name = str(getattr(value, "__name__", None))
    homes = {type(value).__module__, str(getattr(value, "__module__", None))}
    for home, module in list(sys.modules.items()):
        if isinstance(module, ModuleType):
            held = vars(module)
            kept = held.values() if home in homes else [held.get(name)]
            if any(each is value for each in kept) and is_library(home):
                return True
    return False
