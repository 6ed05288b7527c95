"""`understudy audit`."""

import json

import pytest

from understudy import cli

SHARES = """\
[columns.share]
role = "confidential"
type = "continuous"
bounds = [0, 1]
missing = "model"
[columns.answer]
role = "confidential"
type = "binary"
levels = ["no", "yes"]
[columns.group]
role = "public"
type = "categorical"
levels = ["a", "b"]
"""


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


def test_sums_are_audited_with_the_model_that_was_named(desk, capsys):
    (desk / "shares.toml").write_text(SHARES)
    asked = ["audit", "--mechanism", "summary", "--epsilon", "1", "--n", "200"]
    named = ["--model", "joint", "--schema", "shares.toml", "--adjacency", "replace-one"]
    assert cli.run([*asked, *named, "--json", "--figure", "noise.svg"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["largest_log_ratio"] == pytest.approx(1.0)
    assert found["claimed"] == 1.0
    assert "at group = " in found["neighbour"]
    assert [each["kind"] for each in found["rounds"]] == ["table", "table"]
    assert all(each["longest"] <= each["bound"] for each in found["rounds"])
    assert "Density of the noisy sum" in (desk / "noise.svg").read_text()


@pytest.mark.slow
def test_sums_are_audited_with_a_formula(desk, capsys):
    shape = (
        '[columns.y]\nrole = "confidential"\ntype = "continuous"\nbounds = [0, 9]\n'
        '[columns.g]\nrole = "public"\ntype = "binary"\nlevels = ["a", "b"]\n'
    )
    (desk / "pay.toml").write_text(shape)
    formula = ["--model", "y ~ g", "--family", "lognormal", "--schema", "pay.toml"]
    asked = ["audit", "--mechanism", "summary", "--epsilon", "1", "--n", "200"]
    assert cli.run([*asked, *formula, "--prior", "Intercept=normal(0, 1)"]) == 0
    assert "round 2, score:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--mechanism", "censor-uw", "--model", "joint"], "serves the beta model on [0, 1] alone"),
        (["--mechanism", "censor-uw", "--model", "beta", "--schema", "x"], "leave out --model"),
        (["--mechanism", "summary", "--schema", "shares.toml"], "name it with --model"),
        (["--mechanism", "summary", "--model", "joint"], "the model 'joint' needs --schema"),
        (["--mechanism", "summary", "--family", "beta"], "--family and --prior belong to a form"),
        (
            ["--mechanism", "summary", "--model", "jiont", "--schema", "shares.toml"],
            "'jiont' is not a model (did you mean 'joint'?)",
        ),
        (["--mechanism", "summary", "--model", "joint", "--schema", "no.toml"], "no schema file"),
        (["--mechanism", "summary", "--rows-per-unit", "3"], "audited with rows as records"),
        (["--mechanism", "summary", "--record-weights"], "--record-weights is for censor-w"),
        (["--mechanism", "censor-uw", "--no-unit"], "--no-unit means nothing without --rows-per-"),
        (["--mechanism", "censor-uw", "--figure", "no/two.svg"], "there is no directory 'no'"),
        (["--mechanism", "ph"], "nothing to audit"),
        (["--mechanism", "ph", "--record-weights"], "--record-weights is for censor-w"),
        (["--mechanism", "censor-uw", "--n", "9"], "--n must be a number from 10"),
    ],
)
def test_an_audit_that_makes_no_sense(desk, says, options, complaint):
    (desk / "shares.toml").write_text(SHARES)
    assert complaint in says("audit", "--epsilon", "1", *options)
