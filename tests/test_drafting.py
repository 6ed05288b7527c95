"""A draft takes names and guessed types from the table, and nothing else."""

import re
import tomllib

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy import drafting, tables
from understudy.errors import BadInput
from understudy.schema import Schema


def draft_of(frame):
    return drafting.draft(frame, source="salaries.csv")


def filled(text):
    """Fill in every blank the way a person would."""
    text = text.replace('size = "FILL IN"', "size = 100")
    text = text.replace('bounds = "FILL IN"', "bounds = [0, 10]")
    return text.replace('levels = "FILL IN"', 'levels = ["a", "b"]')


def types_of(text):
    return {name: keys["type"] for name, keys in tomllib.loads(text)["columns"].items()}


CELLS = {
    "whole": st.integers(-(10**6), 10**6).map(str),
    "broken": st.floats(-1e6, 1e6).filter(lambda x: x != round(x)).map(repr),
    "word": st.text("qxzjkw", min_size=1, max_size=8),
}


@st.composite
def table_pairs(draw):
    """Two tables with equal names and kinds of columns, and different cells."""
    name = st.text(
        st.characters(exclude_categories=["Cc", "Cs", "Nd"], exclude_characters="\ufeff"),
        min_size=1,
        max_size=6,
    )
    names = draw(st.lists(name, min_size=1, max_size=4, unique=True))
    kinds = [draw(st.sampled_from(sorted(CELLS))) for _ in names]

    def table():
        rows = draw(st.integers(1, 5))
        return pd.DataFrame(
            {
                name: draw(st.lists(CELLS[kind], min_size=rows, max_size=rows))
                for name, kind in zip(names, kinds, strict=True)
            }
        )

    return table(), table()


@given(table_pairs())
def test_the_draft_depends_on_names_and_types_only(pair):
    first, second = pair
    assert draft_of(first) == draft_of(second)


@given(table_pairs())
def test_no_value_of_the_table_is_in_the_draft(pair):
    frame, _ = pair
    # What is there without any data is structure: the comments, the keys, the names.
    structure = set(re.findall(r"\w+", draft_of(frame.iloc[:0])))
    assert set(re.findall(r"\w+", draft_of(frame))) <= structure


@given(table_pairs())
def test_a_draft_is_refused_for_its_blanks_and_loads_once_they_are_filled_in(pair):
    frame, _ = pair
    text = draft_of(frame)
    layout = tomllib.loads(text)
    with pytest.raises(BadInput) as caught:
        Schema.from_dict(layout)
    sentence = str(caught.value)
    assert "table.size" in sentence
    blanks = [
        key
        for keys in layout["columns"].values()
        for key, value in keys.items()
        if value == "FILL IN"
    ]
    assert len(blanks) == len(frame.columns)
    assert sentence.count("columns.") == sum(name.count("columns.") for name in frame) + len(blanks)
    schema = Schema.from_dict(tomllib.loads(filled(text)))
    assert schema.size == 100
    assert schema.names == tuple(frame.columns)
    assert schema.confidential == schema.columns


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        (["1", "2", " 3 "], "integer"),
        (["1", "", "3"], "integer"),
        (["1", "2.5"], "continuous"),
        (["1", "x"], "categorical"),
        (["nan", "1"], "categorical"),
        (["", ""], "categorical"),
        ([1, 2], "integer"),
        ([1.0, np.nan], "integer"),
        ([1.5, 2.0], "continuous"),
        ([1.5, np.inf], "categorical"),
        ([True, False], "binary"),
        (pd.Categorical([1, 2]), "categorical"),
        (pd.to_datetime(["2020-01-01", "2020-01-02"]), "categorical"),
        (pd.Series([[1], {}], dtype=object), "categorical"),
    ],
)
def test_types_are_guessed_from_storage_and_likeness_to_numbers(values, type_):
    assert types_of(draft_of(pd.DataFrame({"x": values}))) == {"x": type_}


def test_a_completed_draft_reads_the_table_that_it_was_drafted_for(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("hours worked,sex\n1.5,a\n10,b\n")
    frame = tables.read(path)
    schema_path = tmp_path / "s.toml"
    schema_path.write_text(filled(drafting.draft(frame, source=str(path))), encoding="utf-8")
    columns = tables.encode(frame, Schema.load(schema_path))
    assert list(columns["hours worked"]) == [1.5, 10.0]
    assert list(columns["sex"]) == [0, 1]


def test_the_comments_say_what_a_person_has_to_know():
    text = draft_of(pd.DataFrame({"x": ["1"]}))
    comments = " ".join(line.lstrip("# ") for line in text.splitlines() if line.startswith("#"))
    for word in ("salaries.csv", "public knowledge", "never from looking", "ignore", '"clamp"'):
        assert word in comments


@pytest.mark.parametrize("source", ["a\nb.csv", "é\x7f.csv", 'quo"te\r.csv'])
def test_no_file_name_breaks_the_draft(source):
    layout = tomllib.loads(drafting.draft(pd.DataFrame({"x": ["1"]}), source=source))
    assert list(layout) == ["table", "columns"]


@pytest.mark.parametrize("name", ["52000", "-1.5", "1,000", "2020-01-01"])
def test_a_table_without_a_header_is_not_drafted(name):
    with pytest.raises(BadInput, match=r"column 2 of salaries\.csv") as caught:
        draft_of(pd.DataFrame([["F", "1"]], columns=["M", name]))
    assert name not in str(caught.value)


def test_columns_without_a_usable_name_are_not_drafted():
    with pytest.raises(BadInput, match="columns 1 and 2"):
        draft_of(pd.DataFrame([["F", "1"]], columns=["x", "x"]))
