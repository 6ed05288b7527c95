"""The report's section on how far single records reach."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages import STRICT, Reader, tiny_page
from understudy.inference.check import Check
from understudy.report import influence


def test_censored_records_are_counted_by_tenths_of_the_outcome():
    values = np.arange(100.0)
    score = np.where(values < 15, 2.0, 1.0)
    rows = influence.censored_where(score, values, 2.0)
    assert len(rows) == 10
    assert sum(int(row[1]) for row in rows) == 100
    assert sum(int(row[2]) for row in rows) == 15
    assert rows[0][-1] == "100%"
    assert rows[-1] == ("90 to 99", "10", "0", "0%")


@given(st.lists(st.integers(0, 4), min_size=1, max_size=40))
def test_equal_outcomes_are_never_parted(values):
    sample = np.array(values, dtype=np.float64)
    rows = influence.censored_where(np.ones(sample.size), sample, 1.0)
    assert sum(int(row[1]) for row in rows) == sample.size
    seen = [float(edge) for row in rows for edge in row[0].split(" to ")]
    assert seen == sorted(seen)
    assert len(seen) == len(set(seen))


@pytest.mark.parametrize(
    ("score", "bound"), [(None, 1.0), (np.ones(3), None), (np.ones(3), np.inf), (np.ones(3), 2.0)]
)
def test_where_nothing_is_censored_nothing_is_counted(score, bound):
    assert influence.censored_where(score, np.arange(3.0), bound) == []


def test_the_report_says_where_records_were_censored():
    page = tiny_page(largest_score=np.ones(3), bound=1.0, outcome=("pay", np.arange(3.0)))
    assert "Where records were censored, by their pay" in Reader(page.render()).text


MEASURED = replace(STRICT, mechanism="summary", sampler="none", stages=2, measured_once=True)
SUMMARY = {
    "rounds": [
        {"kind": "table", "entries": 24, "epsilon": 0.3, "noise_sd": 4.7},
        {"kind": "score", "entries": 2, "epsilon": 0.7, "noise_sd": 5.1},
    ],
    "dimension": 5,
    "directions": 2,
    "misfit": {"chi2": 20.0, "entries": 26, "p_value": 0.4, "warning": None},
    "fit": {"attempts": 1, "steps": 9, "settled": True},
}


def test_a_summary_says_what_was_measured_and_what_was_left_to_the_prior():
    told = influence.measured(SUMMARY)
    assert told["rounds"] == [("1", "table", "24", "0.3", "4.7"), ("2", "score", "2", "0.7", "5.1")]
    assert told["left_out"] == 3
    assert told["warning"] is None


def test_what_the_check_warns_of_is_told():
    told = influence.measured(SUMMARY | {"misfit": SUMMARY["misfit"] | {"warning": "No fit."}})
    assert told["warning"] == "No fit."


def test_rounds_with_normal_noise_are_told_by_their_rho():
    rounds = [each | {"epsilon": None, "rho": 0.01} for each in SUMMARY["rounds"]]
    told = influence.measured(SUMMARY | {"rounds": rounds})
    assert told["price"] == "ρ"
    assert [each[3] for each in told["rounds"]] == ["0.01", "0.01"]
    assert influence.measured(SUMMARY)["price"] == "ε"


def test_other_mechanisms_have_measured_nothing():
    assert influence.measured({}) is None


def test_the_report_shows_what_was_measured():
    text = " ".join(Reader(tiny_page(diagnostics=SUMMARY).render()).words)
    assert "Of 5 directions of the parameters 3 were left to the prior" in text
    assert "no strong reason to doubt the model" in text
    assert "fit as badly, or worse, in 40% of cases" in text
    assert "whatever it holds" in text


def test_the_report_of_a_summary_is_not_about_single_records():
    """No record reaches further than its bound, and there is no score to show."""
    text = " ".join(Reader(tiny_page(diagnostics=SUMMARY, guarantee=MEASURED).render()).words)
    assert "What was measured, and how the model fits" in text
    for told in ("How far single records reach", "Lipschitz", "Weights", "Sampler"):
        assert told not in text
        assert told in " ".join(Reader(tiny_page().render()).words)


def test_the_report_of_a_model_that_does_not_fit_says_so():
    unlikely = SUMMARY | {"misfit": Check(90.0, 26, 1e-5, 0.5).to_dict()}
    text = " ".join(Reader(tiny_page(diagnostics=unlikely).render()).words)
    assert "can hardly have produced what was measured" in text
    assert "fewer than 1 in 100,000 would fit as badly" in text
