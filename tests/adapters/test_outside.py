"""Whatever was computed is found where a function may have it from, and nothing else is."""

import __future__

import abc
import argparse
import array
import concurrent.futures
import contextvars
import decimal
import enum
import functools
import io
import itertools
import logging
import math
import operator
import os
import pathlib
import re
import threading
import types
import warnings
import weakref
from dataclasses import dataclass, field
from datetime import date
from typing import Annotated, NamedTuple

import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest
from scipy.spatial import cKDTree
from scipy.special import expit

from numpyro_functions import SHORT, SIZE, TABLE, WEIGHTS, centred, schema_with
from understudy._jax import jax, jnp
from understudy.adapters.functions import check_closure
from understudy.adapters.numpyro import from_numpyro
from understudy.domain.schema import Schema
from understudy.errors import BadInput

ON_A_DEVICE = jnp.zeros(SIZE)
TURNED = np.zeros((2, SIZE))
HELD = {"table": TABLE}
IN_A_PAIR = ("weights", WEIGHTS)
LISTED = [0.0] * SIZE
LEVELS = ["a", "b"]


def helper(turn=0):
    return other_helper(turn) if turn else TABLE["y"].mean()


def other_helper(turn):
    return helper(turn - 1)


@jax.jit
def compiled_helper(centre):
    return centre + ON_A_DEVICE.mean()


@functools.cache
def remembered_helper():
    return float(TABLE["y"].mean())


def with_default(table=TABLE):
    return table["y"].mean()


MEAN = TABLE["y"].mean()
COLUMN = TABLE["y"]
GROUPED = TABLE.groupby("w")
ON_A_DEVICE_ALONE = ON_A_DEVICE.mean()
ALONE = np.array(0.25)
SHORT_ARRAY = np.array([0.1, 0.9])
NESTED = {"pay": [("centre", np.float64(0.25))]}
IN_A_SET = frozenset({np.float64(0.25)})
PRIOR = dist.Normal(jnp.zeros(2), 1)
SUM_OF_COLUMN = COLUMN.to_numpy().sum
SQUARE = [[0.0] * 20 for _ in range(20)]
SETTINGS = types.SimpleNamespace(centre=np.float64(0.25))
LINES = "\n".join(["0.25"] * SIZE)
TYPED = array.array("d", [0.0] * SIZE)


class Settings:
    """Public constants, and one that is none."""

    centre = np.float64(0.25)


class Written:
    """Public constants."""

    centre = 0.25


@dataclass(frozen=True)
class Slotted:
    __slots__ = ("centre",)
    centre: float


IN_A_SLOT = Slotted(np.float64(0.25))


def decorated(function):
    table = TABLE

    @functools.wraps(function)
    def inner(y, n):
        return centred(y, n, table["y"].mean())

    return inner


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda y, n: centred(y, n, ON_A_DEVICE.mean()), "ON_A_DEVICE"),
        (lambda y, n: centred(y, n, TURNED[0].mean()), "TURNED"),
        (lambda y, n: centred(y, n, HELD["table"]["y"].mean()), "HELD"),
        (lambda y, n: centred(y, n, IN_A_PAIR[1].mean()), "IN_A_PAIR"),
        (lambda y, n: centred(y, n, sum(LISTED) / SIZE), "LISTED"),
        (lambda y, n: centred(y, n, other_helper(1)), "TABLE"),
        (lambda y, n: centred(y, n, compiled_helper(0.0)), "ON_A_DEVICE"),
        (lambda y, n: centred(y, n, remembered_helper()), "TABLE"),
        (lambda y, n: centred(y, n, jax.vmap(compiled_helper)(y)), "ON_A_DEVICE"),
        (lambda y, n: centred(y, n, with_default()), "table"),
        (lambda y, n: centred(y, n, sum(WEIGHTS[k] for k in range(3))), "WEIGHTS"),
        (lambda y, n: centred(y, n, COLUMN.mean()), "COLUMN"),
        (lambda y, n: centred(y, n, GROUPED["y"].mean()[0]), "GROUPED"),
        (lambda y, n: centred(y, n, SHORT_ARRAY[0]), "SHORT_ARRAY"),
        (lambda y, n: numpyro.sample("centre", PRIOR), "PRIOR"),
        (lambda y, n: centred(y, n, SUM_OF_COLUMN()), "SUM_OF_COLUMN"),
        (lambda y, n: centred(y, n, SQUARE[0][0]), "SQUARE"),
        (lambda y, n: centred(y, n, float(LINES.split()[0])), "LINES"),
        (lambda y, n: centred(y, n, TYPED[0]), "TYPED"),
        (decorated(lambda y, n: centred(y, n, 0.0)), "table"),
    ],
)
def test_a_table_is_found_where_a_function_may_have_it_from(function, name):
    with pytest.raises(BadInput, match=f"has a table baked in, '{name}', from outside"):
        from_numpyro(function, schema=schema_with())


class Callable:
    """A model with a constant of its own."""

    def __init__(self, centre):
        self.centre = centre

    def __call__(self, y, n):
        centred(y, n, self.centre)

    def method(self, y, n):
        centred(y, n, self.centre)


def around(y, n):
    centred(y, n, around.centre)


around.centre = np.float64(0.25)


def backwards(centre, y, n):
    centred(y, n, centre)


def enclosing(centre):
    return lambda y, n: centred(y, n, centre)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda y, n: centred(y, n, MEAN), "MEAN"),
        (lambda y, n: centred(y, n, ON_A_DEVICE_ALONE), "ON_A_DEVICE_ALONE"),
        (lambda y, n: centred(y, n, ALONE), "ALONE"),
        (lambda y, n: centred(y, n, NESTED["pay"][0][1]), "NESTED"),
        (lambda y, n: centred(y, n, max(IN_A_SET)), "IN_A_SET"),
        (lambda y, n: centred(y, n, SETTINGS.centre), "SETTINGS"),
        (lambda y, n: centred(y, n, Settings.centre), "Settings"),
        (lambda y, n: centred(y, n, Settings().centre), "Settings"),
        (lambda y, n: centred(y, n, IN_A_SLOT.centre), "IN_A_SLOT"),
        (enclosing(np.float64(0.25)), "centre"),
        (enclosing(np.float32(0.25)), "centre"),
        (enclosing(np.int64(2)), "centre"),
        (around, "centre"),
        (functools.partial(backwards, np.float64(0.25)), "partial"),
        (functools.partial(backwards, SETTINGS), "centre"),
        (Callable(np.float64(0.25)), "centre"),
        (Callable(np.float64(0.25)).method, "centre"),
        (Callable({"any": (np.float64(0.25),)}).method, "centre"),
    ],
)
def test_a_number_that_was_computed_is_found_where_a_function_may_have_it_from(function, name):
    found = f"has a computed number baked in, '{name}', from outside: .*as plain numbers or short l"
    with pytest.raises(BadInput, match=found):
        from_numpyro(function, schema=schema_with())


@pytest.mark.parametrize(
    "function",
    [
        lambda y, n: centred(y, n, len(LEVELS) + SHORT[0] + np.pi + math.e),
        lambda y, n: centred(y, n, Written.centre + Written().centre),
        lambda y, n: centred(y, n, sum(range(1000))),
        enclosing(0.25),
        enclosing(True),
        functools.partial(backwards, 0.25),
        Callable(0.25),
        Callable(0.25).method,
        Callable(0.25).__call__,
    ],
)
def test_what_a_person_wrote_down_may_come_from_outside(function):
    assert from_numpyro(function, schema=schema_with()).dimension == 1


class WithSlots:
    """A slot whose name Python changes."""

    __slots__ = ("__hidden",)

    def __init__(self, value):
        self.__hidden = value


class Text(str):
    """A text that may hold more than its letters."""


class Repeating(itertools.repeat):
    """A class of one's own around one of Python's."""


def unfinished(value):
    yield value


def with_attribute(holder, value):
    holder.value = value
    return holder


FUTURE = concurrent.futures.Future()
FUTURE.set_result(WEIGHTS)


@pytest.mark.parametrize(
    "value",
    [
        argparse.Namespace(prior=MEAN),
        itertools.repeat(WEIGHTS),
        Repeating(WEIGHTS),
        itertools.cycle(LISTED),
        iter(LISTED),
        map(float, LISTED),
        unfinished(WEIGHTS),
        with_attribute(threading.local(), MEAN),
        with_attribute(functools.partial(max, 1, 2), MEAN),
        contextvars.ContextVar("held", default=WEIGHTS),
        FUTURE,
        weakref.ref(WEIGHTS),
        ValueError(WEIGHTS),
        slice(MEAN, 2),
        functools.partialmethod(centred, centre=MEAN),
        operator.methodcaller("get", MEAN),
        io.StringIO(LINES),
        re.compile(LINES),
        cKDTree(WEIGHTS[:, None]),
        np.frompyfunc(lambda x: x + MEAN, 1, 1),
        decimal.Decimal("0.25"),
        -int.from_bytes(b"1" + WEIGHTS.tobytes(), "big"),
        range(2**99),
        with_attribute(Text("short"), MEAN),
        WithSlots(MEAN),
        enum.Enum("Prior", {"CENTRE": MEAN}).CENTRE,
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_hidden_in_an_object_of_python_or_a_library_is_not_taken(value):
    with pytest.raises(BadInput, match=r"has an? .* baked in, 'value', from outside"):
        check_closure(lambda y, n: centred(y, n, value))


def named_path():
    path = pathlib.Path("a")
    hash(path)
    return path


@dataclass
class Knots:
    lower: float = 0.0
    knots: list[float] = field(default_factory=lambda: [0.5, 1.5])


class Pair(NamedTuple):
    low: float
    high: float


class Base(abc.ABC):
    """A class that Python keeps something of its own in."""

    @abc.abstractmethod
    def centre(self): ...


class Derived(Base):
    def centre(self):
        return 0.25


@pytest.mark.parametrize(
    "value",
    [
        logging.getLogger("a model"),
        named_path(),
        list[int] | None,
        Annotated[int, 2],
        __future__.annotations,
        warnings.warn,
        os.path.join,
        re.compile("a+"),
        enum.Enum("Kind", ["A", "B"]).A,
        Knots(),
        Pair(0.0, 1.0),
        Derived(),
        date(2020, 1, 1),
        np.dtype("float64"),
        slice(0, 2),
        object(),
        np.sin,
        expit,
        jnp.add,
        jax.nn.relu,
        jax.jit(lambda x: x),
        jax.grad(jax.vmap(lambda x: x)),
        functools.cache(lambda x: x),
        functools.singledispatch(lambda x: x),
        dist.Normal(0, 1),
        dist.constraints.real,
        dist.constraints.interval(0, 1),
        dist.transforms.AffineTransform(0, 1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_holds_nothing_that_was_computed_may_come_from_outside(value):
    check_closure(lambda y, n: centred(y, n, value))


@pytest.mark.parametrize("declared", [None, 100, 101])
def test_a_hundred_entries_are_a_short_list_whatever_size_is_declared(declared):
    schema = Schema(size=declared, columns=schema_with().columns)
    hundred, more = [0.5] * 100, [0.5] * 101
    assert from_numpyro(lambda y, n: centred(y, n, hundred[3]), schema=schema).dimension == 1
    with pytest.raises(BadInput, match="has a table baked in, 'more', from outside"):
        from_numpyro(lambda y, n: centred(y, n, more[3]), schema=schema)
