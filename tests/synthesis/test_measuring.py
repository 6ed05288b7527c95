"""What is measured of a release stays inside."""

import json
import math

import numpy as np
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


@pytest.mark.slow
def test_a_release_with_dates_and_a_code_is_measured_and_told(tmp_path):
    schema = us.Schema.from_dict(
        {
            "columns": {
                "seen": {"role": "public", "type": "date", "bounds": ["2019-01-01", "2020-12-31"]},
                "age": {"role": "public", "type": "integer", "bounds": [0, 80]},
                "pay": {
                    "role": "confidential", "type": "continuous", "bounds": [0, 10],
                    "missing": "model", "codes": {"N": "does not apply"},
                },
            },
            "rules": [{"if": "age < 15", "then": "pay == 'N'"}],
        }
    )  # fmt: skip
    generator = np.random.default_rng(0)
    age = generator.integers(0, 81, 200)
    pay = np.where(age < 15, "N", generator.uniform(1, 9, 200).round(2).astype(str))
    seen = pd.Timestamp("2019-05-01") + pd.to_timedelta(np.arange(200), unit="D")
    table = pd.DataFrame({"seen": seen, "age": age, "pay": pay})
    model = us.formula("pay ~ seen", family="gaussian", schema=schema)
    mechanism = us.Anchored(epsilon=1.0, stages=1, candidates=256)
    release = us.synthesize(model, table, mechanism, seed=0)
    made = release.synthetic
    young = made["age"] < 15
    assert (made.loc[young, "pay"] == "N").all()
    assert not (made.loc[~young, "pay"] == "N").all()
    assert set(made["seen"]) == set(seen.strftime("%Y-%m-%d"))
    release.write(tmp_path / "out")
    again = us.sample(tmp_path / "out" / "public", rows=50, seed=1)
    assert (again.loc[again["age"] < 15, "pay"] == "N").all()
    diagnostics = json.loads((tmp_path / "out" / "internal" / "diagnostics.json").read_text())
    missing = diagnostics["utility"]["pay"]["missing"]["confidential"]
    assert missing == pytest.approx(np.mean(age < 15))
    assert "2019-01-01 to" in (tmp_path / "out" / "internal" / "report.html").read_text("utf-8")


def test_an_earlier_table_has_days_for_dates_and_nothing_for_codes():
    codes = {"missing": "model", "codes": {"N": "does not apply", "B": "refused"}}
    schema = us.Schema.from_dict(
        {
            "columns": {
                "born": {
                    "role": "confidential", "type": "date", "bounds": ["1970-01-01", "1979-12-31"],
                },
                "pay": {"role": "confidential", "type": "integer", "bounds": [0, 99], **codes},
            }
        }
    )  # fmt: skip
    frame = pd.DataFrame({"born": ["1970-01-02", "1970-01-03"], "pay": ["5", "B"]})
    earlier = earlier_table("2023", frame, schema)
    assert earlier.table["born"].tolist() == [1.0, 2.0]
    assert earlier.table["pay"].isna().tolist() == [False, True]
