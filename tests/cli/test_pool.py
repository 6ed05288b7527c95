"""`understudy pool`: tables of one release, and a question."""

import json

import pytest

from command_line import contents, histogram, one_sentence, synthesize
from understudy import cli


@pytest.fixture(scope="module")
def files(survey, tmp_path_factory):
    """The tables of a release by summary."""
    directory = survey.write(tmp_path_factory.mktemp("pool"))
    made = synthesize(directory, "out", "--model", "beta", "--epsilon", 2, "--tables", 5)
    public = made / "public"
    return [
        str(public / "synthetic.csv"),
        *(str(public / f"synthetic-{k}.csv") for k in range(2, 6)),
    ]


def test_intervals_are_printed_as_a_table_and_as_json(files, capsys):
    assert cli.run(["pool", *files, "mean(salary)"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("mean(salary)\ncombined from 5 tables of 1,200 rows\n")
    assert cli.run(["pool", *files, "mean(salary)", "--json", "--level", "0.8"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["question"], told["level"], told["warnings"]) == ("mean(salary)", 0.8, [])
    (answer,) = told["estimates"]
    assert answer["name"] == "mean(salary)"
    assert answer["lower"] < answer["estimate"] < answer["upper"]
    assert f"{answer['estimate']:.6g}" in text


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        ("mean(salery)", "did you mean 'salary'?"),
        ("share(gender == 'F')", "has the role 'ignore'"),
        ("salary ~ __import__('os').getpid()", "invalid syntax"),
        ("nonsense", "is not understood"),
    ],
)
def test_a_question_that_cannot_be_meant_is_answered_in_one_sentence(files, ask, sentence, capsys):
    assert cli.run(["pool", *files, ask]) == 2
    assert sentence in one_sentence(capsys.readouterr().err, "secret")


def test_the_question_comes_last_and_tables_are_several(files, capsys):
    assert cli.run(["pool", *files]) == 2
    assert "what comes last must be a question" in capsys.readouterr().err
    assert cli.run(["pool", files[0], "mean(salary)"]) == 2
    assert "one table alone" in capsys.readouterr().err
    assert cli.run(["pool", "mean(salary)"]) == 2
    assert "one table alone" in capsys.readouterr().err
    assert cli.run(["pool", *files, "mean(salary)", "--level", "95"]) == 2
    assert "--level must be a number between 0 and 1" in capsys.readouterr().err


def test_tables_without_a_rule_are_refused(desk, capsys):
    public = histogram(desk, "out", "--tables", 2) / "public"
    before = contents(desk)
    tables = [str(public / "synthetic.csv"), str(public / "synthetic-2.csv")]
    assert cli.run(["pool", *tables, "mean(salary)"]) == 3
    assert "no rule is known by which analyses of tables by ph" in capsys.readouterr().err
    assert contents(desk) == before
