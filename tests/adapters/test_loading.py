"""A model file is read once: what its digest is of is what runs, and what its source is."""

import hashlib
import inspect
import os
import py_compile
import sys

import pytest

from numpyro_functions import TABLE, wrong_return
from understudy import from_bambi, from_pymc
from understudy.adapters.loading import from_any, load_model, model_file
from understudy.cli import run
from understudy.domain.schema import Schema
from understudy.errors import BadInput

SCHEMA = Schema.from_dict(
    {"columns": {"pay": {"role": "confidential", "type": "continuous", "bounds": [0, 100]}}}
)
HEAD = "import numpyro\nimport numpyro.distributions as dist\n\n"
BODY = """\
def staff(pay, n):
    mean = numpyro.sample("mean", dist.Normal(3, 1))
    with numpyro.plate("records", n):
        numpyro.sample("pay", dist.LogNormal(mean, 0.5), obs=pay)
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(HEAD + BODY)
    return path


def loaded():
    return sys.modules["understudy_model_mine"]


def test_a_text_names_a_file_or_not():
    for text in ("beta", "pay ~ 1", "pay ~ a:b", "joint: a, b", "mine.py", "mine.txt:staff"):
        assert model_file(text) is None


def test_what_is_run_is_what_was_read(file):
    """Even where the file changes in between, and where a compiled one of another lies ready."""
    read = model_file(f"{file}:staff")
    file.write_text("raise SystemExit\n")
    model = read.load(SCHEMA)
    digest = hashlib.sha256((HEAD + BODY).encode()).hexdigest()
    assert read.digest == digest
    assert model.spec == {"file": "mine.py", "function": "staff", "digest": digest}
    assert inspect.getsource(loaded().staff) == BODY


def test_a_compiled_file_is_neither_read_nor_left(file):
    times = file.stat()
    file.write_text((HEAD + BODY).replace("staff", "spies"))
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    compiled = py_compile.compile(str(file))
    file.write_text(HEAD + BODY)
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    load_model(f"{file}:staff", schema=SCHEMA)
    os.unlink(compiled)
    load_model(f"{file}:staff", schema=SCHEMA)
    assert not os.path.exists(compiled)


def test_a_file_that_is_loaded_again_has_its_new_source(file):
    load_model(f"{file}:staff", schema=SCHEMA)
    changed = BODY.replace("0.5", "0.25")
    file.write_text(HEAD + changed)
    load_model(f"{file}:staff", schema=SCHEMA)
    assert inspect.getsource(loaded().staff) == changed


def test_source_may_be_in_another_encoding(file):
    file.write_bytes(("# coding: latin-1\n# \xe9\n" + HEAD + BODY).encode("latin-1"))
    load_model(f"{file}:staff", schema=SCHEMA)
    assert inspect.getsource(loaded().staff) == BODY


@pytest.mark.parametrize("contents", [b"def (", b"x = 1\0", b"\xff\xfe", b"# coding: no-such\n"])
def test_what_is_no_python_is_told_in_a_sentence(file, contents):
    file.write_bytes(contents)
    with pytest.raises(BadInput, match=r"the model file '.*mine\.py' raised \w*Error"):
        load_model(f"{file}:staff", schema=SCHEMA)


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
