"""Whatever is public has a docstring, and each of its parameters is described in it."""

import ast
import dataclasses
import enum
import functools
import inspect
import re
import textwrap
from dataclasses import is_dataclass

import pytest

import understudy


def reachable():
    """Yield every public function, class and method of ours, with the name by which it is had."""
    for name in understudy.__all__:
        thing = getattr(understudy, name)
        if inspect.ismodule(thing):  # A verb that shares its package's name.
            thing = getattr(thing, name)
        yield name, thing
        if inspect.isclass(thing):
            yield from methods(name, thing)


def methods(name, cls):
    """Yield what a class defines itself; a field whose default is a function is a field."""
    fields = {field.name for field in dataclasses.fields(cls)} if is_dataclass(cls) else set()
    for attribute in vars(cls):
        plain = function(cls, attribute)
        if not attribute.startswith("_") and plain is not None and attribute not in fields:
            yield f"{name}.{attribute}", plain


def function(cls, attribute):
    """Return the function of a method or a property, if the class itself has one."""
    member = vars(cls).get(attribute)
    for within in ("__func__", "fget", "func"):
        member = getattr(member, within, member)
    return member if inspect.isfunction(member) else None


def described(docstring):
    """Return the names in the `Args:` section of a docstring."""
    section = re.search(r"^Args:\n((?:(?: {4}.*)?\n?)+)", inspect.cleandoc(docstring), re.M)
    return set(re.findall(r"^ {4}\*{0,2}(\w+):", section.group(1), re.M)) if section else set()


def parameters(thing):
    names = inspect.signature(thing).parameters
    return [name for name in names if name not in ("self", "cls") and not name.startswith("_")]


@functools.cache
def documented_fields(cls):
    """Return the fields with a docstring below them, in the class or in one before it."""
    names = described(cls.__doc__ or "")
    for each in cls.__mro__:
        if each.__module__.startswith("understudy") and is_dataclass(each):
            names |= described(each.__doc__ or "")
            (definition,) = ast.parse(textwrap.dedent(inspect.getsource(each))).body
            for statement, following in zip(definition.body, definition.body[1:], strict=False):
                told = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
                if isinstance(statement, ast.AnnAssign) and told:
                    names.add(statement.target.id)
    return names


def undescribed(thing, inherited=frozenset()):
    """Return the parameters of a function, or the fields of a dataclass, without a description."""
    if not inspect.isclass(thing):
        told = described(thing.__doc__ or "") | inherited
        return [name for name in parameters(thing) if name not in told]
    if is_dataclass(thing):
        fields = [field.name for field in dataclasses.fields(thing) if field.init]
        told = documented_fields(thing)
        return [name for name in fields if name not in told and not name.startswith("_")]
    if issubclass(thing, enum.Enum | Exception) or "__init__" not in vars(thing):
        return []
    told = described(thing.__doc__ or "") | described(thing.__init__.__doc__ or "")
    return [name for name in parameters(thing.__init__) if name not in told]


def inherited(name):
    """Return what classes before it say about a method: who overrides need not repeat it."""
    owner, _, attribute = name.partition(".")
    if not attribute:
        return frozenset()
    before = [function(cls, attribute) for cls in getattr(understudy, owner).__mro__]
    return frozenset().union(*(described(each.__doc__ or "") for each in before if each))


REACHABLE = dict(reachable())


@pytest.mark.parametrize("name", REACHABLE)
def test_what_is_public_says_what_it_is_and_what_it_takes(name):
    thing = REACHABLE[name]
    assert thing.__doc__, "no docstring"
    assert not thing.__doc__.startswith(f"{thing.__name__}("), "no docstring of its own"
    missing = undescribed(thing, inherited(name))
    assert not missing, f"nothing is said about {', '.join(missing)}"


def test_the_test_sees_what_is_missing():
    def half(first, second):
        """Do something.

        Args:
            first: A number:
                that goes on.

        Returns:
            second: Nothing.
        """

    assert undescribed(half) == ["second"]
