"""The command line in this process and in one of its own, and what a release holds."""

import json
import os
import stat
import subprocess
import sys
from unicodedata import combining, east_asian_width

import pytest

from understudy import cli
from understudy.domain import tables
from understudy.domain.schema import Schema

JOB = ["synthesize", "survey.csv", "--schema", "survey.toml", "--out", "out"]

BETA = ["--model", "beta", "--epsilon", "2"]
"""By the mechanism that nobody has to name."""

CHAINS = [*BETA, "--mechanism", "censor-uw"]

HISTOGRAM = ["--mechanism", "ph", "--epsilon", "2"]


def contents(directory):
    """Return every file below a directory, hidden ones included, with what it holds."""
    return {
        path.relative_to(directory): path.read_bytes() if path.is_file() else None
        for path in directory.rglob("*")
        if path.name != "__pycache__" and path.suffix != ".pyc"
    }


def cells(text):
    """Count the cells that a terminal needs, by the Unicode tables of the standard library."""
    return sum(
        0 if combining(each) else 2 if east_asian_width(each) in "WF" else 1 for each in text
    )


def one_sentence(said, secret):
    """Check what was said on the error stream and return it without the program's name."""
    assert said.count("\n") == 1
    assert said.startswith("understudy: ")
    assert "Traceback" not in said
    assert secret not in said
    sentence = said.removeprefix("understudy: ").strip()
    assert len(sentence) > 15
    return sentence


EPSILON = 2.0

PUBLIC = {"synthetic.csv", "parameters.json", "guarantee.json", "guarantee.txt", "card.html"}

INTERNAL = {"report.html", "diagnostics.json"}

PROMISED = {
    "unweighted": {"kind": "none", "weights": "none", "sampler": "nuts"},
    "weighted": {"kind": "asymptotic", "weights": "same-data", "sampler": "nuts"},
    "weighted-e": {"kind": "asymptotic", "weights": "same-data", "sampler": "nuts"},
    "censor-uw": {"kind": "conditional", "weights": "none", "sampler": "nuts"},
    "censor-w": {"kind": "asymptotic", "weights": "same-data", "sampler": "nuts"},
    "ph": {"kind": "strict", "weights": "none", "sampler": "none"},
    "summary": {"kind": "strict", "weights": "none", "sampler": "none"},
}

TWO_COLUMNS = """\
import numpyro
import numpyro.distributions as dist


def pay(salary, gender, n):
    share = numpyro.sample("share", dist.Beta(1, 1))
    centre = numpyro.sample("centre", dist.Normal(12, 1).expand([2]).to_event(1))
    spread = numpyro.sample("spread", dist.LogNormal(0, 1))
    with numpyro.plate("records", n):
        level = numpyro.sample("gender", dist.Bernoulli(share), obs=gender)
        numpyro.sample("salary", dist.LogNormal(centre[level], spread), obs=salary)
"""


def understudy(*arguments, cwd):
    """Run the installed command as a process of its own."""
    plain = {"COLUMNS": "120", "_TYPER_FORCE_DISABLE_TERMINAL": "1"}
    return subprocess.run(
        [sys.executable, "-m", "understudy", *map(str, arguments)],
        cwd=cwd,
        env=os.environ | plain,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def run(*arguments):
    """Run a command here and expect it to succeed."""
    assert cli.run([str(argument) for argument in arguments]) == 0


def synthesize(directory, out, *options, schema="survey.toml", table="survey.csv"):
    """Synthesise the survey in `directory` and return where the release is."""
    run(
        "synthesize",
        directory / table,
        "--schema",
        directory / schema,
        "--out",
        directory / out,
        "--quiet",
        *options,
    )
    return directory / out


def histogram(directory, out, *options, **files):
    """Synthesise by the perturbed histogram, the fastest mechanism."""
    return synthesize(
        directory, out, "--mechanism", "ph", "--epsilon", EPSILON, "--bins", 10, *options, **files
    )


def without_size(directory, schema="survey.toml"):
    """Remove the declared size from a schema."""
    path = directory / schema
    path.write_text(path.read_text().replace("size = 120\n", ""))
    return schema


PROMISED = {
    "unweighted": {"kind": "none", "weights": "none", "sampler": "nuts"},
    "weighted": {"kind": "asymptotic", "weights": "same-data", "sampler": "nuts"},
    "weighted-e": {"kind": "asymptotic", "weights": "same-data", "sampler": "nuts"},
    "censor-uw": {"kind": "conditional", "weights": "none", "sampler": "nuts"},
    "censor-w": {"kind": "asymptotic", "weights": "same-data", "sampler": "nuts"},
    "ph": {"kind": "strict", "weights": "none", "sampler": "none"},
    "summary": {"kind": "strict", "weights": "none", "sampler": "none"},
}


@pytest.fixture(scope="module", params=PROMISED)
def release(request, survey, tmp_path_factory):
    """A release of each mechanism."""
    directory = survey.write(tmp_path_factory.mktemp(request.param))
    options = ["--mechanism", request.param, "--model", "beta", "--epsilon", EPSILON]
    return synthesize(directory, "out", *options)


def guarantee(release):
    return json.loads((release / "public" / "guarantee.json").read_text())


def parameters(release, suffix=""):
    return json.loads((release / "public" / f"parameters{suffix}.json").read_text())


def diagnostics(release):
    return json.loads((release / "internal" / "diagnostics.json").read_text())


def synthetic(release, name="synthetic.csv"):
    return tables.read(release / "public" / name)


def names(directory):
    return {path.name for path in directory.iterdir()}


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def fits_schema(frame, schema):
    """Whether a table reads back as one that the schema declares: `encode` refuses any other."""
    columns = tables.encode(frame, Schema.load(schema))
    return list(frame.columns) == list(columns)
