"""`understudy init`: a draft of a schema."""

from pathlib import Path

from command_line import run
from understudy import cli


def test_a_draft_names_the_columns_and_learns_nothing_else(desk, survey):
    run("init", "survey.csv", "-o", "draft.toml")
    text = Path("draft.toml").read_text()
    for name in ("salary", "gender", "age"):
        assert f"[columns.{name}]" in text
    assert survey.secret not in text
    assert "120" not in text
    assert text.count('= "FILL IN"') == 1 + 3 * 3


def test_a_draft_is_called_after_its_table_and_overwritten_only_by_force(desk, capsys):
    Path("survey.toml").unlink()
    run("init", "survey.csv")
    Path("survey.toml").write_text("mine")
    assert cli.run(["init", "survey.csv"]) == 2
    assert Path("survey.toml").read_text() == "mine"
    run("init", "survey.csv", "--force")
    assert "FILL IN" in Path("survey.toml").read_text()


def test_a_draft_of_a_table_that_is_not_there(says):
    assert "there is no file" in says("init", "nothing.csv")


def test_a_place_that_does_not_exist_is_named_before_the_table_is_read(says):
    assert says("init", "nothing.csv", "-o", "nod/x.toml") == "there is no directory 'nod'."
