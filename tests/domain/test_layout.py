"""The TOML layout is read strictly, and blanks are named."""

import copy
import datetime
import tomllib

import numpy as np
import pandas as pd
import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from schemas import LAYOUT, changed, refusal
from understudy.domain.layout import toml_key, toml_text
from understudy.domain.schema import Schema
from understudy.errors import BadInput


def test_levels_are_kept_as_a_csv_file_would_hold_them():
    layout = changed("gender", levels=[1, 2, "03"])
    layout["columns"]["employed"]["levels"] = [False, True]
    schema = Schema.from_dict(layout)
    assert schema.column("gender").levels == ("1", "2", "03")
    assert schema.column("employed").levels == ("false", "true")


@pytest.mark.parametrize(
    ("column", "key", "said"),
    [
        ("salary", "role", "needs a role"),
        ("salary", "type", "needs a type"),
        ("salary", "bounds", "needs bounds"),
        ("gender", "levels", "needs levels"),
    ],
)
def test_an_incomplete_declaration_is_refused(column, key, said):
    layout = copy.deepcopy(LAYOUT)
    del layout["columns"][column][key]
    sentence = refusal(layout)
    assert said in sentence
    assert column in sentence


@pytest.mark.parametrize(
    ("layout", "said"),
    [
        ({}, "no columns"),
        ({"columns": {}}, "no columns"),
        ({"columns": []}, "[columns] must be a table"),
        ({"columns": {"a": 3}}, "[columns.a] must be a table"),
        ({"columns": {"a": {"role": "ignore"}}}, "no column is declared as"),
        ({"columns": {"": LAYOUT["columns"]["salary"]}}, "needs a name"),
        ({"columns": {"a\nb": LAYOUT["columns"]["salary"]}}, "needs a name"),
        ({"columns": {3: LAYOUT["columns"]["salary"]}}, "not text"),
        (LAYOUT | {"table": 3}, "[table] must be a table"),
        (LAYOUT | {"column": {}}, "did you mean 'columns'?"),
        (LAYOUT | {"table": {"rows": 3}}, "unknown key 'rows'"),
        ([], "must be a table"),
    ],
)
def test_a_layout_of_another_shape_is_refused(layout, said):
    assert said in refusal(layout)


def test_an_unknown_key_of_an_ignored_column_is_refused_and_the_rest_is_not_looked_at():
    assert "unknown key 'colour'" in refusal(changed("id", colour="red"))
    schema = Schema.from_dict(changed("id", bounds="FILL IN", type="integer", missing="refuse"))
    assert schema == Schema.from_dict(LAYOUT)


def test_all_blanks_of_a_draft_are_named_in_one_sentence():
    layout = changed("salary", bounds="FILL IN")
    layout["table"]["size"] = "FILL IN"
    layout["columns"]["children"]["bounds"] = [0, "FILL IN"]
    layout["columns"]["gender"]["levels"] = ["F", " FILL IN "]
    layout["columns"]["hours worked"] = {"role": "public", "type": "FILL IN"}
    layout["columns"]["employed"]["codes"] = {"N": "FILL IN"}
    assert (
        "fill in table.size, columns.salary.bounds, columns.children.bounds, "
        'columns.gender.levels, columns.employed.codes, columns."hours worked".type from'
        in refusal(layout)
    )


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_every_text_can_be_a_toml_key_and_string(text):
    parsed = tomllib.loads(f"{toml_key(text)} = {toml_text(text)}")
    assert parsed == {text: text}


@pytest.mark.parametrize(
    "bounds",
    [[np.float64(0.2), 1.0], [0, np.float64(0.9)], [0, np.int64(29)], [np.float32(0.2), 1]],
)
def test_bounds_that_were_computed_are_refused_without_being_repeated(bounds):
    """`bounds = [y.min(), y.max()]` would publish both with every release."""
    column = {"role": "confidential", "type": "continuous", "bounds": bounds}
    with pytest.raises(BadInput, match="was computed") as refused:
        Schema.from_dict({"columns": {"y": column}})
    assert "0.2" not in str(refused.value)
    assert "9" not in str(refused.value)


@pytest.mark.parametrize(
    "bounds",
    [
        [pd.Timestamp("2019-05-17"), "2024-12-31"],
        [np.datetime64("2019-05-17"), "2024-12-31"],
        [datetime.datetime(2019, 5, 17), "2024-12-31"],
        [17900, "2024-12-31"],
    ],
)
def test_dates_that_may_have_been_computed_are_refused_without_being_repeated(bounds):
    column = {"role": "confidential", "type": "date", "bounds": bounds}
    with pytest.raises(BadInput, match="must be two dates such as '2019-01-31'") as refused:
        Schema.from_dict({"columns": {"y": column}})
    assert "05" not in str(refused.value)
    assert "17" not in str(refused.value)


def test_dates_and_codes_are_read_from_toml():
    text = """
    [columns.born]
    role = "public"
    type = "date"
    bounds = [1970-01-02, "1970-01-11"]
    [columns.pay]
    role = "confidential"
    type = "continuous"
    bounds = [0, 9]
    spikes = [0, 4.5]
    grid = 0.5
    missing = "model"
    codes = { "N" = "does not apply", "B" = "refused" }
    """
    schema = Schema.from_dict(tomllib.loads(text))
    assert schema.column("born").bounds == (1.0, 10.0)
    assert schema.column("pay").spikes == (0.0, 4.5)
    assert schema.column("pay").grid == 0.5
    assert schema.column("pay").codes == (("N", "does not apply"), ("B", "refused"))
    again = tomllib.loads(tomli_w.dumps(schema.to_dict()))
    assert Schema.from_dict(again) == schema


def test_spikes_that_were_computed_are_refused():
    column = {"role": "confidential", "type": "continuous", "bounds": [0, 9]}
    with pytest.raises(BadInput, match="was computed"):
        Schema.from_dict({"columns": {"y": column | {"spikes": [np.float64(3.25)]}}})
    with pytest.raises(BadInput, match="was computed"):
        Schema.from_dict({"columns": {"y": column | {"grid": np.float64(3.25)}}})
