"""Imports point one way, and importing the package costs nothing."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "understudy"

ORDER = [
    "errors",
    "_jax",
    "support",
    "privacy",
    "domain",
    "models",
    "score",
    "adapters",
    "samplers",
    "questions",
    "inference",
    "mechanisms",
    "utility",
    "ledger",
    "report",
    "synthesis",
    "periods",
    "audit",
    "data",
    "study",
    "cli",
    "__main__",
]
"""Each may import those before it, for its types too."""


def imported(path):
    """Yield the parts of the package that a file imports, wherever the import is."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            parts = node.module.split(".")
            if parts[0] == "understudy":
                yield from [parts[1]] if len(parts) > 1 else (alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("understudy."):
                    yield alias.name.split(".")[1]


FILES = [path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_one_way(path):
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    assert own in ORDER, f"{own} has no place in the order yet"
    for name in imported(path):
        if name not in (own, "__version__"):
            assert ORDER.index(name) < ORDER.index(own), f"{own} must not import {name}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_jax_is_imported_from_one_place(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    direct = [line for line in lines if re.match(r"\s*(import|from) jax\b", line)]
    assert path.name == "_jax.py" or not direct, f"{direct}: import it from understudy._jax"


def test_the_top_level_is_what_a_newcomer_reads_first():
    modules = {path.stem for path in PACKAGE.glob("*.py")}
    assert modules == {"score", "errors", "__init__", "__main__", "_jax"}
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert modules | packages == {*ORDER, "__init__"}


HEAVY = ["jax", "numpyro", "blackjax", "pandas", "scipy", "matplotlib", "opendp", "formulaic"]
HEAVY += ["sqlalchemy", "dp_accounting", "distributed", "pymc", "pytensor", "bambi"]


@pytest.mark.parametrize(
    "code",
    ["import understudy", "import understudy.cli; understudy.cli.run(['--help'])"],
    ids=["import", "help"],
)
def test_nothing_heavy_is_imported_before_it_is_needed(code):
    check = f"{code}\nimport sys\nheavy = set({HEAVY}) & set(sys.modules)\nassert not heavy, heavy"
    done = subprocess.run(
        [sys.executable, "-c", check], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_every_public_name_can_be_had():
    import understudy

    for name in understudy.__all__:
        assert getattr(understudy, name) is not None
    with pytest.raises(AttributeError):
        _ = understudy.nonsense


def test_type_checkers_are_told_that_the_package_is_typed():
    from importlib.resources import files

    assert (files("understudy") / "py.typed").is_file()


def test_densities_are_computed_in_double_precision():
    from understudy._jax import jnp

    assert jnp.asarray(1.0).dtype == jnp.float64


@pytest.mark.parametrize("elsewhere", [False, True])
def test_which_kernels_are_kept_does_not_depend_on_who_says_where(monkeypatch, tmp_path, elsewhere):
    """What the environment says itself is left alone: JAX has read it."""
    from understudy import _jax

    told = {}
    monkeypatch.setattr(_jax.jax.config, "update", told.__setitem__)
    monkeypatch.setattr(_jax, "user_cache_path", lambda *names, **options: tmp_path)
    monkeypatch.delenv("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", raising=False)
    monkeypatch.delenv("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", raising=False)
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    if elsewhere:
        monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path))
    _jax._keep_compiled_kernels()
    assert ("jax_compilation_cache_dir" in told) is not elsewhere
    assert told["jax_persistent_cache_min_compile_time_secs"] == 0.2
    assert told["jax_persistent_cache_min_entry_size_bytes"] == 0
    told.clear()
    monkeypatch.setenv("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "7")
    _jax._keep_compiled_kernels()
    assert "jax_persistent_cache_min_compile_time_secs" not in told
    assert "jax_persistent_cache_min_entry_size_bytes" in told


def test_compiled_kernels_hold_no_records():
    """Tables are arguments of a kernel: none of their values may be among its constants."""
    import numpy as np

    import understudy as us
    from understudy._jax import jax, jnp
    from understudy.samplers.frames import plain
    from understudy.samplers.nuts import _Chain, _Target, _warm_up
    from understudy.score import Row

    column = {"role": "confidential", "type": "continuous", "bounds": [0, 1]}
    model = us.beta(us.Schema.from_dict({"columns": {"x": column}}))
    data = model.prepare({"x": np.full(33, 0.123456789)})
    row = Row(jnp.ones(33), jnp.zeros(33), jnp.asarray(2.5))
    chain = _Chain(jnp.zeros(2), jnp.ones(()))
    lowered = _warm_up.lower(model, _Target(data, row, plain(2)), jax.random.key(0), chain)
    text = lowered.as_text()
    assert "tensor<33xf64>" in text
    assert f"{float(data['log_u'][0]):.4f}"[:6] not in text


LONGEST_MODULE, LONGEST_FUNCTION = 350, 60


def functions(node, within=""):
    """Yield each function with its name, and those inside it."""
    for child in ast.iter_child_nodes(node):
        name = f"{within}{getattr(child, 'name', '')}"
        if isinstance(child, ast.FunctionDef):
            yield name, child
        named = isinstance(child, ast.FunctionDef | ast.ClassDef)
        yield from functions(child, f"{name}." if named else within)


def lines_of_code(function):
    """Count a function's lines without its head, which lists the arguments, and its docstring."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return function.end_lineno - body[0].lineno + 1 if body else 0


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_modules_and_functions_are_short(path):
    text = path.read_text(encoding="utf-8")
    length = text.count("\n")
    assert length <= LONGEST_MODULE, f"{path.relative_to(PACKAGE)} has {length} lines"
    long = {
        name: lines_of_code(function)
        for name, function in functions(ast.parse(text))
        if lines_of_code(function) > LONGEST_FUNCTION
    }
    assert not long, f"{path.relative_to(PACKAGE)} has functions of so many lines: {long}"


MODULES = [path for path in FILES if path.parent != PACKAGE and path.stem != "__init__"]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_every_module_has_its_tests(path):
    place = path.relative_to(PACKAGE)
    test = Path(__file__).parent / place.with_name(f"test_{place.name}")
    assert test.exists(), f"{place} has no {test.relative_to(Path(__file__).parents[1])}"


PACKAGES = sorted({path.parent for path in MODULES})


ENTRY = re.compile(r"(?:- )?`?(\w+)(?:\.py|/)?`?(?:, `?\w+(?:\.py|/)?`?)*(?::|  )")


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_package_says_what_its_files_are_for(package):
    """After its first sentence comes a list that begins with a file, or several, on each line."""
    tree = ast.parse((package / "__init__.py").read_text(encoding="utf-8"))
    told = ast.get_docstring(tree) or ""
    files = {path.stem for path in package.glob("*.py")} - {"__init__"}
    files |= {path.parent.name for path in package.glob("*/__init__.py")}
    entries = [entry[1] for line in told.splitlines()[1:] if (entry := ENTRY.match(line))]
    assert entries, f"{package.name} does not list its files"
    assert entries[0] in files, f"{package.name} begins with {entries[0]}, which is no file of its"
    missing = files - set(re.findall(r"\w+", told))
    assert not missing, f"{package.name} does not name {sorted(missing)}"
