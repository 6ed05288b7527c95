"""A desk with a survey, a command that must fail, and releases of it."""

import pytest

from command_line import (
    EPSILON,
    HISTOGRAM,
    JOB,
    PROMISED,
    TWO_COLUMNS,
    contents,
    one_sentence,
    synthesize,
)
from understudy import cli


@pytest.fixture
def says(desk, survey, capsys):
    """Run a command that must fail, and return its one sentence."""

    def run(*arguments, code=2):
        before = contents(desk)
        assert cli.run([str(argument) for argument in arguments]) == code
        said = capsys.readouterr()
        assert said.out == ""
        assert contents(desk) == before
        return one_sentence(said.err, survey.secret)

    return run


@pytest.fixture
def edit(desk):
    """Replace a piece of one of the files by another."""

    def replace(name, old, new):
        text = (desk / name).read_text()
        assert old in text
        (desk / name).write_text(text.replace(old, new, 1))

    return replace


@pytest.fixture
def earlier(desk, capsys):
    """An earlier release in the place where the next one would go."""
    assert cli.run([*JOB, *HISTOGRAM, "--quiet"]) == 0
    return desk / "out"


@pytest.fixture(scope="session")
def regression(survey, tmp_path_factory):
    """A release of a regression on public predictors that are copied from the table."""
    directory = survey.write(tmp_path_factory.mktemp("regression"))
    options = ["--model", "salary ~ gender + age", "--family", "beta", "--epsilon", EPSILON]
    return synthesize(directory, "out", *options, schema="public.toml")


@pytest.fixture(scope="session")
def two_columns(survey, tmp_path_factory):
    """A release of two confidential columns by a NumPyro function in a file."""
    directory = survey.write(tmp_path_factory.mktemp("two"))
    both = survey.schema.replace('"ignore"\ntype = "cat', '"confidential"\ntype = "cat')
    (directory / "both.toml").write_text(both)
    (directory / "model.py").write_text(TWO_COLUMNS)
    options = ["--model", f"{directory / 'model.py'}:pay", "--epsilon", EPSILON]
    return synthesize(directory, "out", *options, schema="both.toml")


@pytest.fixture(
    scope="session",
    params=[
        name if name in ("censor-uw", "ph") else pytest.param(name, marks=pytest.mark.slow)
        for name in PROMISED
    ],
)
def release(request, survey, tmp_path_factory):
    """A release of each mechanism."""
    directory = survey.write(tmp_path_factory.mktemp(request.param))
    options = ["--mechanism", request.param, "--model", "beta", "--epsilon", EPSILON]
    return synthesize(directory, "out", *options)
