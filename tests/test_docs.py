"""Every example in the documentation runs, as it stands, beside the table that it speaks of."""

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from understudy import __version__, data
from understudy.cli import run
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


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(block, id=f"{page.stem}-{number}")
        for page in PAGES
        for number, block in enumerate(blocks(page, "python"), start=1)
    ],
)
def test_python_examples_run(code, salaries):
    for extra in ("pymc", "bambi"):
        if f"import {extra}" in code:
            pytest.importorskip(extra)
    exec(compile(code, "<documentation>", "exec"), {"__name__": "example"})
    assert "from-python" not in code or (salaries / "from-python/public/synthetic.csv").exists()


def test_the_commands_of_the_readme_run_in_order(salaries, capsys):
    commands = [
        line
        for block in blocks(PAGES[0], "sh")
        for line in block.replace("\\\n", " ").splitlines()
        if line.startswith("understudy ")
    ]
    assert len(commands) == 6
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
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_version_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == __version__
    assert f"version: {__version__}" in (ROOT / "CITATION.cff").read_text()
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text()


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
