"""Codes of missing values cannot be taken for values, and their kinds are told apart."""

import numpy as np
import pytest

from understudy.domain.kinds import MOST_CODES, check_codes, kinds_of, of_kind, why_missing
from understudy.errors import BadInput


@pytest.mark.parametrize("codes", [("N",), ("N", ""), (" ", "-"), tuple("abcdefghijklmnopqrst")])
@pytest.mark.parametrize("numeric", [False, True])
def test_texts_that_are_no_values_are_allowed(codes, numeric):
    check_codes(codes, () if numeric else ("x", "y"), numeric=numeric)


@pytest.mark.parametrize(
    ("codes", "numeric", "said"),
    [
        (("x",), False, "both as a level and as a code"),
        (("N", "N"), False, "twice"),
        (("-9",), True, "could be a value"),
        ((" 7e3 ",), True, "could be a value"),
        (("2019-01-31",), True, "could be a value"),
        (tuple(f"c{k}" for k in range(MOST_CODES + 1)), True, f"more than {MOST_CODES}"),
    ],
)
def test_other_codes_are_refused(codes, numeric, said):
    with pytest.raises(BadInput, match=said):
        check_codes(codes, ("x", "y"), numeric=numeric)


def test_a_number_may_be_a_code_among_levels():
    check_codes(("-9",), ("1", "2"), numeric=False)


def test_kinds_of_missing_numbers_are_in_a_companion_and_those_of_levels_in_their_codes():
    columns = {
        "pay": np.array([1.0, np.nan, np.nan, 4.0]),
        why_missing("pay"): np.array([-1, 1, 0, -1]),
        "job": np.array([0, -1, -2, 1]),
    }
    assert kinds_of(columns, "pay").tolist() == [-1, 1, 0, -1]
    assert of_kind(columns, "pay", 1).tolist() == [False, True, False, False]
    assert of_kind(columns, "job", 0).tolist() == [False, True, False, False]
    assert of_kind(columns, "job", 1).tolist() == [False, False, True, False]


def test_without_a_companion_what_is_missing_is_of_the_first_kind():
    columns = {"pay": np.array([1.0, np.nan])}
    assert kinds_of(columns, "pay").tolist() == [-1, 0]
    assert of_kind(columns, "pay", 0).tolist() == [False, True]


def test_a_companion_says_nothing_about_values_that_are_there():
    columns = {"pay": np.array([1.0]), why_missing("pay"): np.array([1])}
    assert kinds_of(columns, "pay").tolist() == [-1]
