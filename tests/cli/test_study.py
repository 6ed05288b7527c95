"""`understudy study`: what it takes, and what it refuses before anything is computed."""

import re

import pytest

from understudy import cli


@pytest.mark.parametrize(
    ("command", "options"),
    [
        (["study"], {"--replicates", "--seed", "--workers", "--scheduler", "--sampler", "--out"}),
        (["study", "application"], {"--data", "--seed", "--out", "--quiet"}),
    ],
)
def test_help_names_the_options(command, options, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    assert cli.run([*command, "--help"]) == 0
    assert set(re.findall(r"--[a-z-]+", capsys.readouterr().out)) >= options


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--replicates", "0"], "replicates"),
        (["--sampler", "gibbs"], "sampler"),
        (["--workers", "none"], "--workers"),
        (["application", "--data", "nothing.csv"], "nothing.csv"),
    ],
)
def test_a_study_that_makes_no_sense(says, arguments, complaint):
    assert complaint in says("study", *arguments)
