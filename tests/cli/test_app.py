"""The program: help, exit codes, and one sentence for whatever goes wrong."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer

from command_line import (
    BETA,
    CHAINS,
    HISTOGRAM,
    JOB,
    PUBLIC,
    contents,
    names,
    one_sentence,
    understudy,
)
from understudy import __version__
from understudy.cli.app import app, in_flags, running
from understudy.domain import tables

OPTIONS = {
    "demo": {"--out", "--seed", "--force", "--quiet"},
    "init": {"--out", "--force"},
    "synthesize": {
        "--schema",
        "--model",
        "--out",
        "--mechanism",
        "--epsilon",
        "--adjacency",
        "--rows",
        "--family",
        "--c1",
        "--c2",
        "--bins",
        "--predictors",
        "--sampler",
        "--tables",
        "--parquet",
        "--seed",
        "--accept-poor-mixing",
        "--force",
        "--quiet",
    },
    "sample": {"--rows", "--out", "--predictors", "--model", "--seed", "--force"},
    "compare": {"--schema", "--regression", "--out", "--json", "--force"},
}


@pytest.mark.parametrize("command", OPTIONS)
def test_help_of_each_command_names_its_options(command, tmp_path):
    shown = understudy(command, "--help", cwd=tmp_path)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "Usage: understudy " + command in shown.stdout
    assert set(re.findall(r"--[a-z0-9-]+", shown.stdout)) >= OPTIONS[command]
    assert not names(tmp_path)


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], []])
def test_help_names_every_command(arguments, tmp_path):
    shown = understudy(*arguments, cwd=tmp_path)
    assert (shown.returncode, shown.stderr) == (0, "")
    for command in OPTIONS:
        assert f" {command} " in shown.stdout


def test_it_tells_its_version(tmp_path):
    shown = understudy("--version", cwd=tmp_path)
    assert (shown.returncode, shown.stdout) == (0, f"understudy {__version__}\n")


@pytest.mark.parametrize("stream", ["broken", pytest.param("closed", marks=pytest.mark.slow)])
def test_a_release_stands_even_if_nobody_reads_what_is_printed(desk, stream):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "understudy", "synthesize", "survey.csv", "--schema"]
    command += ["survey.toml", "--out", "out", "--mechanism", "ph", "--epsilon", "2"]
    if stream == "closed":
        command = ["sh", "-c", '"$@" >&-', "sh", *command]
    made = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(writer)
    assert (made.returncode, made.stderr) == (0, b"")
    assert names(desk / "out" / "public") == PUBLIC


def test_an_unknown_command_suggests_the_nearest(says):
    assert "'synthesize'" in says("synthesise")


@pytest.mark.parametrize("place", ["encode", "decode", "read", "write_all"])
def test_an_unforeseen_error_gives_no_value_away(says, survey, monkeypatch, place):
    def fail(*arguments, **keywords):
        raise RuntimeError(f"could not handle {survey.secret}")

    import understudy.domain.frames
    import understudy.domain.reading
    import understudy.synthesis.run

    domain = understudy.domain
    for module in (tables, domain.frames, domain.reading, understudy.synthesis.run):
        if hasattr(module, place):
            monkeypatch.setattr(module, place, fail)
    sentence = says(*JOB, *HISTOGRAM, code=70)
    assert f"unforeseen RuntimeError at {Path(__file__).name}:" in sentence
    assert "could not handle" not in sentence


FULL_DISK = """
import resource, signal
from understudy import cli

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
cli.main()
"""


def started(program, *arguments, cache=None):
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    if cache is not None:
        environment |= {"XDG_CACHE_HOME": str(cache), "MPLCONFIGDIR": str(cache)}
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize(
    "limit",
    [pytest.param(100, id="public", marks=pytest.mark.slow), pytest.param(5000, id="internal")],
)
def test_a_full_disk_leaves_nothing_behind(desk, survey, limit, tmp_path_factory):
    before = contents(desk)
    cache = tmp_path_factory.mktemp("cache")
    process = started(FULL_DISK.format(limit=limit), *JOB, *HISTOGRAM, cache=cache)
    output, said = process.communicate(timeout=60)
    assert (process.returncode, output) == (2, "")
    assert "nothing was released" in one_sentence(said, survey.secret)
    assert contents(desk) == before


@pytest.mark.slow
def test_a_full_disk_spares_an_earlier_release(earlier, survey):
    before = contents(earlier.parent)
    process = started(FULL_DISK.format(limit=100), *JOB, *HISTOGRAM, "--force")
    _, said = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "nothing was released" in one_sentence(said, survey.secret)
    assert contents(earlier.parent) == before


WHILE_SAMPLING = """
import pathlib
from understudy import cli
from understudy.samplers import diagnostics, nuts

diagnostics.LARGEST_RHAT = 0.5
nuts.nuts.__kwdefaults__["largest_blocks"] = 1_000_000
in_threads, calls = nuts._in_threads, []

def announced(tasks, done):
    calls.append(tasks)
    if len(calls) == nuts.ROUNDS + 2:
        pathlib.Path("busy").touch()
    return in_threads(tasks, done)

nuts._in_threads = announced
from understudy.__main__ import main
main()
"""

WHILE_WRITING = """
import pathlib, time
from understudy import cli
from understudy.synthesis import release

def wait(staging):
    pathlib.Path("busy").touch()
    time.sleep(60)

release._settle = wait
from understudy.__main__ import main
main()
"""


@pytest.mark.parametrize(
    ("program", "options", "number"),
    [
        pytest.param(WHILE_WRITING, HISTOGRAM, signal.SIGINT, id="writing-2"),
        *(
            pytest.param(program, options, number, id=f"{name}-{number}", marks=pytest.mark.slow)
            for name, program, options, number in (
                ("writing", WHILE_WRITING, HISTOGRAM, signal.SIGTERM),
                ("sampling", WHILE_SAMPLING, CHAINS, signal.SIGINT),
                ("sampling", WHILE_SAMPLING, CHAINS, signal.SIGTERM),
            )
        ),
    ],
)
def test_an_interruption_leaves_nothing_behind(desk, survey, program, options, number):
    before = contents(desk)
    process = started(program, *JOB, *options)
    deadline = time.monotonic() + 60
    while not (desk / "busy").exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(0.2)
    asked = time.monotonic()
    process.send_signal(number)
    output, said = process.communicate(timeout=30)
    assert time.monotonic() - asked < 10
    assert (process.returncode, output) == (2, "")
    assert one_sentence(said, survey.secret) == "interrupted; nothing was released."
    (desk / "busy").unlink()
    assert contents(desk) == before


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("add `force`.", "add --force."),
        ("accept it with `accept_poor_mixing`.", "accept it with --accept-poor-mixing."),
        ("`priors` and `reference_is`", "--prior and --reference-is"),
        ("`dry_run` of release", "`dry_run` of release"),
        ("use `nothing_like_it` and 'force'", "use `nothing_like_it` and 'force'"),
        ("make one with `Ledger.create`", "make one with 'understudy ledger create'"),
        ("say so with `Ledger.abandon(12)`", "say so with 'understudy ledger abandon LEDGER 12'"),
        ("`No Argument` and ``", "`No Argument` and ``"),
        ("'pay ~ `seed`' and `seed`", "'pay ~ `seed`' and --seed"),
        ("a policy's `seed`, not 'it`s `seed`'", "a policy's --seed, not 'it`s `seed`'"),
    ],
)
def test_only_options_of_the_command_that_runs_are_turned_into_flags(sentence, told):
    command = running(typer.main.get_command(app), ["synthesize", "ledger", "--out", "release"])
    assert in_flags(sentence, command) == told


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["ledger", "create", "ledger.db"], "budget"),
        (["study", "--seed", "1"], "replicates"),
        (["study", "--seed", "1", "application"], "data"),
        (["--version"], "version"),
    ],
)
def test_the_command_that_runs_is_the_last_one_named(arguments, option):
    command = running(typer.main.get_command(app), arguments)
    assert option in [each.name for each in command.params]


def test_what_the_user_wrote_in_backticks_is_repeated_as_it_is(says, desk):
    formula = "salary ~ `seed`"
    told = says(*JOB, *BETA, "--model", formula, "--family", "beta")
    assert told.startswith(f"the formula '{formula}' names 'seed'")
    with (desk / "survey.toml").open("a") as schema:
        schema.write("[[rules]]\nthen = \"`rows` == 'all'\"\n")
    assert "then = \"`rows` == 'all'\": there is no column 'rows'" in says(*JOB, *BETA)


def test_a_group_of_commands_asks_for_one_of_them(says):
    assert says("ledger") == "Missing command. See 'understudy ledger --help'."
