"""The report's section on how far single records reach."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages import (
    Reader,
    tiny_page,
)
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
