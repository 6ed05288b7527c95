"""Dates are numbers of days, and back."""

import doctest
from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.domain import dates
from understudy.domain.dates import FIRST, LAST, day_in, day_of, iso


def test_the_examples_hold():
    assert doctest.testmod(dates).failed == 0


@given(st.dates())
def test_every_date_comes_back_from_its_number(day):
    assert iso(day_of(day)) == day.isoformat()
    assert day_in(day.isoformat()) == day_of(day)


def test_the_first_and_the_last_day_can_be_written():
    assert iso(FIRST) == "0001-01-01"
    assert iso(LAST) == "9999-12-31"


def test_a_time_of_day_counts_for_nothing():
    assert day_of(datetime(1970, 1, 3, 23, 59)) == day_of(date(1970, 1, 3)) == 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "20190131",
        "2019-W01-1",
        "2019-1-31",
        "2019-02-29",
        "31.01.2019",
        "2019-01-31 ",
        "٢٠١٩-٠١-٠١",
    ],
)
def test_what_is_not_written_as_a_date_is_none(text):
    assert day_in(text) is None
