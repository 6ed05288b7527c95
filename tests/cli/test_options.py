"""What several commands take."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from understudy.cli.options import Exit, check_new, say_where, tell
from understudy.errors import BadInput


@pytest.mark.parametrize(
    "command",
    [
        ["init", "survey.csv", "-o", "mine.txt"],
        ["sample", "public", "--rows", "9", "-o", "mine.csv"],
        ["compare", "survey.csv", "survey.csv", "--schema", "survey.toml", "--out", "mine.txt"],
    ],
)
def test_a_file_that_exists_is_not_overwritten(says, desk, command):
    mine = command[-1]
    (desk / mine).write_text("years of work")
    sentence = says(*command)
    assert f"'{mine}' exists already" in sentence
    assert "with --out, or add --force" in sentence


def test_where_a_release_is_is_told_and_nobody_need_listen(capsys, monkeypatch):
    made = SimpleNamespace(warning=None, guarantee=SimpleNamespace(headline="Strict."))
    say_where(Path("out"), made)
    told = capsys.readouterr()
    assert told.out.startswith("Strict.\n\nsynthetic table  out/public/synthetic.csv\n")
    assert told.out.endswith("report           out/internal/report.html  (confidential)\n")
    assert told.err == ""
    made.warning = "The model fits badly."
    say_where(Path("out"), made)
    assert capsys.readouterr().err == "Warning: The model fits badly.\n"

    def broken(text):
        raise BrokenPipeError

    monkeypatch.setattr("understudy.cli.options.typer.echo", broken)
    tell("nobody listens")


def test_a_new_file_may_be_written_and_an_old_one_by_force(tmp_path):
    check_new(tmp_path / "page.html", force=False, what="file")
    (tmp_path / "page.html").touch()
    check_new(tmp_path / "page.html", force=True, what="file")
    with pytest.raises(BadInput, match="name another page with `out`, or add `force`"):
        check_new(tmp_path / "page.html", force=False, what="page")


def test_exit_codes_are_as_documented():
    assert {each.name: int(each) for each in Exit} == {
        "DONE": 0,
        "VIOLATION": 1,
        "BAD_INPUT": 2,
        "REFUSED": 3,
        "BUG": 70,
    }
