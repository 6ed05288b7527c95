"""`understudy audit`."""

import json

import pytest

from understudy import cli


def test_the_audit_tells_a_broken_claim_by_its_exit_code(desk, capsys):
    sound = ["audit", "--mechanism", "censor-uw", "--epsilon", "3", "--n", "200", "--json"]
    assert cli.run([*sound, "--figure", "two.svg"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) >= {
        "mechanism", "adjacency", "target", "largest_log_ratio", "claimed", "exceeds",
    }  # fmt: skip
    assert 2.9 < found["largest_log_ratio"] <= 3.0 + 1e-6
    assert (desk / "two.svg").read_text().count("<svg") == 1
    assert cli.run(["audit", "--mechanism", "censor-w", "--epsilon", "3", "--n", "200"]) == 1
    assert "no number" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--mechanism", "censor-uw", "--model", "joint"], "serves the beta model, not 'joint'"),
        (["--mechanism", "censor-uw", "--no-unit"], "--no-unit means nothing without --rows-per-"),
        (["--mechanism", "censor-uw", "--figure", "no/two.svg"], "there is no directory 'no'"),
        (["--mechanism", "ph"], "nothing to audit"),
        (["--mechanism", "ph", "--record-weights"], "record weights belong to censor-w"),
        (["--mechanism", "censor-uw", "--n", "9"], "--n must be a number from 10"),
    ],
)
def test_an_audit_that_makes_no_sense(says, options, complaint):
    assert complaint in says("audit", "--epsilon", "1", *options)
