"""Cells mean the same however a table stores them."""

from datetime import date, datetime

import numpy as np
import pandas as pd
import pytest

from understudy.domain.cells import days, measurable, numbers, text_of
from understudy.domain.schema import Schema

WRITTEN = ["1970-01-02", "", "1969-12-31"]


@pytest.mark.parametrize(
    "series",
    [
        pd.Series(WRITTEN, dtype="str"),
        pd.Series(WRITTEN, dtype=object),
        pd.Series([" 1970-01-02", None, "1969-12-31 "], dtype="str"),
        pd.Series(pd.to_datetime(["1970-01-02", None, "1969-12-31"])),
        pd.Series(pd.to_datetime(["1970-01-02", None, "1969-12-31"])).dt.tz_localize("US/Pacific"),
        pd.Series(pd.to_datetime(["1970-01-02", None, "1969-12-31"])).astype("datetime64[s]"),
        pd.Series([date(1970, 1, 2), None, date(1969, 12, 31)], dtype=object),
        pd.Series([datetime(1970, 1, 2), pd.NaT, datetime(1969, 12, 31)], dtype=object),
        pd.Series(["1970-01-02", None, "1969-12-31"], dtype="category"),
        pd.Series([date(1970, 1, 2), None, date(1969, 12, 31)], dtype="date32[pyarrow]"),
    ],
    ids=lambda series: str(series.dtype),
)
def test_dates_are_read_from_text_moments_at_midnight_and_dates(series):
    values, missing = days(series)
    assert np.array_equal(values, [1.0, np.nan, -1.0], equal_nan=True)
    assert missing.tolist() == [False, True, False]


@pytest.mark.parametrize(
    "series",
    [
        pd.Series(["1970-01-32"]),
        pd.Series(["2 January 1970"]),
        pd.Series(["1970-01-02 00:00:00"], dtype="str"),
        pd.Series([1.0]),
        pd.Series([True]),
        pd.Series(pd.to_datetime(["1970-01-02 00:00:01"])),
        pd.Series([datetime(1970, 1, 2, 12)], dtype=object),
    ],
    ids=lambda series: f"{series.dtype} {series[0]}",
)
def test_what_is_no_day_is_neither_a_day_nor_missing(series):
    values, missing = days(series)
    assert np.isnan(values).all()
    assert not missing.any()


def test_text_and_numbers_are_as_a_csv_file_would_hold_them():
    mixed = pd.Series([1.0, 2.5, True, None, " 3 "], dtype=object)
    assert text_of(mixed).tolist() == ["1", "2.5", "true", "", " 3 "]
    values, missing = numbers(mixed)
    assert np.array_equal(values, [1, 2.5, np.nan, np.nan, 3], equal_nan=True)
    assert missing.tolist() == [False, False, False, True, False]


CODES = {"N": "does not apply", "B": "refused"}
SCHEMA = Schema.from_dict(
    {
        "columns": {
            "pay": {
                "role": "confidential", "type": "continuous", "bounds": [0, 9],
                "missing": "model", "codes": CODES,
            },
            "job": {
                "role": "confidential", "type": "categorical", "levels": ["x", "y"],
                "missing": "model", "codes": CODES,
            },
            "born": {"role": "public", "type": "date", "bounds": ["1960-01-01", "1980-01-01"]},
            "age": {"role": "public", "type": "integer", "bounds": [0, 99]},
        }
    }
)  # fmt: skip
FRAME = pd.DataFrame(
    {
        "pay": ["1.5", "N", "B"],
        "job": ["N", "x", "B"],
        "born": ["1970-01-02", "1970-01-03", "1969-12-31"],
        "age": [1, 2, 3],
    }
)


def test_a_measurable_table_has_days_for_dates_and_nothing_for_codes():
    made = measurable(FRAME, SCHEMA.columns)
    assert np.array_equal(made["pay"], [1.5, np.nan, np.nan], equal_nan=True)
    assert made["job"].isna().tolist() == [True, False, True]
    assert made["born"].tolist() == [1.0, 2.0, -1.0]
    assert made["age"].tolist() == [1, 2, 3]
    assert FRAME["pay"].tolist() == ["1.5", "N", "B"], "what is given stays as it is"


def test_what_is_measurable_stays_as_it_is():
    made = measurable(FRAME, SCHEMA.columns)
    pd.testing.assert_frame_equal(measurable(made, SCHEMA.columns), made)
    plain = FRAME[["age"]]
    assert measurable(plain, SCHEMA.columns) is plain
