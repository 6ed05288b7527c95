"""What is measured of a release stays inside."""

import math

import pandas as pd
import pytest

import understudy as us
from synthesised import ALONE, BETA, TABLE
from understudy.synthesis.measuring import _finite_numbers, earlier_table


@pytest.mark.slow
@pytest.mark.parametrize(("tables", "smallest"), [(1, 400), (100, 1000)])
def test_the_report_shows_the_limits_that_the_gate_held_the_chains_to(tables, smallest):
    """Many tables take many draws that are nearly independent, so the gate asks for more."""
    from understudy.report.sections import convergence

    release = us.synthesize(BETA, TABLE, us.CensorUw(epsilon=1.0), tables=tables, seed=1)
    assert (
        release.internal.diagnostics["limits"].items()
        >= {"rhat": 1.01, "ess_bulk": smallest}.items()
    )
    shown = convergence(release.internal.diagnostics, "nuts")
    assert shown["marks"][:2] == [("R-hat at most", "1.01"), ("ESS at least", f"{smallest:,}")]
    assert not shown["failed"]
    assert f"{smallest:,}" in release.internal.report()


def test_diagnostics_count_the_records_and_hold_the_measures_by_hand():
    ph = us.PerturbedHistogram(epsilon=1.0, bins=4)
    release = us.synthesize(ALONE, TABLE[:90], ph, seed=1)
    inside = release.internal.diagnostics
    assert (inside["n"], inside["rows"]) == (90, 90)
    assert inside["utility"]["x"]["confidential"]["mean"] == TABLE["x"][:90].mean()
    assert inside["utility"]["x"]["synthetic"]["mean"] == release.synthetic["x"].mean()


def test_numbers_that_json_cannot_hold_are_null():
    assert _finite_numbers({"a": {"b": math.inf, "c": 1.5}, "d": math.nan, "e": "x"}) == {
        "a": {"b": None, "c": 1.5},
        "d": None,
        "e": "x",
    }


def test_an_earlier_release_is_compared_and_a_table_of_another_schema_refused(tmp_path):
    TABLE[:3].to_csv(tmp_path / "before.csv", index=False)
    earlier = earlier_table("2025", tmp_path / "before.csv", ALONE)
    assert earlier.label == "2025"
    with pytest.raises(us.BadInput, match="the earlier release has none of the columns"):
        earlier_table("2025", pd.DataFrame({"y": [0.5]}), ALONE)
