"""What a function takes from its module, from what it imports, and from libraries."""

import subprocess
import sys
import types

import pytest

from numpyro_functions import WEIGHTS, centred, schema_with
from understudy.adapters.functions import check_closure
from understudy.adapters.numpyro import from_numpyro
from understudy.errors import BadInput

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
        centred(y, n, types.SimpleNamespace(WEIGHTS=0.25).WEIGHTS)

    assert from_numpyro(uses_an_attribute, schema=schema_with()).dimension == 1
