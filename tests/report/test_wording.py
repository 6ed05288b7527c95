"""Numbers as people read them."""

from __future__ import annotations

import doctest

import pytest

from understudy.domain.column import Column, Role, Type
from understudy.report import wording


def test_the_examples_of_the_wording_hold():
    assert doctest.testmod(wording).failed == 0


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (999.96, "1,000"),
        (-1234.5, "−1,234"),
        (0.0, "0"),
        (-0.0, "0"),
        (1e15, "1×10¹⁵"),
        (float("inf"), "∞"),
        (float("nan"), "–"),
    ],
)
def test_numbers_at_the_edges_are_still_readable(number, text):
    assert wording.readable(number) == text


BORN = Column("born", Role.PUBLIC, Type.DATE, bounds=(0.0, 9999.0))
AGE = Column("age", Role.PUBLIC, Type.INTEGER, bounds=(0.0, 99.0))


def test_values_of_a_column_of_dates_are_written_as_dates():
    assert wording.value_of(BORN, 1.0) == "1970-01-02"
    assert wording.value_of(BORN, float("nan")) == wording.NOTHING
    assert wording.value_of(AGE, 1.0) == "1"
    assert wording.span_of(BORN, 0, 31) == "1970-01-01 to 1970-02-01"
    assert wording.span_of(AGE, 7, 7) == "7"
    assert wording.along(BORN) == "born (days since 1970-01-01)"
    assert wording.along(AGE) == "age"


def test_dates_differ_by_days_and_not_by_per_cent():
    row = wording.value_row(BORN, "Median", 0, 31)
    assert row == ("Median", "1970-01-01", "1970-02-01", "+31 days", "–")
    assert wording.value_row(AGE, "Mean", 50, 51) == wording.number_row("Mean", 50, 51)
