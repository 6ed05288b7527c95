"""What a function takes from outside itself, and whether somebody computed it.

A function finds values in its module, in the functions around it, in defaults, in what a partial or
a method binds, and in attributes; directly, or by way of helpers, containers and objects. All of
this is followed as far as it was written by the user: an installed library holds no table.
"""

from __future__ import annotations

import builtins
import dis
import functools
import importlib
import inspect
import logging
import re
import site
import sys
import sysconfig
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from datetime import date, timedelta
from pathlib import Path, PurePath
from struct import calcsize
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    CodeType,
    FunctionType,
    GenericAlias,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    UnionType,
    WrapperDescriptorType,
)
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

_MOST_ENTRIES = 100
"""Knots, levels and cut points that a person writes down are fewer; most tables are longer."""
_LONGEST_TEXT = 1000
_LARGEST = 2**53
"""A whole number beyond this may be a table in disguise."""
_MOST_OBJECTS = 10_000
"""What is larger than this is not looked through, and therefore refused."""
_ARRAYS = (
    "__array__",
    "__array_interface__",
    "__dlpack__",
    "__dataframe__",
    "__arrow_c_array__",
    "__arrow_c_stream__",
)
"""What a type offers whose objects hold computed numbers: those of NumPy, JAX, PyTorch and more."""
_TABLES = frozenset({"pandas", "polars", "pyarrow"})
_Text = str | bytes | bytearray | memoryview
_CLOSED = "an object that cannot be looked into"
_ENDLESS = "something too large to be looked through"
BY_NAME = "a search for values by name at run time"
_SEARCHES = (globals, vars, eval, exec, __import__, importlib, importlib.import_module)
_ABOUT = frozenset(
    {"__doc__", "__annotations__", "__dict__", "__weakref__", "_abc_impl", "_jit_info"}
)
"""Attributes that tell a reader something, and a program nothing or nothing more."""
_LOOKUPS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})
_BINDINGS = {
    functools.partial: ("func", "args", "keywords", "__dict__"),
    functools.cached_property: ("func",),
    property: ("fget", "fset", "fdel"),
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
    MethodType: ("__func__", "__self__"),
    MethodWrapperType: ("__self__",),
    BuiltinFunctionType: ("__self__",),
    GenericAlias: ("__args__",),
    UnionType: ("__args__",),
    TypeVar: ("__bound__", "__constraints__"),
    re.Pattern: ("pattern",),
    range: ("start", "stop", "step"),
    PurePath: ("parts",),
    np.dtype: ("fields", "metadata"),
    WeakKeyDictionary: (),
    logging.Logger: (),
}
"""What stands between a name and what it is bound to."""


class Computed(NamedTuple):
    """Something from outside that a person has not written down."""

    name: str
    what: str


class _Item(NamedTuple):
    """A value on the way, and the name under which somebody would look for it."""

    name: str
    root: int
    """What tells one name from the same one elsewhere."""
    value: Any
    listed: bool = False
    """Whether it is an entry of a list, a dict or another collection."""


_LEAVES = (
    *(int, float, complex, str, bytes, bytearray, memoryview, date, timedelta, FunctionType),
    *(WrapperDescriptorType, MethodDescriptorType, ClassMethodDescriptorType),
    *(GetSetDescriptorType, MemberDescriptorType, type(_Item.name)),
)
"""What holds nothing, apart from attributes, that is not seen in it."""


def first_computed(thing: Any, also: Mapping[str, Any] | None = None) -> Computed | None:
    """Return the first value from outside that was computed, or None.

    `also` are values that a function reaches in some other way than by its code.
    """
    pending = [_Item("", 0, thing)]
    pending += [_Item(name, id(value), value) for name, value in (also or {}).items()]
    # Values are kept as long as this runs, so that no place in memory stands for two of them.
    seen: dict[int, Any] = {}
    entries: Counter[tuple[str, int]] = Counter()
    while pending:
        item = pending.pop()
        if item.listed and not _is_collection(item.value):
            entries[item.name, item.root] += 1
        what = _long(entries[item.name, item.root])
        if what is None and id(item.value) not in seen:
            seen[id(item.value)] = item.value
            what = _judged(item.value) if len(seen) <= _MOST_OBJECTS else _ENDLESS
            pending.extend(() if what else _inside(item))
        if what is not None:
            return Computed(item.name or getattr(thing, "__name__", type(thing).__name__), what)
    return None


def taken(function: FunctionType) -> dict[str, Any]:
    """Return what a function finds by name outside itself, and the defaults of its arguments."""
    known = vars(builtins) | function.__globals__
    names = sorted(_globals(function.__code__) & known.keys())
    found = {name: known[name] for name in names} | _enclosed(function)
    for parameter in inspect.signature(function, follow_wrapped=False).parameters.values():
        if parameter.default is not parameter.empty:
            found[parameter.name] = parameter.default
    return found


def _judged(value: Any) -> str | None:
    """Return what a value is, in words, unless it is what a person writes down or is made of it."""
    if value is sys.modules or any(value is each for each in _SEARCHES):
        return BY_NAME
    if isinstance(value, type | ModuleType):
        return None
    return _computed(value) or _large(value) or (None if _is_seen(value) else _CLOSED)


def _computed(value: Any) -> str | None:
    bases = type(value).__mro__
    if any(_package(base) in _TABLES for base in bases):
        return "a table"
    if any(hasattr(type(value), name) for name in _ARRAYS):
        return "a table" if getattr(value, "ndim", 1) else "a computed number"
    if any(_package(base) == "pytensor" and base.__name__ == "Variable" for base in bases):
        return "a variable"
    return None


def _large(value: Any) -> str | None:
    if isinstance(value, int):
        return "a number of too many digits" if abs(value) > _LARGEST else None
    if isinstance(value, _Text):
        return "a table" if len(value) > _LONGEST_TEXT else None
    return _long(len(value)) if _is_collection(value) else None


def _is_seen(value: Any) -> bool:
    """Whether nothing that a value holds is out of sight."""
    if isinstance(value, (*_LEAVES, *_BINDINGS)) or _is_collection(value):
        return True
    wrapper = "__wrapped__" in getattr(value, "__dict__", ())
    return wrapper or _is_open(type(value)) or _is_its_own(value)


def _is_open(kind: type) -> bool:
    """Whether objects of a class have room for nothing but the attributes that can be seen."""
    return all(
        base.__basicsize__ <= object.__basicsize__ + calcsize("P") * len([*_fields(base)])
        and not base.__itemsize__
        for base in kind.__mro__
    )


def _fields(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield the slots of a class, and those that hold other attributes and weak references."""
    for base in kind.__mro__:
        for name, field in vars(base).items():
            if isinstance(field, MemberDescriptorType) or name in ("__dict__", "__weakref__"):
                yield name, field


def _long(entries: int) -> str | None:
    return "a table" if entries > _MOST_ENTRIES else None


def _is_collection(value: Any) -> bool:
    """Whether a value is a list, a dict or the like; a range is three numbers."""
    if isinstance(value, type | range | _Text):
        return False
    return isinstance(value, Mapping | Set | Sequence)


def _inside(item: _Item) -> Iterator[_Item]:
    """Yield what a value holds or reaches, under the names that somebody would look for."""
    value, name, root = item.value, item.name, item.root
    if isinstance(value, ModuleType):
        return
    if isinstance(value, FunctionType):
        found = (_Item(each, id(held), held) for each, held in _reached(value))
        yield from (each for each in found if each.name not in _ABOUT)
        return
    if _is_collection(value):
        held = [*value, *value.values()] if isinstance(value, Mapping) else list(value)
        yield from (_Item(name, root, each, listed=True) for each in held)
    for kind, parts in _BINDINGS.items():
        if isinstance(value, kind):
            yield from (_Item(name, root, getattr(value, part)) for part in parts)
            return
    for each, attribute in _attributes(value):
        if each not in _ABOUT:
            yield _Item(name or each, root or id(attribute), attribute)


def _reached(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield what a function takes from outside, or what one of a library was made around.

    Of a module of the user's, this is what the function could be asking it for.
    """
    yield from vars(function).items()
    if _is_there(function.__code__.co_filename):
        yield from () if _is_its_own(function) else _enclosed(function).items()
        return
    names = _names(function.__code__)
    for name, value in [*_imported(function).items(), *taken(function).items()]:
        yield from _asked(name, value, names)


def _asked(name: str, value: Any, names: set[str]) -> Iterator[tuple[str, Any]]:
    """Yield a value, and of a module of the user's what goes by one of the names."""
    yield name, value
    if isinstance(value, ModuleType) and (value is sys or not _is_library(value.__name__)):
        held = {"modules"} if value is sys else vars(value).keys()
        for each in sorted(names & held):
            yield from _asked(f"{name}.{each}", vars(value)[each], names - {each})


def _imported(function: FunctionType) -> dict[str, Any]:
    """Return the modules that a function imports, which it would import when it is run."""
    found = {}
    for code in _codes(function.__code__):
        steps = list(dis.get_instructions(code))
        for level, given, step in zip(steps, steps[1:], steps[2:], strict=False):
            if step.opname == "IMPORT_NAME":
                asked = function.__globals__, None, given.argval, level.argval
                with suppress(Exception, SystemExit):  # The model says so when it is run.
                    found["." * level.argval + step.argval] = __import__(step.argval, *asked)
    return found


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what an object or a class holds, as far as it is not a library's own."""
    kinds = value.__mro__ if isinstance(value, type) else type(value).__mro__
    for kind in kinds:
        if not _is_library(kind.__module__):
            yield from vars(kind).items()
    if isinstance(value, type):
        return
    held = dict(getattr(value, "__dict__", {}))
    for name, field in _fields(type(value)):
        if isinstance(field, MemberDescriptorType):
            with suppress(AttributeError):  # Nothing was assigned to it yet.
                held.setdefault(name, field.__get__(value))
    own = held and _is_its_own(value)
    yield from ((each, held[each]) for each in held if each == "__wrapped__" or not own)


def _is_its_own(value: Any) -> bool:
    """Whether an object is one that a library keeps for everybody."""
    name = str(getattr(value, "__name__", None))
    homes = {type(value).__module__, str(getattr(value, "__module__", None))}
    for home, module in list(sys.modules.items()):
        if isinstance(module, ModuleType):
            held = vars(module)
            kept = held.values() if home in homes else [held.get(name)]
            if any(each is value for each in kept) and _is_library(home):
                return True
    return False


def _enclosed(function: FunctionType) -> dict[str, Any]:
    """Return what a function finds in the functions around it."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # Nothing was assigned to that name yet.
            found[name] = cell.cell_contents
    return found


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


def _package(kind: type) -> str:
    return str(kind.__module__).partition(".")[0]


def _is_library(name: str | None) -> bool:
    """Whether a module comes with Python, with this library, or from where libraries are put.

    The main module is the user's, even where a tool such as a profiler runs it and stands there.
    """
    top = str(name).partition(".")[0]
    if top in sys.builtin_module_names:
        return True
    module = None if top == "__main__" else sys.modules.get(top)
    file = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), None)
    return file is not None and _is_there(file)


@functools.cache
def _is_there(file: str) -> bool:
    """Whether a file is one of Python's, of this library's, or where libraries are put."""
    return file.startswith("<frozen ") or any(Path(file).is_relative_to(each) for each in _PLACES)


_PLACES = [
    str(Path(__file__).parents[1]),
    *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    *site.getsitepackages(),
    site.getusersitepackages(),
]
