"""What was combined, as it is printed, as JSON and in a notebook."""

from __future__ import annotations

import json

import pytest
from scipy.stats import t

from understudy.questions.combining import Combined
from understudy.questions.pooled import Pooled

TOLD = Combined(
    name="x<y",
    estimate=2.5,
    standard_error=0.5,
    degrees_of_freedom=8.0,
    lower=1.25,
    upper=3.75,
)
NOT_TOLD = Combined(
    name="z",
    estimate=4.0,
    standard_error=None,
    degrees_of_freedom=None,
    lower=None,
    upper=None,
    problem="it is the same in all tables",
)


def pooled(regression):
    return Pooled(
        question="pay ~ job",
        level=0.9,
        tables=5,
        rows=1200,
        regression=regression,
        estimates=(TOLD, NOT_TOLD),
    )


def test_a_regression_is_printed_as_regressions_are():
    lines = str(pooled(True)).splitlines()
    assert lines[:2] == ["pay ~ job", "combined from 5 tables of 1,200 rows"]
    assert lines[3].split() == ["coef", "std", "err", "t", "P>|t|", "df", "[0.05", "0.95]"]
    chance = 2 * t.sf(5, 8)
    assert lines[5].split() == ["x<y", "2.5", "0.5", "5", f"{chance:.3f}", "8", "1.25", "3.75"]
    assert lines[6].split() == ["z", "4", *"––––––"]
    assert lines[8] == "There is no interval for 'z': it is the same in all tables."
    assert len({len(line) for line in lines[2:8]}) == 1


def test_other_answers_are_not_tested_against_nothing():
    lines = pooled(False).to_text().splitlines()
    assert lines[3].split() == ["estimate", "std", "err", "df", "[0.05", "0.95]"]
    assert lines[5].split() == ["x<y", "2.5", "0.5", "8", "1.25", "3.75"]


def test_programs_read_numbers_and_null():
    read = json.loads(pooled(True).to_json())
    assert read == {
        "question": "pay ~ job",
        "level": 0.9,
        "tables": 5,
        "rows": 1200,
        "estimates": [
            {
                "name": "x<y",
                "estimate": 2.5,
                "standard_error": 0.5,
                "degrees_of_freedom": 8.0,
                "lower": 1.25,
                "upper": 3.75,
            },
            {
                "name": "z",
                "estimate": 4.0,
                "standard_error": None,
                "degrees_of_freedom": None,
                "lower": None,
                "upper": None,
            },
        ],
        "warnings": ["There is no interval for 'z': it is the same in all tables."],
    }


@pytest.mark.parametrize("regression", [True, False])
def test_a_notebook_shows_a_table_in_which_names_are_escaped(regression):
    shown = pooled(regression)._repr_html_()
    assert "<td>x&lt;y</td><td>2.5</td>" in shown
    assert "There is no interval" in shown
