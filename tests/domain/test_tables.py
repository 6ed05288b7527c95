"""Tables survive the way to disk and back, and what does not fit the schema is refused."""

import datetime
import math
import time
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refusals import refusal
from understudy.domain import tables, writing
from understudy.domain.schema import Role, Schema
from understudy.errors import BadInput

SCHEMA = Schema.from_dict(
    {
        "columns": {
            "salary": {"role": "confidential", "type": "continuous", "bounds": [0, 600000]},
            "children": {"role": "confidential", "type": "count", "bounds": [0, 20]},
            "gender": {"role": "public", "type": "categorical", "levels": ["F", "M"]},
            "grade": {"role": "public", "type": "categorical", "levels": [1, 2, "03"]},
            "id": {"role": "ignore"},
        }
    }
)
RECORDS = {
    "salary": ["1000.5", "2000", "3e3"],
    "children": ["0", "2", "20"],
    "gender": ["F", "M", "F"],
    "grade": ["1", "03", "2"],
    "id": ["a", "", "c"],
}


def one_column(type_, **keys):
    return Schema.from_dict({"columns": {"x": {"role": "confidential", "type": type_, **keys}}})


NUMBER = one_column("continuous", bounds=[-1000, 1000])
WHOLE = one_column("integer", bounds=[-1000, 1000])
CLAMPED = one_column("continuous", bounds=[0, 10], outside="clamp")


def frame_with(**columns):
    return pd.DataFrame(RECORDS | columns)


def encoded(values, schema):
    return tables.encode(pd.DataFrame({"x": values}), schema)["x"]


# Law: a synthetic table survives the way to disk and back.


def whole_bounds(lowest):
    return st.tuples(st.integers(lowest, 2**53), st.integers(lowest, 2**53))


@st.composite
def domains(draw):
    """A column of any declaration, and values that fit it."""
    type_ = draw(st.sampled_from(["continuous", "integer", "count", "categorical", "binary"]))
    size = draw(st.shared(st.integers(1, 5), key="records"))
    if type_ in ("categorical", "binary"):
        text = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=4)
        level = text.filter(lambda level: "\ufeff" not in level and level.strip() != "FILL IN")
        most = 2 if type_ == "binary" else 4
        levels = draw(st.lists(level, min_size=2, max_size=most, unique=True))
        codes = st.integers(0, len(levels) - 1)
        values = np.array(draw(st.lists(codes, min_size=size, max_size=size)), dtype=np.int64)
        return {"type": type_, "levels": levels}, values
    ends = {
        "continuous": st.tuples(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300)),
        "integer": whole_bounds(-(2**53)),
        "count": whole_bounds(0),
    }[type_]
    lower, upper = sorted(draw(ends.filter(lambda pair: pair[0] != pair[1])))
    inside = st.floats(lower, upper) if type_ == "continuous" else st.integers(lower, upper)
    values = np.array(draw(st.lists(inside, min_size=size, max_size=size)), dtype=np.float64)
    return {"type": type_, "bounds": [lower, upper]}, values


@st.composite
def synthetic_tables(draw):
    name = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=4)
    names = draw(st.lists(name.filter(lambda n: "\ufeff" not in n), min_size=1, unique=True))
    layout, columns = {}, {}
    for name in names[:4]:
        declared, columns[name] = draw(domains())
        layout[name] = {"role": draw(st.sampled_from(["confidential", "public"]))} | declared
    return Schema.from_dict({"columns": layout}), columns


@given(synthetic_tables())
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=150)
def test_every_synthetic_table_survives_memory_csv_and_parquet(tmp_path_factory, table):
    schema, columns = table
    frame = tables.decode(columns, schema)
    assert tuple(frame.columns) == schema.names
    folder = tmp_path_factory.mktemp("law")
    found = [frame]
    for suffix in writing.WRITABLE:
        tables.write(frame, folder / f"t{suffix}")
        found.append(tables.read(folder / f"t{suffix}"))
    for back in (tables.encode(frame, schema) for frame in found):
        assert back.keys() == columns.keys()
        for name in columns:
            assert back[name].dtype == columns[name].dtype
            assert np.array_equal(back[name], columns[name])


@given(st.integers(1, 60))
def test_public_points_are_coded_as_encode_codes_them(count):
    points = SCHEMA.public_points(count)
    again = tables.encode(tables.decode(points, SCHEMA), SCHEMA)
    assert again.keys() == points.keys()
    for name, values in points.items():
        assert np.array_equal(again[name], values)
        assert again[name].dtype == values.dtype


# Encoding.


def test_text_is_encoded_by_the_schema():
    columns = tables.encode(frame_with(), SCHEMA)
    assert {name: list(values) for name, values in columns.items()} == {
        "salary": [1000.5, 2000.0, 3000.0],
        "children": [0.0, 2.0, 20.0],
        "gender": [0, 1, 0],
        "grade": [0, 2, 1],
    }
    assert {name: values.dtype for name, values in columns.items()} == {
        "salary": np.float64,
        "children": np.float64,
        "gender": np.int64,
        "grade": np.int64,
    }


def test_only_the_wanted_roles_are_needed_and_returned():
    frame = frame_with()
    assert list(tables.encode(frame, SCHEMA, roles=(Role.PUBLIC,))) == ["gender", "grade"]
    without = frame.drop(columns=["salary", "children", "id"])
    assert list(tables.encode(without, SCHEMA, roles=(Role.PUBLIC,))) == ["gender", "grade"]
    assert "no column 'salary'" in refusal(tables.encode, without, SCHEMA)
    assert list(tables.encode(frame, SCHEMA, roles=(Role.PUBLIC, Role.IGNORE))) == [
        "gender",
        "grade",
    ]


def test_an_undeclared_column_is_refused_and_the_nearest_name_is_suggested():
    sentence = refusal(tables.encode, frame_with(salery=["1", "2", "3"]), SCHEMA, name="t.csv")
    assert sentence == (
        "t.csv has a column 'salery' that the schema does not declare (did you mean 'salary'?); "
        "declare it, with role = 'ignore' if it is not wanted."
    )


def test_a_table_without_a_header_does_not_betray_its_first_record():
    frame = pd.DataFrame([["4321", "M"]], columns=["1234", "F"])
    sentence = refusal(tables.encode, frame, SCHEMA)
    assert "header" in sentence
    assert "1234" not in sentence


@pytest.mark.parametrize(
    "values",
    [
        ["1", "", "3", ""],
        ["1", None, "3", None],
        [1.0, math.nan, 3.0, math.nan],
        [1, None, 3, "NaT"],
        pd.array([1, None, 3, None], dtype="Int64"),
        pd.array([True, None, False, None], dtype="boolean"),
        pd.Categorical(["1", None, "3", None]),
        pd.to_datetime(["2020-01-01", None, "2020-01-01", None]),
        pd.Series([Decimal(1), Decimal("NaN"), Decimal(3), Decimal("NaN")]),
        pd.Series([1, pd.NA, 3, pd.NaT], dtype=object),
        pd.Series([1, math.nan, 3, None], dtype=object),
    ],
)
@pytest.mark.parametrize("schema", [NUMBER, one_column("categorical", levels=[1, 3, "true"])])
def test_missing_values_are_refused_in_every_disguise(values, schema):
    sentence = refusal(encoded, values, schema)
    assert "row 2" in sentence
    assert "column 'x' of the table is missing" in sentence


@pytest.mark.parametrize(
    "value",
    [
        *["12a", "nan", "NA", "inf", "-Infinity", "1e999", "1,5", "1_0", "0x1F", " ", "1 2", "٣"],
        *[math.inf, -math.inf, True, b"1", datetime.date(2020, 1, 1), [1], np.array([1.0]), 1j],
    ],
)
@pytest.mark.parametrize("schema", [NUMBER, WHOLE, CLAMPED])
def test_what_is_not_a_finite_number_is_refused(value, schema):
    values = pd.Series(["1", value, "2", value], dtype=object)
    sentence = refusal(encoded, values, schema)
    assert sentence.startswith(
        "the value in row 2 (and in others) of column 'x' of the table is not a finite number"
    )


@pytest.mark.parametrize("values", [[1.0, math.inf], [True, False], [1j, 2j]])
def test_what_is_stored_as_no_finite_number_is_refused(values):
    assert "is not a finite number" in refusal(encoded, values, CLAMPED)


@pytest.mark.parametrize("text", ["5", "+5", "5.", " 5 ", "0.5e1", "50E-1", "005", "5.000"])
def test_numbers_may_be_written_in_several_ways(text):
    assert list(encoded([text], NUMBER)) == [5.0]
    assert list(encoded([text], WHOLE)) == [5.0]


@given(st.lists(st.floats(-1000, 1000), min_size=1))
def test_text_becomes_the_nearest_number(values):
    assert list(encoded([repr(value) for value in values], NUMBER)) == values
    assert list(encoded(pd.Series(values, dtype=object), NUMBER)) == values


@pytest.mark.parametrize(
    "values",
    [
        np.array([1, 2], dtype=np.int8),
        np.array([1, 2], dtype=np.uint64),
        np.array([1, 2], dtype=np.float32),
        pd.array([1, 2], dtype="Int64"),
        pd.array([1, 2], dtype="Float32"),
        pd.array([1, 2], dtype="int64[pyarrow]"),
        pd.array(["1", "2"], dtype="string"),
        pd.Categorical([1, 2]),
        pd.Categorical(["1", "2"]),
        pd.Series([1, 2.0], dtype=object),
        pd.Series([Decimal("1.00"), Decimal(2)], dtype=object),
    ],
)
def test_typed_sources_give_the_same_numbers_and_the_same_levels(values):
    assert list(encoded(values, WHOLE)) == [1.0, 2.0]
    assert list(encoded(values, one_column("categorical", levels=[2, 1]))) == [1, 0]


@pytest.mark.parametrize(
    "values",
    [
        [True, False],
        pd.array([True, False], dtype="boolean"),
        pd.Series([True, False], dtype=object),
        pd.Categorical([True, False]),
        ["true", "false"],
    ],
)
def test_booleans_are_the_levels_true_and_false(values):
    assert list(encoded(values, one_column("binary", levels=[False, True]))) == [1, 0]
    assert "declared levels" in refusal(encoded, values, one_column("binary"))


def test_dates_match_levels_that_are_written_like_them():
    days = pd.Series([datetime.date(2020, 1, 2), datetime.date(2020, 1, 1)], dtype=object)
    schema = one_column("categorical", levels=["2020-01-01", "2020-01-02"])
    assert list(encoded(days, schema)) == [1, 0]


@pytest.mark.parametrize("values", [["1", "1.5", "2.5"], [1, 1.5, 2.5]])
def test_whole_numbers_must_be_whole_even_where_values_are_clamped(values):
    for schema in (WHOLE, one_column("count", bounds=[0, 1], outside="clamp")):
        assert "row 2 (and in others)" in refusal(encoded, values, schema)
        assert "is not a whole number" in refusal(encoded, values, schema)


@pytest.mark.parametrize("values", [["0", "10", "10.5", "-1", "11"], [0, 10, 10.5, -1, 11]])
def test_values_outside_the_bounds_are_refused_or_clamped_as_declared(values):
    strict = one_column("continuous", bounds=[0, 10])
    sentence = refusal(encoded, values, strict)
    assert "row 3 (and in others) of column 'x'" in sentence
    assert "is outside the declared bounds" in sentence
    assert "10.5" not in sentence
    assert list(encoded(values, CLAMPED)) == [0.0, 10.0, 10.0, 0.0, 10.0]


@pytest.mark.parametrize(
    ("column", "value"), [("salary", ""), ("salary", "-1"), ("children", "0.5"), ("gender", "X")]
)
def test_how_many_rows_offend_is_not_told(column, value):
    def said(times):
        good = RECORDS[column][0]
        wide = {name: [values[0]] * 60 for name, values in RECORDS.items()}
        wide[column] = [good, *[value] * times, *[good] * (59 - times)]
        return refusal(tables.encode, pd.DataFrame(wide), SCHEMA)

    assert "row 2 of column" in said(1)
    assert "row 2 (and in others) of column" in said(2)
    assert said(2) == said(50)


@pytest.mark.parametrize("value", ["f", "X", "FF", "F\x00"])
def test_an_unknown_level_is_refused(value):
    sentence = refusal(tables.encode, frame_with(gender=["F", "M", value]), SCHEMA, name="t.csv")
    assert sentence.startswith("the value in row 3 of column 'gender' of t.csv is not one of")
    assert "spaces" not in sentence


def test_spaces_around_a_level_are_pointed_out_and_not_removed():
    sentence = refusal(tables.encode, frame_with(gender=["F", "M ", "\tF"]), SCHEMA)
    assert "row 2 (and in others)" in sentence
    assert "without spaces around it" in sentence


def test_codes_that_text_distinguishes_stay_distinct():
    assert "row 2 of" in refusal(tables.encode, frame_with(grade=["03", "3", "1"]), SCHEMA)
    assert "row 2 of" in refusal(tables.encode, frame_with(grade=["03", "1.0", "1"]), SCHEMA)


def test_text_that_is_no_unicode_is_refused_without_it():
    values = pd.Series(["secret\ud800"], dtype=object)
    sentence = refusal(encoded, values, one_column("binary"))
    assert "not valid Unicode" in sentence
    assert "secret" not in sentence


@given(
    st.lists(
        st.none()
        | st.booleans()
        | st.floats()
        | st.integers()
        | st.text(max_size=5)
        | st.decimals()
        | st.dates()
        | st.binary(max_size=3)
        | st.lists(st.integers(), max_size=2),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from([NUMBER, WHOLE, CLAMPED, one_column("binary")]),
)
def test_whatever_a_table_holds_is_in_the_domain_or_refused(values, schema):
    column = schema.columns[0]
    try:
        found = encoded(pd.Series(values, dtype=object), schema)
    except BadInput:
        return
    assert found.shape == (len(values),)
    if column.numeric:
        assert np.all((column.lower <= found) & (found <= column.upper))
    else:
        assert np.isin(found, [0, 1]).all()


def test_the_rows_of_a_frame_count_from_one_whatever_its_index():
    frame = pd.DataFrame({"x": ["1", "oops", "2"]}, index=[7, 7, 3])
    assert "row 2 of" in refusal(tables.encode, frame, NUMBER)
    frame["x"] = ["0", "1", "0"]
    assert list(tables.encode(frame, one_column("binary"))["x"]) == [0, 1, 0]


def test_a_million_rows_are_encoded_at_once():
    rows = 1_000_000
    levels = np.array(["0", "1"])[np.arange(rows) % 2]
    schema = Schema.from_dict({"columns": NUMBER.to_dict()["columns"] | {"g": GROUP}})
    frame = pd.DataFrame({"x": pd.Series(np.arange(rows) / rows).astype(str), "g": levels})
    start = time.perf_counter()
    columns = tables.encode(frame, schema)
    assert time.perf_counter() - start < 5
    assert columns["x"].sum() == pytest.approx((rows - 1) / 2)
    assert columns["g"].sum() == rows // 2


GROUP = {"role": "public", "type": "binary"}


# Decoding and writing.


def test_simulated_values_are_brought_into_the_declared_domain():
    frame = tables.decode(
        {
            "gender": np.array([1, 0, 1, 1]),
            "children": np.array([-0.7, 1.6, 99.0, np.inf]),
            "salary": np.array([-np.inf, 0.1, 600000.5, 5.0]),
        },
        SCHEMA,
    )
    assert list(frame.columns) == ["salary", "children", "gender"]
    assert frame["children"].dtype == np.int64
    assert frame.to_dict("list") == {
        "salary": [0.0, 0.1, 600000.0, 5.0],
        "children": [0, 2, 20, 20],
        "gender": ["M", "F", "M", "M"],
    }


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"salary": np.array([1.0, np.nan])}, "not a number for 'salary'"),
        ({"gender": np.array([0, 2])}, "not a level of 'gender'"),
        ({"gender": np.array([0, -1])}, "not a level of 'gender'"),
        ({"gender": np.array([0.0, 0.5])}, "not a level of 'gender'"),
        ({"wage": np.array([1.0])}, "no column 'wage'"),
    ],
)
def test_what_no_table_can_hold_is_not_decoded(columns, said):
    assert said in refusal(tables.decode, columns, SCHEMA)


# Dates.

DATED = one_column("date", bounds=["2019-01-01", "2024-12-31"])
GAPS = one_column("date", bounds=["2019-01-01", "2024-12-31"], missing="model")


def test_dates_are_numbers_of_days_and_come_back_as_text():
    values = encoded(["2019-01-01", "2024-12-31"], DATED)
    assert values.tolist() == [17897.0, 20088.0]
    assert values.dtype == np.float64
    frame = tables.decode({"x": np.array([17897.4, 30000.0, 0.0])}, DATED)
    assert frame["x"].tolist() == ["2019-01-01", "2024-12-31", "2019-01-01"]


@pytest.mark.parametrize(
    "values",
    [
        ["2019-13-01"],
        ["1 May 2019"],
        ["2019-05-01 12:00"],
        [18000],
        [pd.Timestamp("2019-05-01 12:00")],
        [datetime.datetime(2019, 5, 1, 12)],
    ],
)
def test_what_is_no_date_is_refused_by_its_place(values):
    sentence = refusal(encoded, values, DATED)
    assert "row 1 of column 'x' of the table is not a date without a time of day" in sentence
    assert "YYYY-MM-DD" in sentence


def test_dates_outside_the_bounds_and_missing_ones_are_refused_or_not_like_numbers():
    assert "outside the declared bounds" in refusal(encoded, ["2018-12-31"], DATED)
    assert "is missing" in refusal(encoded, ["2019-05-01", ""], DATED)
    clamped = one_column("date", bounds=["2019-01-01", "2024-12-31"], outside="clamp")
    assert encoded(["1999-01-01"], clamped).tolist() == [17897.0]
    assert np.isnan(encoded(["2019-05-01", None], GAPS)[1])
    assert tables.decode({"x": np.array([17897.0, np.nan])}, GAPS)["x"].isna().tolist() == [
        False,
        True,
    ]


# Kinds of missing values.

TWO = {"missing": "model", "codes": {"N": "does not apply", "B": "refused"}}
BLANK = {"missing": "model", "codes": {"N": "does not apply", "": "unknown"}}
PAY = one_column("continuous", bounds=[0, 100], **TWO)
WHOLE_PAY = one_column("integer", bounds=[0, 100], **TWO)
BORN = one_column("date", bounds=["2019-01-01", "2024-12-31"], **TWO)
JOB = one_column("categorical", levels=["x", "y"], **TWO)
ONE = one_column("integer", bounds=[0, 100], missing="model", codes={"N": "does not apply"})
CODED = {
    "pay": (PAY, ["2.5", "N", "B", "100.0"]),
    "whole": (WHOLE_PAY, ["2", "B", "N", "100"]),
    "born": (BORN, ["2019-01-01", "N", "B", "2020-02-29"]),
    "job": (JOB, ["x", "B", "N", "y"]),
    "one": (ONE, ["2", "N", "N", "3"]),
    "blank": (one_column("integer", bounds=[0, 100], **BLANK), ["2", "", "N", "3"]),
    "blank level": (one_column("categorical", levels=["x", "y"], **BLANK), ["x", "", "N", "y"]),
}


@pytest.mark.parametrize("suffix", [None, ".csv", ".parquet"])
@pytest.mark.parametrize(("schema", "cells"), CODED.values(), ids=CODED)
def test_kinds_of_missing_values_survive_memory_csv_and_parquet(tmp_path, schema, cells, suffix):
    coded = tables.encode(pd.DataFrame({"x": cells}), schema)
    frame = tables.decode(coded, schema)
    if suffix is not None:
        tables.write(frame, tmp_path / f"t{suffix}")
        frame = tables.read(tmp_path / f"t{suffix}")
    assert frame["x"].fillna("").tolist() == cells
    again = tables.encode(frame, schema)
    assert again.keys() == coded.keys()
    for name, values in coded.items():
        assert again[name].dtype == values.dtype
        assert np.array_equal(again[name], values, equal_nan=values.dtype.kind == "f")


def test_kinds_are_coded_in_the_order_in_which_they_are_declared():
    columns = tables.encode(pd.DataFrame({"x": ["2.5", "B", "N"]}), PAY)
    assert np.array_equal(columns["x"], [2.5, np.nan, np.nan], equal_nan=True)
    assert columns["x (why missing)"].tolist() == [-1, 1, 0]
    assert columns["x (why missing)"].dtype == np.int64
    assert encoded(["x", "B", "N", "y"], JOB).tolist() == [0, -2, -1, 1]
    assert tables.encode(pd.DataFrame({"x": ["2", "N"]}), ONE).keys() == {"x"}


@pytest.mark.parametrize(
    "schema", [PAY, WHOLE_PAY, BORN, JOB, ONE], ids=lambda s: s.columns[0].type
)
@pytest.mark.parametrize("cells", [["N", ""], ["N", None]])
def test_a_blank_cell_is_refused_where_no_code_stands_for_it(schema, cells):
    sentence = refusal(encoded, cells, schema)
    assert "row 2 of column 'x' of the table is blank" in sentence


def test_stored_numbers_have_no_codes_but_may_be_blank():
    blank = one_column("integer", bounds=[0, 100], **BLANK)
    columns = tables.encode(pd.DataFrame({"x": [1.0, np.nan]}), blank)
    assert columns["x (why missing)"].tolist() == [-1, 1]
    assert "is blank" in refusal(encoded, [1.0, np.nan], PAY)


def test_what_is_neither_value_nor_code_is_refused():
    assert "not a finite number" in refusal(encoded, ["n"], PAY)
    assert "not a date" in refusal(encoded, ["n"], BORN)
    assert "not one of the declared levels or codes" in refusal(encoded, ["n"], JOB)


def test_simulated_values_without_a_companion_are_missing_for_the_first_reason():
    frame = tables.decode({"x": np.array([3.0, np.nan])}, WHOLE_PAY)
    assert frame["x"].tolist() == ["3", "N"]
    inside = tables.within_domain({"x": np.array([300.0, np.nan])}, WHOLE_PAY)
    assert inside["x (why missing)"].tolist() == [-1, 0]


def test_a_companion_is_brought_into_line_with_the_values_or_refused():
    columns = {"x": np.array([3.2, np.nan]), "x (why missing)": np.array([1, 1])}
    inside = tables.within_domain(columns, WHOLE_PAY)
    assert inside["x"][0] == 3
    assert inside["x (why missing)"].tolist() == [-1, 1]
    for unknown in (-1, 2):
        broken = columns | {"x (why missing)": np.array([-1, unknown])}
        with pytest.raises(BadInput, match="'x' has no code for"):
            tables.decode(broken, WHOLE_PAY)
    with pytest.raises(BadInput, match="not a level of 'x'"):
        tables.decode({"x": np.array([0, -3])}, JOB)
