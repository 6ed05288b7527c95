"""Badly written user models: each gets a sentence that says what to change, and no traceback."""

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
import subprocess
import sys
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
import pandas as pd
import pytest
from scipy.spatial import cKDTree
from scipy.special import expit

from understudy import from_bambi, from_pymc
from understudy._jax import jax, jnp
from understudy.adapters.functions import check_closure
from understudy.adapters.loading import from_any
from understudy.adapters.numpyro import from_numpyro
from understudy.cli import run
from understudy.domain.schema import Schema
from understudy.errors import BadInput

SIZE = 500
SCHEMA = Schema.from_dict(
    {
        "table": {"size": SIZE},
        "columns": {
            "y": {"role": "confidential", "type": "continuous", "bounds": [-20, 20]},
            "w": {"role": "public", "type": "continuous", "bounds": [0, 10]},
        },
    }
)
TABLE = pd.DataFrame({"y": np.zeros(SIZE), "w": np.zeros(SIZE)})
WEIGHTS = np.zeros(SIZE)
SHORT = [0.5 * k for k in range(57)]
CALLS = []
ON_A_DEVICE = jnp.zeros(SIZE)
TURNED = np.zeros((2, SIZE))
HELD = {"table": TABLE}
IN_A_PAIR = ("weights", WEIGHTS)
LISTED = [0.0] * SIZE
LEVELS = ["a", "b"]


def wrong_plate_size(y, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    with numpyro.plate("records", SIZE):
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)


def wrong_plate_size_inside(y, w, n):
    slope = numpyro.sample("slope", dist.Normal(0, 1))
    with numpyro.plate("records", SIZE):
        numpyro.sample("y", dist.Normal(slope * w, 1), obs=y)


def two_plates_side_by_side(y, w, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    with numpyro.plate("records", n):
        numpyro.deterministic("shifted", centre + w)
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)
    with numpyro.plate("again", n):
        numpyro.deterministic("more", centre + w)


def two_plates_in_each_other(y, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    with numpyro.plate("rows", n, dim=-2), numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)


def nan_prior(y, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    spread = numpyro.sample("spread", dist.Normal(jnp.log(-1.0), 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, jnp.exp(spread)), obs=y)


def negative_scale(y, n):
    centre = numpyro.sample("centre", dist.Normal(0, -1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)


def improper_prior(y, n):
    centre = numpyro.sample("centre", dist.ImproperUniform(dist.constraints.real, (), ()))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)


def boundless_uniform(y, n):
    centre = numpyro.sample("centre", dist.Uniform(-jnp.inf, jnp.inf))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)


def no_observed_site(y, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1))


def table_baked_in(y, n):
    centre = numpyro.sample("centre", dist.Normal(TABLE["y"].mean(), 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)


def array_baked_in(y, n):
    centre = numpyro.sample("centre", dist.Normal(np.mean(WEIGHTS), 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)


def short_array_baked_in(y, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre + np.array(SHORT), 1), obs=y)


def other_outcome_baked_in(y, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1), obs=jnp.zeros(n))


def wrong_return(y, n):
    return dist.Normal(0, 1).log_prob(y)


def side_effect_on_the_prior(y, n):
    CALLS.append(n)
    centre = numpyro.sample("centre", dist.Normal(0, len(CALLS)))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)


def side_effect_on_the_likelihood(y, n):
    CALLS.append(n)
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, len(CALLS)), obs=y)


def side_effect_on_a_column(y, w, n):
    w -= 5
    w[0] = 0
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre * w, 1), obs=y)


def random_numbers(y, n):
    centre = numpyro.sample("centre", dist.Normal(np.random.default_rng().normal(), 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)


def float32(y, w, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre * w.astype(jnp.float32), 1), obs=y)


def float32_inside(y, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    shift = jax.jit(lambda x: jnp.sin(x.astype(jnp.float32)))(centre)
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre + shift, 1), obs=y)


def printing(y, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    jax.debug.print("{}", y)
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)


def calling_back(y, w, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    shape = jax.ShapeDtypeStruct(w.shape, w.dtype)
    shift = jax.pure_callback(np.asarray, shape, w, vmap_method="sequential")
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre + shift, 1), obs=y)


def nan_likelihood(y, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, -1), obs=y)


def name_of_a_column(y, n):
    w = numpyro.sample("w", dist.Normal(0, 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(w, 1), obs=y)


def name_of_the_size(y, n):
    centre = numpyro.sample("n", dist.Normal(0, 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)


def the_same_name_twice(y, n):
    one = numpyro.sample("centre", dist.Normal(0, 1))
    other = numpyro.sample("centre", dist.Normal(0, 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(one + other, 1), obs=y)


def prior_by_the_largest(y, w, n):
    """The largest value is the same on all large tables, but not on a single record."""
    centre = numpyro.sample("centre", dist.Normal(0, 1 + jnp.max(w > 5)))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)


def nan_when_simulating(y, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre + (jnp.nan if y is None else 0.0), 1), obs=y)


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (prior_by_the_largest, "prior of the model .* depends on the table.*write its numbers"),
        (nan_when_simulating, "simulated something that is not a number for 'y'.*: give the col"),
        (wrong_plate_size, "plate 'records' .* has 500 entries .* let its size be 'n'"),
        (wrong_plate_size_inside, r"'records' \(500\), has as many .* write numpyro.plate"),
        (two_plates_side_by_side, "two plates over the records, 'records' and 'again': put all"),
        (two_plates_in_each_other, "two plates over the records, 'rows' and 'records': put all"),
        (nan_prior, "prior of 'spread' is not a finite number .* check the arguments"),
        (negative_scale, "prior of 'centre' is not a finite number .* check the arguments"),
        (improper_prior, "prior of 'centre' is improper.*: give it a wide Normal"),
        (boundless_uniform, "prior of 'centre' is not a finite number .* check the arguments"),
        (no_observed_site, "no observed site: pass a column as obs"),
        (table_baked_in, "has a table baked in, 'TABLE', .* use its arguments instead"),
        (array_baked_in, "has a table baked in, 'WEIGHTS', .* use its arguments instead"),
        (short_array_baked_in, "raised ValueError: .* use its arguments as they are, and no other"),
        (other_outcome_baked_in, "'y' observes something other .* pass the argument"),
        (wrong_return, "samples nothing: a NumPyro function must call numpyro.sample, a PyMC"),
        (side_effect_on_the_prior, "two answers to the same table.*let it depend on its argum"),
        (side_effect_on_the_likelihood, "two answers to the same table.*let it depend on its a"),
        (side_effect_on_a_column, "raised TypeError: .*immutable.* use its arguments as they are"),
        (random_numbers, "two answers to the same table.*let it depend on its arguments"),
        (float32, "single precision.*leave out float32"),
        (float32_inside, "single precision.*leave out float32"),
        (printing, "calls Python while it runs.*confidential records: leave that out"),
        (calling_back, "calls Python while it runs.*confidential records: leave that out"),
        (nan_likelihood, "likelihood that is no number.*: check the arguments"),
        (name_of_a_column, "parameter 'w' has the name of a column: rename it"),
        (name_of_the_size, "parameter 'n' has the name of the number of records: rename it"),
        (the_same_name_twice, "unique names .*: rename one of them"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_badly_written_numpyro_model_is_told_what_to_change(function, sentence):
    with pytest.raises(BadInput, match=sentence) as fault:
        from_numpyro(function, schema=SCHEMA)
    assert "\n" not in str(fault.value)
    assert str(fault.value).endswith(".")


def centred(y, n, centre):
    centre = numpyro.sample("centre", dist.Normal(centre, 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)


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


PROFILED = """
import numpy as np
from understudy.adapters.functions import check_closure
from understudy.errors import BadInput

class Settings:
    centre = np.float64(2.0)

Y = np.zeros(500)

for model in (lambda: Y, lambda: Settings.centre):
    try:
        check_closure(model)
    except BadInput:
        print("refused")
"""


def test_a_model_under_a_profiler_is_nobody_elses(desk):
    (desk / "profiled.py").write_text(PROFILED)
    job = [sys.executable, "-m", "cProfile", "-o", "profile", "profiled.py"]
    done = subprocess.run(job, capture_output=True, text=True, check=True, cwd=desk)
    assert done.stdout.split() == ["refused"] * 2


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("import __main__; return __main__.HELD_THERE", r"baked in, '__main__\.HELD_THERE'"),
        ("from kept.settings import MEAN; return MEAN", r"baked in, 'kept\.settings\.MEAN'"),
        ("from kept import settings as s; return s.MEAN", r"baked in, 'kept\.settings\.MEAN'"),
        ("import kept.settings; return kept.settings.MEAN", "baked in, 'kept.settings.*MEAN'"),
        ("return lambda: __import__('kept')", "for values by name at run time, '__import__'"),
        ("import sys; return sys.modules['__main__'].Y", "by name at run time, 'sys.modules'"),
        ("from sys import modules; return modules", "by name at run time, 'sys.modules'"),
        ("import importlib; return importlib", "for values by name at run time, 'importlib'"),
        ("return globals()['Y']", "reaches for values by name at run time, 'globals'"),
        ("return vars()", "reaches for values by name at run time, 'vars'"),
        ("return eval('Y')", "reaches for values by name at run time, 'eval'"),
    ],
)
def test_what_a_function_imports_or_finds_by_name_is_followed(desk, monkeypatch, line, sentence):
    monkeypatch.syspath_prepend(desk)
    monkeypatch.setattr(sys.modules["__main__"], "HELD_THERE", WEIGHTS, raising=False)
    for name in ("kept", "kept.settings"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    (desk / "kept").mkdir()
    (desk / "kept" / "__init__.py").write_text("")
    (desk / "kept" / "settings.py").write_text("import numpy as np\nMEAN = np.float64(2.0)\n")
    scope = {}
    exec(f"def model(y, n):\n    {line}", scope)
    with pytest.raises(BadInput, match=sentence):
        check_closure(scope["model"])


def test_a_function_may_import_what_is_installed_or_written_down(desk, monkeypatch):
    monkeypatch.syspath_prepend(desk)
    (desk / "written_down.py").write_text("CENTRE = 0.25\n")
    scope = {}
    body = "import math, sys, jax.numpy as jnp\n    from written_down import CENTRE\n"
    exec(f"def model(y, n):\n    {body}    return CENTRE + jnp.sin(sys.maxsize)", scope)
    check_closure(scope["model"])


@pytest.mark.parametrize("declared", [None, 100, 101])
def test_a_hundred_entries_are_a_short_list_whatever_size_is_declared(declared):
    schema = Schema(size=declared, columns=schema_with().columns)
    hundred, more = [0.5] * 100, [0.5] * 101
    assert from_numpyro(lambda y, n: centred(y, n, hundred[3]), schema=schema).dimension == 1
    with pytest.raises(BadInput, match="has a table baked in, 'more', from outside"):
        from_numpyro(lambda y, n: centred(y, n, more[3]), schema=schema)


def test_a_module_beside_the_model_is_looked_into(desk, monkeypatch):
    monkeypatch.syspath_prepend(desk)
    (desk / "beside_the_model.py").write_text(
        "import numpy as np\nMEAN = np.float64(2.0)\nPLAIN = 2.0\n\n"
        "def centre():\n    return MEAN\n"
    )
    beside = pytest.importorskip("beside_the_model")
    centre = beside.centre
    with pytest.raises(BadInput, match=r"a computed number baked in, 'beside\.MEAN', from outside"):
        from_numpyro(lambda y, n: centred(y, n, beside.MEAN), schema=schema_with())
    with pytest.raises(BadInput, match="a computed number baked in, 'MEAN', from outside"):
        from_numpyro(lambda y, n: centred(y, n, centre()), schema=schema_with())
    assert from_numpyro(lambda y, n: centred(y, n, beside.PLAIN), schema=schema_with())


def test_an_attribute_is_not_taken_for_a_global_of_its_name():
    def uses_an_attribute(y, n):
        centred(y, n, types.SimpleNamespace(TABLE=0.25).TABLE)

    assert from_numpyro(uses_an_attribute, schema=schema_with()).dimension == 1


def switching(y, n):
    jax.config.update("jax_enable_x64", False)
    centred(y, n, 0.0)


def test_a_model_that_switches_to_single_precision_is_told_to_leave_it():
    try:
        with pytest.raises(BadInput, match=r"jax_enable_x64 was .* off.*: leave the setting alone"):
            from_numpyro(switching, schema=SCHEMA)
        with pytest.raises(BadInput, match=r"jax_enable_x64 was .* off.*: leave the setting alone"):
            from_numpyro(centred_at_zero, schema=SCHEMA)
    finally:
        jax.config.update("jax_enable_x64", True)


def centred_at_zero(y, n):
    centred(y, n, 0.0)


def schema_with(**columns):
    return Schema.from_dict({"columns": {"y": SCHEMA.column("y").to_dict(), **columns}})


def counted_levels(kind, n):
    """A count where levels are declared: its large values are codes of none of them."""
    rate = numpyro.sample("rate", dist.Gamma(2, 4))
    with numpyro.plate("records", n):
        numpyro.sample("kind", dist.Poisson(rate), obs=kind)


@pytest.mark.parametrize("missing", ["refuse", "model"])
def test_codes_beyond_the_levels_are_refused_before_anything_is_charged(missing):
    kind = {"role": "confidential", "type": "categorical", "levels": ["a", "b"], "missing": missing}
    schema = Schema.from_dict({"columns": {"kind": kind}})
    with pytest.raises(BadInput, match="simulated codes beyond its levels for 'kind'"):
        from_numpyro(counted_levels, schema=schema)


def test_a_missing_value_is_none_that_a_model_simulates():
    column = {**SCHEMA.column("y").to_dict(), "missing": "model"}
    with pytest.raises(BadInput, match="simulated something that is not a number for 'y'"):
        from_numpyro(nan_when_simulating, schema=Schema.from_dict({"columns": {"y": column}}))


def overflowing(y, n):
    """Far out it simulates what is not a number, which is not the model's fault."""
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre + 0 * jnp.exp(700 * centre), 1), obs=y)


def test_a_model_that_overflows_now_and_then_is_a_model():
    model = from_numpyro(overflowing, schema=schema_with())
    drawn = model.simulate(jax.random.key(0), {"centre": jnp.asarray(1.9)}, {}, 3)
    assert np.isnan(drawn["y"]).all()


def test_a_parameter_may_have_the_name_of_a_column_that_is_ignored():
    model = from_numpyro(name_of_a_column, schema=schema_with(w={"role": "ignore"}))
    assert [parameter.name for parameter in model.parameters] == ["w"]


def test_something_that_is_no_model_is_told_what_a_model_is():
    with pytest.raises(BadInput, match="'DataFrame' is no model: give a NumPyro function"):
        from_any(TABLE, schema=SCHEMA)
    with pytest.raises(BadInput, match="'dict' does not say what arguments it takes"):
        from_any(dict, schema=SCHEMA)


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("    return dist.Normal(0, 1)", "samples nothing"),
        ("    numpyro.sample('age', dist.Normal(0, 1))", "no observed site"),
        ("    return len(TABLE)", "table baked in, 'TABLE'"),
    ],
)
def test_on_the_command_line_it_is_one_sentence_and_exit_code_2(desk, capsys, body, complaint):
    (desk / "model.py").write_text(
        "import numpyro\nimport numpyro.distributions as dist\nimport pandas as pd\n"
        f"TABLE = pd.DataFrame({{'salary': [1.0]}})\n\ndef pay(salary, n):\n{body}\n"
    )
    job = ["synthesize", "survey.csv", "--schema", "survey.toml", "--out", "out", "--epsilon", "1"]
    assert run([*job, "--model", "model.py:pay"]) == 2
    error = capsys.readouterr().err
    assert complaint in error
    assert "Traceback" not in error
    assert not (desk / "out").exists()


@pytest.mark.parametrize("package", ["pymc", "pytensor", "bambi"])
def test_a_file_that_needs_a_missing_extra_is_told_how_to_get_it(
    desk, capsys, monkeypatch, package
):
    monkeypatch.setitem(sys.modules, package, None)
    (desk / "model.py").write_text(f"import {package}\n")
    job = ["synthesize", "survey.csv", "--schema", "survey.toml", "--out", "out", "--epsilon", "1"]
    assert run([*job, "--model", "model.py:pay"]) == 2
    error = " ".join(capsys.readouterr().err.split())
    assert f"needs {package}, which is not installed: pip install 'understudy[pymc]'." in error


@pytest.mark.parametrize(("convert", "package"), [(from_pymc, "pymc"), (from_bambi, "bambi")])
def test_in_python_a_missing_extra_gets_the_same_sentence(monkeypatch, convert, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(BadInput, match=rf"needs {package}, .* pip install 'understudy\[pymc\]'"):
        convert(wrong_return, schema=SCHEMA)
