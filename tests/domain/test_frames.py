"""A table is the same table whichever library holds it."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from understudy.domain.frames import frame_of, name_of
from understudy.domain.schema import Schema
from understudy.domain.tables import encode
from understudy.errors import BadInput

LONG = 2**60 + 1
VALUES = {
    "person": [LONG, LONG + 1, None, LONG],
    "pay": [0.5, None, float("nan"), 3.0],
    "children": [0, 2, None, 1],
    "region": ["north", "süd", None, "north"],
    "member": [True, False, None, True],
    "since": [datetime.date(2020, 1, 1), None, None, datetime.date(2021, 1, 1)],
    "rate": [Decimal("1.5"), Decimal("2"), None, Decimal("2.0")],
}
COLUMNS = {
    "person": {"type": "categorical", "levels": [str(LONG), str(LONG + 1)]},
    "pay": {"type": "continuous", "bounds": [0, 10]},
    "children": {"type": "count", "bounds": [0, 9]},
    "region": {"type": "categorical", "levels": ["north", "süd"]},
    "member": {"type": "binary", "levels": ["true", "false"]},
    "since": {"type": "categorical", "levels": ["2020-01-01", "2021-01-01"]},
    "rate": {"type": "continuous", "bounds": [0, 10]},
}
SCHEMA = Schema.from_dict(
    {
        "columns": {
            name: {"role": "confidential", "missing": "model"} | column
            for name, column in COLUMNS.items()
        }
    }
)
CODED = {
    "person": [0, 1, -1, 0],
    "pay": [0.5, np.nan, np.nan, 3.0],
    "children": [0.0, 2.0, np.nan, 1.0],
    "region": [0, 1, -1, 0],
    "member": [0, 1, -1, 0],
    "since": [0, -1, -1, 1],
    "rate": [1.5, 2.0, np.nan, 2.0],
}


def by_pandas():
    return pd.DataFrame({name: pd.Series(column, dtype=object) for name, column in VALUES.items()})


def by_polars():
    frame = pl.DataFrame(VALUES)
    return frame.with_columns(pl.col("region").cast(pl.Categorical))


def by_arrow():
    return pa.table(VALUES)


@pytest.mark.parametrize("make", [by_pandas, by_polars, by_arrow])
def test_every_library_holds_the_same_table(make):
    coded = encode(frame_of(make()), SCHEMA)
    assert coded.keys() == CODED.keys()
    for name, expected in CODED.items():
        np.testing.assert_array_equal(coded[name], expected, err_msg=name)


def test_a_table_of_pandas_is_not_copied_and_a_file_is_read(tmp_path):
    frame = by_pandas()
    assert frame_of(frame) is frame
    (tmp_path / "t.csv").write_text("code\n007\n")
    for path in (tmp_path / "t.csv", str(tmp_path / "t.csv")):
        assert frame_of(path)["code"].tolist() == ["007"]
        assert name_of(path, "the table") == str(path)
    assert name_of(frame, "the table") == "the table"


def test_what_pandas_noted_about_an_index_takes_no_column_away():
    table = pa.Table.from_pandas(pd.DataFrame({"x": [1, 2]}, index=pd.Index([7, 8], name="id")))
    assert set(frame_of(table).columns) == {"x", "id"}


def test_the_largest_whole_numbers_are_kept():
    table = pl.DataFrame({"x": pl.Series([2**64 - 1, None], dtype=pl.UInt64)})
    assert frame_of(table)["x"][0] == 2**64 - 1


@pytest.mark.parametrize(
    "table",
    [[1, 2], {"x": [0.1234]}, None, pl.LazyFrame({"x": [0.1234]}), pl.Series([0.1234])],
)
def test_what_is_no_table_is_refused_without_its_values(table):
    with pytest.raises(BadInput, match="pandas, Polars or Arrow") as caught:
        frame_of(table)
    assert "0.123" not in str(caught.value)


def test_the_import_is_cheap():
    import subprocess
    import sys

    code = (
        "import sys, understudy.domain.frames\n"
        "heavy = {'narwhals', 'pandas', 'pyarrow', 'polars'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_two_columns_of_one_name_are_refused_in_a_sentence():
    twice = pa.table([pa.array([1]), pa.array([2])], names=["pay", "pay"])
    with pytest.raises(BadInput, match="two columns of the table have the same name"):
        frame_of(twice)
