"""What a function takes from outside itself, and whether somebody computed it.

A function finds values in its module, in the functions around it, in defaults, in what a partial or
a method binds, and in attributes; directly, or by way of helpers, containers and objects. All of
this is followed as far as it was written by the user: an installed library holds no table.
"""

from __future__ import annotations

import dis
import functools
import inspect
import site
import sys
import sysconfig
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from pathlib import Path
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MethodType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any, NamedTuple

_MOST_ENTRIES = 100
"""Knots, levels and cut points that a person writes down are fewer; most tables are longer."""
_LONGEST_TEXT = 1000
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
_ENDLESS = "something too large to be looked through"
_ABOUT = frozenset({"__doc__", "__annotations__"})
"""Attributes that tell a reader something, and a program nothing."""
_LOOKUPS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})
_BINDINGS = {
    functools.partial: ("func", "args", "keywords"),
    functools.cached_property: ("func",),
    property: ("fget", "fset", "fdel"),
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
    MethodType: ("__func__", "__self__"),
    BuiltinFunctionType: ("__self__",),
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
    names = sorted(_globals(function.__code__) & function.__globals__.keys())
    found = {name: function.__globals__[name] for name in names} | _enclosed(function)
    for parameter in inspect.signature(function, follow_wrapped=False).parameters.values():
        if parameter.default is not parameter.empty:
            found[parameter.name] = parameter.default
    return found


def _judged(value: Any) -> str | None:
    """Return what a value is, in words, if it was computed or is as long as a table."""
    if isinstance(value, type | ModuleType):
        return None
    bases = type(value).__mro__
    if any(_package(base) in _TABLES for base in bases):
        return "a table"
    if any(hasattr(type(value), name) for name in _ARRAYS):
        return "a table" if getattr(value, "ndim", 1) else "a computed number"
    if any(_package(base) == "pytensor" and base.__name__ == "Variable" for base in bases):
        return "a variable"
    if isinstance(value, _Text):
        return "a table" if len(value) > _LONGEST_TEXT else None
    return _long(len(value)) if _is_collection(value) else None


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
    if isinstance(value, ModuleType | _Text | range):
        return
    if isinstance(value, FunctionType):
        yield from (_Item(each, id(held), held) for each, held in _reached(value))
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
    if _is_library(function.__globals__.get("__name__")):
        yield from _enclosed(function).items()
        return
    for name, value in taken(function).items():
        yield name, value
        if isinstance(value, ModuleType) and not _is_library(value.__name__):
            asked = sorted(_names(function.__code__) & vars(value).keys())
            yield from ((f"{name}.{each}", vars(value)[each]) for each in asked)


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what an object or a class holds, as far as it is not a library's own."""
    kinds = value.__mro__ if isinstance(value, type) else type(value).__mro__
    for kind in kinds:
        if not _is_library(kind.__module__):
            yield from vars(kind).items()
    held = {} if isinstance(value, type) else getattr(value, "__dict__", {})
    if isinstance(value, type) or _is_its_own(value):
        yield from ((each, held[each]) for each in ("__wrapped__",) if each in held)
        return
    yield from held.items()
    for kind in kinds:
        slots = vars(kind).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            with suppress(AttributeError):  # Nothing was assigned to it yet.
                yield name, getattr(value, name)


def _is_its_own(value: Any) -> bool:
    """Whether an object belongs to Python, or is one that a library keeps for everybody."""
    if _package(type(value)) in sys.stdlib_module_names and not isinstance(value, SimpleNamespace):
        return True
    homes = {type(value).__module__, getattr(value, "__module__", None)}
    modules = [sys.modules.get(name) for name in homes if isinstance(name, str)]
    return any(
        each is value
        for module in modules
        if module is not None and _is_library(module.__name__)
        for each in vars(module).values()
    )


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


@functools.cache
def _is_library(name: str | None) -> bool:
    """Whether a module comes with Python, with this library, or from where libraries are put."""
    top = str(name).partition(".")[0]
    if top == "understudy" or top in sys.builtin_module_names:
        return True
    module = sys.modules.get(top)
    file = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), None)
    return file is not None and any(Path(file).is_relative_to(place) for place in _PLACES)


_PLACES = [
    *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    *site.getsitepackages(),
    site.getusersitepackages(),
]
