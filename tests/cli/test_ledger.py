"""`understudy ledger`."""

import subprocess
import sys

import pytest

from understudy import cli


@pytest.mark.slow
def test_six_commands_at_once_share_a_budget_for_two(desk):
    assert cli.run(["ledger", "create", "l.db", "--budget", "2", "--adjacency", "add-remove"]) == 0
    command = [sys.executable, "-m", "understudy", "synthesize", "survey.csv", "--schema"]
    options = ["survey.toml", "--mechanism", "ph", "--epsilon", "1", "--ledger", "l.db", "--out"]
    runs = [
        subprocess.Popen([*command, *options, f"out-{k}"], stderr=subprocess.PIPE, text=True)
        for k in range(6)
    ]
    said = [run.communicate(timeout=120)[1] for run in runs]
    codes = [run.returncode for run in runs]
    assert sorted(codes) == [0, 0, 3, 3, 3, 3]
    for k, code in enumerate(codes):
        assert (desk / f"out-{k}/public/synthetic.csv").exists() == (code == 0)
        assert ("more than the ledger allows" in said[k]) == (code == 3)
    assert cli.run(["ledger", "verify", "l.db"]) == 0


CREATE = ["ledger", "create", "l.db", "--budget", "2", "--adjacency", "add-remove"]


def test_a_ledger_is_created_shown_and_verified(desk, capsys):
    assert cli.run([*CREATE, "--population", "staff", "--membership", "protected"]) == 0
    assert cli.run(["ledger", "show", "l.db"]) == 0
    told = capsys.readouterr().out
    assert told.count("staff") == 2
    assert cli.run(["ledger", "verify", "l.db"]) == 0
    assert "The ledger is whole" in capsys.readouterr().out
    assert cli.run(CREATE) == 2
    assert "l.db" in capsys.readouterr().err


def test_what_cannot_be_meant_is_refused_in_one_sentence(says):
    assert "--membership must be protected or public" in says(*CREATE, "--membership", "secret")
    without_budget = [*CREATE[:3], *CREATE[5:]]
    assert "--budget is missing (budget: pure ε, or with --delta" in says(*without_budget)
    assert "FILE is missing (ledger file" in says("ledger", "show")
    assert "l.db" in says("ledger", "show", "l.db")


def test_only_a_charge_can_be_abandoned(desk, capsys):
    assert cli.run(CREATE) == 0
    capsys.readouterr()
    assert cli.run(["ledger", "abandon", "l.db", "1"]) == 2
    assert "not a charge" in capsys.readouterr().err
