"""Every example in the documentation runs, as it stands, beside the table that it speaks of."""

import ast
import importlib
import inspect
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
import typer

import understudy as us
from understudy import __version__, data
from understudy.cli import run
from understudy.cli.app import app
from understudy.domain.schema import Schema
from understudy.mechanisms import BY_NAME

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)


@pytest.fixture
def salaries(tmp_path, monkeypatch):
    shutil.copy(data.survey_table(), tmp_path / "salaries.csv")
    shutil.copy(data.survey_schema(), tmp_path / "salaries.toml")
    rescaled = data.survey_schema().read_text().replace("500000", "5")
    (tmp_path / "hundred-thousands.toml").write_text(rescaled)
    monkeypatch.chdir(tmp_path)
    return tmp_path


QUICK = {"adding-a-mechanism-1"}
"""Examples that draw nothing; the others run in the slow lane."""
EXAMPLES = {
    f"{page.stem}-{number}": block
    for page in PAGES
    for number, block in enumerate(blocks(page, "python"), start=1)
}


@pytest.mark.parametrize("code", EXAMPLES.values(), ids=EXAMPLES)
def test_python_examples_name_what_there_is(code):
    """What an example takes from the package exists, and takes the arguments that it is given."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "understudy":
            module = importlib.import_module(node.module)
            assert all(hasattr(module, alias.name) for alias in node.names), ast.unparse(node)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "us":
            assert hasattr(us, node.attr), ast.unparse(node)
        if isinstance(node, ast.Call) and re.fullmatch(r"us\.\w+", ast.unparse(node.func)):
            called = inspect.signature(getattr(us, node.func.attr))
            named = {keyword.arg: None for keyword in node.keywords if keyword.arg is not None}
            called.bind_partial(*node.args, **named)


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(block, id=name, marks=() if name in QUICK else pytest.mark.slow)
        for name, block in EXAMPLES.items()
    ],
)
def test_python_examples_run(code, salaries, monkeypatch):
    for extra in ("pymc", "bambi"):
        if f"import {extra}" in code:
            pytest.importorskip(extra)
    example = ModuleType("example")
    monkeypatch.setitem(sys.modules, "example", example)
    exec(compile(code, "<documentation>", "exec"), vars(example))
    assert "from-python" not in code or (salaries / "from-python/public/synthetic.csv").exists()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_take_the_options_that_they_are_given(page):
    program = typer.main.get_command(app)
    for command in _commands(blocks(page, "sh")):
        words = shlex.split(command, comments=True)[1:]
        told, below = program, getattr(program, "commands", {})
        while words and words[0] in below:
            told = below[words.pop(0)]
            below = getattr(told, "commands", {})
        known = {flag for parameter in told.params for flag in parameter.opts} | {"--help"}
        given = {word.split("=")[0] for word in words if re.match("--?[a-z]", word)}
        assert told is not program or given <= {"--version", "--help"}, command
        assert given <= known, command


@pytest.mark.slow
def test_the_commands_of_the_readme_run_in_order(salaries, capsys):
    commands = [
        line
        for block in blocks(PAGES[0], "sh")
        for line in block.replace("\\\n", " ").splitlines()
        if line.startswith("understudy ")
    ]
    assert len(commands) == 7
    for command in commands:
        arguments = shlex.split(command)[1:]
        if arguments[0] == "init":
            arguments[arguments.index("-o") + 1] = "draft.toml"
        assert run(arguments) == 0, capsys.readouterr().err
    assert (salaries / "more.csv").read_text().count("\n") == 5001


def test_the_schema_of_the_readme_is_that_of_the_survey():
    (declared,) = blocks(PAGES[0], "toml")
    schema = Schema.from_dict(tomllib.loads(declared))
    assert schema == Schema.load(data.survey_schema())


def test_the_readme_opens_with_the_two_commands_and_lists_every_mechanism():
    text = PAGES[0].read_text("utf-8")
    assert "make demo" in blocks(PAGES[0], "sh")[0]
    assert "make test" in blocks(PAGES[0], "sh")[0]
    for name in BY_NAME:
        assert f"`{name}`" in text


def test_links_between_pages_lead_somewhere():
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
            # The reference of functions is made from their docstrings.
            made = target.startswith("api/")
            assert made or (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_version_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == __version__
    assert f"version: {__version__}" in (ROOT / "CITATION.cff").read_text()
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.slow
def test_the_tutorial_of_a_year_runs(tmp_path, monkeypatch, capsys):
    """With fewer records, draws and months than it says."""
    monkeypatch.chdir(tmp_path)
    scripts = ROOT / "docs/tutorial"
    subprocess.run([sys.executable, scripts / "survey.py", "--records", "300"], check=True)
    for command in _commands(blocks(ROOT / "docs/tutorial-year.md", "sh")):
        arguments = shlex.split(command)[1:]
        arguments += ["--draws", "1"] if arguments[0] == "calibrate" else []
        assert run(arguments) == 0, capsys.readouterr().err
    assert capsys.readouterr().out.count("published") == 2


def _commands(found):
    """Yield the commands of some blocks, those of a loop once."""
    for block in found:
        joined = block.replace("\\\n", " ")
        loop = re.search(r"^for (\w+) in (.*?); do\n(.*?)^done\n", joined, re.M | re.S)
        if loop is not None:
            name, words, body = loop.groups()
            joined = joined.replace(loop.group(), body.replace(f"${name}", words.split()[0]))
        for line in joined.splitlines():
            if line.strip().startswith("understudy "):
                yield line.strip()
