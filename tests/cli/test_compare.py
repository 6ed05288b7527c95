"""`understudy compare`: the result is confidential."""

import json

import numpy as np
import pytest

from command_line import mode, run
from understudy import cli
from understudy.domain import tables


@pytest.fixture
def compared(desk):
    """The arguments of `compare` for a table of which half the salaries were halved."""
    frame = tables.read(desk / "survey.csv")[["salary"]].astype(float)
    frame.loc[::2] /= 2
    frame.to_csv(desk / "synthetic.csv", index=False)
    return ["compare", "survey.csv", "synthetic.csv", "--schema", "survey.toml"]


def test_a_comparison_in_words_says_that_it_is_confidential(compared, capsys):
    run(*compared)
    said = capsys.readouterr().out
    assert said.startswith("CONFIDENTIAL")
    assert "max-ECDF" in said
    assert "90th percentile" in said


def test_a_comparison_in_json_has_the_measures(compared, capsys, desk):
    run(*compared, "--json")
    found = json.loads(capsys.readouterr().out)
    assert found["confidential"] is True
    real = tables.read(desk / "survey.csv")["salary"].astype(float).to_numpy()
    made = tables.read(desk / "synthetic.csv")["salary"].astype(float).to_numpy()
    pooled = np.concatenate([real, made])[:, None]
    distance = np.abs((real <= pooled).mean(axis=1) - (made <= pooled).mean(axis=1))
    assert found["utility"]["salary"]["max_ecdf"] == pytest.approx(distance.max())
    assert found["utility"]["salary"]["confidential"]["mean"] == pytest.approx(real.mean())


def test_a_comparison_page_is_for_its_owner_only(compared, desk):
    run(*compared, "--out", "page.html")
    page = desk / "page.html"
    assert mode(page) == 0o600
    assert "CONFIDENTIAL" in page.read_text().upper()
    assert cli.run([*compared, "--out", "page.html"]) == 2
    run(*compared, "--out", "page.html", "--force")


@pytest.fixture
def several(desk):
    """The arguments of `compare` for two releases, whose tables have the same name."""
    frame = tables.read(desk / "survey.csv")
    for name, factor in (("a", 1.0), ("b", 0.5)):
        (desk / name).mkdir()
        scaled = frame.assign(salary=frame["salary"].astype(float) * factor)
        scaled.to_csv(desk / name / "synthetic.csv", index=False)
    files = ["a/synthetic.csv", "b/synthetic.csv"]
    return ["compare", "survey.csv", *files, "--schema", "public.toml"]


REGRESSION = ["--regression", "log(salary) ~ gender + age"]


def test_several_syntheses_are_compared_side_by_side(several, capsys, desk):
    run(*several, *REGRESSION, "--out", "page.html")
    said = capsys.readouterr().out
    assert said.startswith("CONFIDENTIAL")
    assert "[2] b/synthetic.csv" in said
    assert "salary: max-ECDF" in said
    assert "b/synthetic.csv" in (desk / "page.html").read_text()
    run(*several, *REGRESSION, "--json")
    found = json.loads(capsys.readouterr().out)
    assert found["confidential"] is True
    first, second = found["syntheses"]
    assert (first["file"], second["file"]) == ("a/synthetic.csv", "b/synthetic.csv")
    assert first["utility"]["salary"]["max_ecdf"] == 0
    assert [pair["columns"] for pair in first["pairs"]] == [
        ["salary", "gender"], ["salary", "age"], ["gender", "age"],
    ]  # fmt: skip
    assert first["propensity"]["pmse"] < second["propensity"]["pmse"]
    coefficients = {c["name"]: c for c in second["regression"]["coefficients"]}
    shift = coefficients["Intercept"]
    difference = shift["synthetic"]["value"] - shift["confidential"]["value"]
    assert difference == pytest.approx(np.log(0.5))
    assert coefficients["age"]["overlap"] == pytest.approx(1)


def test_a_comparison_that_cannot_be_meant_is_refused(several, compared, capsys):
    assert cli.run([*several, "b/synthetic.csv"]) == 2
    assert "named twice" in capsys.readouterr().err
    assert cli.run([*compared, "--regression", "salary ~ gender"]) == 2
    assert "names 'gender', which is not a confidential or public" in capsys.readouterr().err


def test_a_regression_is_told_in_words(several, capsys):
    one = [argument for argument in several if argument != "b/synthetic.csv"]
    run(*one, *REGRESSION)
    said = capsys.readouterr().out
    assert "log(salary) ~ gender + age" in said
    assert "gender[T.M]" in said
    assert "pMSE" in said
    assert "salary × age" in said


def test_a_comparison_with_a_table_that_does_not_fit(says, desk):
    (desk / "made.csv").write_text("wages\n1\n")
    job = ["compare", "survey.csv", "made.csv", "--schema", "survey.toml", "--out", "page.html"]
    assert "made.csv" in says(*job)


def test_a_place_that_does_not_exist_is_named_before_anything_is_compared(says):
    job = ["compare", "nothing.csv", "made.csv", "--schema", "survey.toml", "--out", "nod/x.html"]
    assert says(*job) == "there is no directory 'nod'."
