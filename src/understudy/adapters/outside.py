"""Whether somebody computed what a function takes from outside itself.

Values are followed from name to name (`reached.py`), through what partials and methods bind, and
through attributes, containers and helpers, as far as the user wrote them: an installed library
holds no table.
"""

from __future__ import annotations

import functools
import importlib
import logging
import re
import sys
import types
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from datetime import date, timedelta
from pathlib import PurePath
from struct import calcsize
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from understudy.adapters.reached import is_kept_by_library, is_library, taken_from_outside

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
_BINDINGS = {
    functools.partial: ("func", "args", "keywords", "__dict__"),
    functools.cached_property: ("func",),
    property: ("fget", "fset", "fdel"),
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
    types.MethodType: ("__func__", "__self__"),
    types.MethodWrapperType: ("__self__",),
    types.BuiltinFunctionType: ("__self__",),
    types.GenericAlias: ("__args__",),
    types.UnionType: ("__args__",),
    TypeVar: ("__bound__", "__constraints__"),
    re.Pattern: ("pattern",),
    range: ("start", "stop", "step"),
    PurePath: ("parts",),
    np.dtype: ("fields", "metadata"),
    WeakKeyDictionary: (),
    logging.Logger: (),
}
"""What stands between a name and what it is bound to."""


class _Item(NamedTuple):
    """A value on the way, and the name under which somebody would look for it."""

    name: str
    root: int
    """What tells one name from the same one elsewhere."""
    value: Any
    listed: bool = False
    """Whether it is an entry of a list, a dict or another collection."""


_LEAVES = (
    *(int, float, complex, str, bytes, bytearray, memoryview, date, timedelta, types.FunctionType),
    *(types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType),
    *(types.GetSetDescriptorType, types.MemberDescriptorType, type(_Item.name)),
)
"""What holds nothing, apart from attributes, that is not seen in it."""


def first_computed(thing: Any, also: Mapping[str, Any] | None = None) -> tuple[str, str] | None:
    """Return the name of the first value from outside that was computed, and what it is, or None.

    `also` are values that a function reaches in some other way than by its code.
    """
    pending = [_Item("", 0, thing)]
    pending += [_Item(name, id(value), value) for name, value in (also or {}).items()]
    # Values are kept as long as this runs, so that no place in memory stands for two of them.
    judged: dict[int, Any] = {}
    entries: Counter[tuple[str, int]] = Counter()
    while pending:
        item = pending.pop()
        if item.listed and not _is_collection(item.value):
            entries[item.name, item.root] += 1
        what = "a table" if entries[item.name, item.root] > _MOST_ENTRIES else None
        if what is None and id(item.value) not in judged:
            judged[id(item.value)] = item.value
            what = _judged(item.value) if len(judged) <= _MOST_OBJECTS else _ENDLESS
            pending.extend(() if what else _inside(item))
        if what is not None:
            return item.name or getattr(thing, "__name__", type(thing).__name__), what
    return None


def _judged(value: Any) -> str | None:
    """Return what a value is, in words, unless it is what a person writes down or is made of it."""
    if value is sys.modules or any(value is each for each in _SEARCHES):
        return BY_NAME
    if isinstance(value, type | types.ModuleType):
        return None
    return _computed(value) or _large(value) or (None if _is_seen(value) else _CLOSED)


def _computed(value: Any) -> str | None:
    bases = [
        (str(base.__module__).partition(".")[0], base.__name__) for base in type(value).__mro__
    ]
    if any(package in _TABLES for package, _ in bases):
        return "a table"
    if any(hasattr(type(value), name) for name in _ARRAYS):
        return "a table" if getattr(value, "ndim", 1) else "a computed number"
    if ("pytensor", "Variable") in bases:
        return "a variable"
    return None


def _large(value: Any) -> str | None:
    if isinstance(value, int):
        return "a number of too many digits" if abs(value) > _LARGEST else None
    if isinstance(value, _Text):
        return "a table" if len(value) > _LONGEST_TEXT else None
    return "a table" if _is_collection(value) and len(value) > _MOST_ENTRIES else None


def _is_seen(value: Any) -> bool:
    """Whether nothing that a value holds is out of sight."""
    if isinstance(value, (*_LEAVES, *_BINDINGS)) or _is_collection(value):
        return True
    wrapper = "__wrapped__" in getattr(value, "__dict__", ())
    return wrapper or _is_open(type(value)) or is_kept_by_library(value)


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
            if isinstance(field, types.MemberDescriptorType) or name in ("__dict__", "__weakref__"):
                yield name, field


def _is_collection(value: Any) -> bool:
    """Whether a value is a list, a dict or the like; a range is three numbers."""
    if isinstance(value, type | range | _Text):
        return False
    return isinstance(value, Mapping | Set | Sequence)


def _inside(item: _Item) -> Iterator[_Item]:
    """Yield what a value holds or reaches, under the names that somebody would look for."""
    value, name, root = item.value, item.name, item.root
    if isinstance(value, types.ModuleType):
        return
    if isinstance(value, types.FunctionType):
        outside = taken_from_outside(value)
        yield from (_Item(each, id(held), held) for each, held in outside if each not in _ABOUT)
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


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what an object or a class holds, as far as it is not a library's own."""
    kinds = value.__mro__ if isinstance(value, type) else type(value).__mro__
    for kind in kinds:
        if not is_library(kind.__module__):
            yield from vars(kind).items()
    if isinstance(value, type):
        return
    held = dict(getattr(value, "__dict__", {}))
    for name, field in _fields(type(value)):
        if isinstance(field, types.MemberDescriptorType):
            with suppress(AttributeError):  # Nothing was assigned to it yet.
                held.setdefault(name, field.__get__(value))
    own = held and is_kept_by_library(value)
    yield from ((each, held[each]) for each in held if each == "__wrapped__" or not own)
