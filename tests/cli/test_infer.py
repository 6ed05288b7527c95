"""`understudy infer`: answers without the confidential table, or one sentence."""

import json
import shutil

import pytest

from command_line import names, run
from understudy import cli


@pytest.fixture
def released(regression, tmp_path):
    """The public part of a release, alone in an empty directory."""
    return shutil.copytree(regression / "public", tmp_path / "public")


def ask(capsys, *arguments):
    """Return the exit code and what was said."""
    code = cli.run(["infer", *map(str, arguments)])
    return code, capsys.readouterr()


def test_an_answer_needs_the_public_part_alone(released, tmp_path, capsys):
    run("infer", released, "mean(salary) by gender", "--seed", 1)
    said = capsys.readouterr().out
    assert "95% intervals" in said
    assert "due to privacy" in said
    assert names(tmp_path) == {"public"}


def test_json_is_as_the_contract_says(released, capsys):
    code, said = ask(capsys, released, "salary ~ gender", "--json", "--level", 0.9, "--seed", 1)
    assert code == 0
    assert said.err == ""
    found = json.loads(said.out)
    assert found["question"] == "salary ~ gender"
    assert found["level"] == 0.9
    assert found["warnings"] == []
    for each in found["estimates"]:
        assert each["lower"] < each["estimate"] < each["upper"]
        assert 0 <= each["privacy_share"] <= 1


@pytest.mark.parametrize("option", ["--given-predictors", "--finite"])
def test_it_can_be_asked_about_others(released, option, capsys):
    code, said = ask(capsys, released, "mean(salary)", option, "--json", "--seed", 1)
    assert code == 0
    words = {"--given-predictors": "predictors", "--finite": "records of the confidential"}
    assert words[option] in json.loads(said.out)["about"]


def test_it_is_written_where_it_is_asked_for(released, tmp_path, capsys):
    file = tmp_path / "answer.html"
    run("infer", released, "median(salary)", "--out", file, "--seed", 1)
    assert "median(salary)" in file.read_text(encoding="utf-8")
    code, said = ask(capsys, released, "median(salary)", "--out", file)
    assert code == 2
    assert "--force" in said.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["mean(pay)"], "pay"),
        (["mean(salary) by nobody"], "nobody"),
        (["share(gender == 'X')"], "no level 'X'"),
        (["__import__('os').system('true')"], ""),
        (["mean(gender)"], "share"),
        (["mean(salary)", "--level", "2"], "--level"),
        (["mean(salary)", "--given-predictors", "--finite"], "--finite"),
        (["mean(salary)", "--out", "answer.pdf"], ".html"),
        (["mean(salary)", "--model", "nowhere.py:pay"], "--model"),
        ([], "QUESTION"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_a_sentence(released, arguments, words, capsys):
    code, said = ask(capsys, released, *arguments)
    assert code == 2
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "Traceback" not in said.err
    assert words in said.err


def test_a_release_whose_digests_disagree_is_damaged(released, capsys):
    file = released / "parameters.json"
    file.write_text(file.read_text().replace('"size": ', '"size": 1', 1))
    code, said = ask(capsys, released, "mean(salary)")
    assert code == 2
    assert "digest" in said.err


def test_a_place_without_a_release_is_refused(tmp_path, capsys):
    code, said = ask(capsys, tmp_path, "mean(salary)")
    assert code == 2
    assert "does not exist" in said.err
