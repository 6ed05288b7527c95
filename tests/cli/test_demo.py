"""`understudy demo`."""

from command_line import HISTOGRAM, JOB, contents
from understudy import cli


def test_the_demo_does_not_replace_a_release_of_something_else(desk, capsys):
    place = [*JOB[:-1], "understudy-demo"]
    assert cli.run([*place, *HISTOGRAM, "--quiet"]) == 0
    before = contents(desk)
    assert cli.run(["demo"]) == 2
    assert "exists already" in capsys.readouterr().err
    assert contents(desk) == before


def test_it_refuses_a_place_before_anything_is_fitted(says, desk):
    (desk / "mine").write_text("years of work")
    assert "'mine' exists already" in says("demo", "--out", "mine")
