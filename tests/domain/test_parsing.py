"""Codes of missing values and dates in rules; the rest is in `test_expressions.py`."""

import numpy as np
import pytest

from understudy.domain.expressions import (
    Constant,
    Junction,
    Missing,
    Not,
    Relation,
    compared,
    explained,
    named,
    truth,
)
from understudy.domain.parsing import parse
from understudy.domain.schema import Schema
from understudy.errors import BadInput

CODES = {"missing": "model", "codes": {"N": "does not apply", "B": "refused", "9": "unknown"}}
TWO = {"missing": "model", "codes": {"N": "does not apply", "B": "refused"}}
SCHEMA = Schema.from_dict(
    {
        "columns": {
            "pay": {"role": "confidential", "type": "integer", "bounds": [0, 99], **TWO},
            "job": {"role": "confidential", "type": "categorical", "levels": ["x", "y"], **CODES},
            "born": {"role": "public", "type": "date", "bounds": ["1970-01-01", "1979-12-31"]},
            "wed": {"role": "public", "type": "date", "bounds": ["1970-01-01", "1999-12-31"]},
            "age": {"role": "public", "type": "integer", "bounds": [0, 99]},
        }
    }
)
COLUMNS = {column.name: column for column in SCHEMA.columns}
CODED = {
    "pay": np.array([5.0, np.nan, np.nan]),
    "pay (why missing)": np.array([-1, 1, 0]),
    "job": np.array([0, -3, -1]),
    "born": np.array([1.0, 2.0, 3.0]),
    "wed": np.array([1.0, 1.0, 9.0]),
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pay == 'N'", [False, False, True]),
        ("'B' == pay", [False, True, False]),
        ("pay != 'N'", [True, True, False]),
        ("pay in ('N', 'B')", [False, True, True]),
        ("pay not in ('N', 'B')", [True, False, False]),
        ("job == 'N'", [False, False, True]),
        ("job == 9", [False, True, False]),
        ("job in ('x', '9')", [True, True, False]),
        ("not pay == 'N' and job != 'N'", [True, True, False]),
        ("born >= '1970-01-03'", [False, True, True]),
        ("'1970-01-03' > born", [True, False, False]),
        ("born in ('1970-01-02', '1970-01-04')", [True, False, True]),
        ("born <= wed", [True, False, True]),
        ("wed - born <= 5", [True, True, False]),
    ],
)
def test_codes_and_dates_are_compared(text, expected):
    assert truth(parse(text, COLUMNS), CODED).tolist() == expected


def test_a_code_is_about_why_a_value_is_missing_and_not_about_the_value():
    node = parse("pay == 'N' and age > 3", COLUMNS)
    assert set(named(node)) == {"pay", "age"}
    assert set(compared(node)) == {"age"}
    assert set(explained(node)) == {"pay"}
    assert parse("pay == 'B'", COLUMNS) == Missing("pay", 1, "pay (why missing)")
    assert parse("job != 'N'", COLUMNS) == Not(Missing("job", 0, None))


def test_one_code_alone_can_be_set_and_one_number_cannot():
    assert isinstance(parse("pay in ('N',)", COLUMNS), Missing)
    assert isinstance(parse("age in (3,)", COLUMNS), Junction)
    assert isinstance(parse("job in ('x', 'x')", COLUMNS), Relation)


def test_a_date_is_the_number_of_its_day():
    assert parse("born == '1970-01-03'", COLUMNS).right == Constant(2.0)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("pay < 'N'", "codes of 'pay' have no order"),
        ("pay == 'M'", "'pay' holds numbers, and has no code 'M'"),
        ("job == 'Z'", "'job' has no level 'Z'"),
        ("age == 'N'", "numbers with text"),
        ("pay + 1 == 'N'", "numbers with text"),
        ("born > 3", "'born' holds dates"),
        ("born == -3", "'born' holds dates"),
        ("born == True", "'born' holds dates"),
        ("born == 'May'", "'born' holds dates"),
        ("born in ('1970-01-03', 4)", "'born' holds dates"),
        ("born + 1 == '1970-01-03'", "numbers with text"),
        ("age == '1970-01-03'", "numbers with text"),
    ],
)
def test_other_comparisons_are_refused_with_a_reason(text, reason):
    with pytest.raises(BadInput, match=reason):
        parse(text, COLUMNS)
