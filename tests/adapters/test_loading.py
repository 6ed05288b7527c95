"""A model file is read once: what its digest is of is what runs, and what its source is."""

import hashlib
import inspect
import os
import py_compile
import sys

import pytest

from understudy.adapters.loading import load_model, model_file
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
