"""`understudy demo`."""

import json

import pytest

from command_line import HISTOGRAM, JOB, contents, guarantee
from understudy import cli, data
from understudy.ledger.ledger import Ledger


@pytest.fixture
def same_schema(desk, capsys):
    """Make a release of the demo's own table and schema by another command."""

    def release(*options):
        where = [data.survey_table(), "--schema", data.survey_schema(), "--out", "mine"]
        given = ["synthesize", *where, *HISTOGRAM, "--quiet", *options]
        assert cli.run([str(each) for each in given]) == 0
        return desk / "mine"

    return release


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


def test_a_release_with_the_demos_schema_is_not_taken_for_a_demo(says, same_schema):
    same_schema()
    assert "'mine' exists already" in says("demo", "--out", "mine")


def test_a_charged_release_is_never_replaced_by_a_demo(says, desk, same_schema):
    Ledger.create(desk / "ledger.db", budget=5.0, adjacency="add-remove")
    release = same_schema("--ledger", "ledger.db")
    assert guarantee(release)["charged"]
    for options in ([], ["--force"]):
        assert "charged to a ledger" in says("demo", "--out", "mine", *options)
    # Not even one that has somehow come by a demo's mark.
    diagnostics = release / "internal" / "diagnostics.json"
    diagnostics.write_text(json.dumps(json.loads(diagnostics.read_text()) | {"demo": True}))
    assert "charged to a ledger" in says("demo", "--out", "mine")


@pytest.mark.slow
def test_a_demo_is_made_again_in_the_same_place(desk):
    assert cli.run(["demo", "--quiet"]) == 0
    before = contents(desk / "understudy-demo")
    assert cli.run(["demo", "--quiet"]) == 0
    assert contents(desk / "understudy-demo") != before
