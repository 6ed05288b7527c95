"""A draft takes names from the table, and offers guesses of types in comments; nothing else."""

import re
import tomllib

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.domain import drafting, tables
from understudy.domain.layout import toml_key
from understudy.domain.schema import Schema, Type
from understudy.errors import BadInput


def draft_of(frame):
    return drafting.draft(frame, source="salaries.csv")


def filled(text, *types):
    """Fill in every blank that the types ask for, the way a person would, and leave the others."""
    head, *sections = re.split(r"^(?=\[columns\.)", text, flags=re.M)
    parts = [head.replace('size = "FILL IN"', "size = 100")]
    for section, type_ in zip(sections, types, strict=True):
        named = section.replace('type = "FILL IN"', f'type = "{type_}"')
        if type_ in ("categorical", "binary"):
            parts.append(named.replace('levels = "FILL IN"', 'levels = ["a", "b"]'))
        else:
            bounds = '["2019-01-01", "2024-12-31"]' if type_ == "date" else "[0, 10]"
            parts.append(named.replace('bounds = "FILL IN"', f"bounds = {bounds}"))
    return "".join(parts)


def guesses_of(text):
    return re.findall(r"^# guess: (\w+) \(read off the table.*\)$", text, re.M)


def declarations_of(text):
    return [line for line in text.splitlines() if not line.startswith("#")]


CELLS = {
    "whole": st.integers(-(10**6), 10**6).map(str),
    "broken": st.floats(-1e6, 1e6).filter(lambda x: x != round(x)).map(repr),
    "word": st.text("qxzjkw", min_size=1, max_size=8),
}


@st.composite
def table_pairs(draw):
    """Two tables with equal names of columns, and different kinds and numbers of cells."""
    name = st.text(
        st.characters(exclude_categories=["Cc", "Cs", "Nd"], exclude_characters="\ufeff"),
        min_size=1,
        max_size=6,
    )
    names = draw(st.lists(name, min_size=1, max_size=4, unique=True))

    def table():
        rows = draw(st.integers(1, 5))
        cells = [CELLS[draw(st.sampled_from(sorted(CELLS)))] for _ in names]
        return pd.DataFrame(
            {
                name: draw(st.lists(cell, min_size=rows, max_size=rows))
                for name, cell in zip(names, cells, strict=True)
            }
        )

    return table(), table()


@given(table_pairs())
def test_what_the_draft_declares_depends_on_names_only(pair):
    first, second = pair
    assert declarations_of(draft_of(first)) == declarations_of(draft_of(second))


@given(table_pairs())
def test_comments_differ_in_the_guesses_only(pair):
    first, second = map(draft_of, pair)
    assert re.sub(r"^# guess: .*$", "", first, flags=re.M) == re.sub(
        r"^# guess: .*$", "", second, flags=re.M
    )


@given(table_pairs())
def test_no_value_of_the_table_is_in_the_draft(pair):
    frame, _ = pair
    # What is there without any data is structure: the comments, the keys, the names.
    structure = set(re.findall(r"\w+", draft_of(frame.iloc[:0])))
    assert set(re.findall(r"\w+", draft_of(frame))) <= structure


@given(table_pairs(), st.sampled_from(list(Type)))
def test_a_draft_is_refused_for_its_blanks_and_loads_once_they_are_filled_in(pair, type_):
    frame, _ = pair
    text = draft_of(frame)
    layout = tomllib.loads(text)
    with pytest.raises(BadInput) as caught:
        Schema.from_dict(layout)
    sentence = str(caught.value)
    assert "table.size" in sentence
    for name in frame.columns:
        assert f"columns.{toml_key(name)}.type" in sentence
        assert f"columns.{toml_key(name)}.bounds or levels" in sentence
    schema = Schema.from_dict(tomllib.loads(filled(text, *[type_] * len(frame.columns))))
    assert schema.size == 100
    assert schema.names == tuple(frame.columns)
    assert schema.confidential == schema.columns
    assert {column.type for column in schema.columns} == {type_}


@pytest.mark.parametrize(
    ("lines", "asked", "not_asked"),
    [
        ({"type": "FILL IN", "bounds": [0, 1]}, ["columns.x.type"], ["bounds", "levels"]),
        ({"type": "FILL IN", "levels": ["a"]}, ["columns.x.type"], ["bounds", "levels"]),
        ({"type": "count", "bounds": "FILL IN", "levels": "FILL IN"}, ["x.bounds"], ["levels"]),
        ({"type": "binary", "bounds": "FILL IN", "levels": "FILL IN"}, ["x.levels"], ["bounds"]),
        (
            {"role": "survey-weight", "type": "FILL IN", "bounds": "FILL IN", "levels": "FILL IN"},
            ["x.type", "x.bounds"],
            ["levels"],
        ),
    ],
)
def test_only_what_a_type_needs_is_asked_for(lines, asked, not_asked):
    column = {"role": "confidential", **lines}
    with pytest.raises(BadInput, match="from public knowledge") as caught:
        Schema.from_dict({"columns": {"x": column, "y": {"role": "ignore"}}})
    for word in asked:
        assert word in str(caught.value)
    for word in not_asked:
        assert word not in str(caught.value)


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
def test_guesses_come_from_storage_and_likeness_to_numbers(values, type_):
    assert guesses_of(draft_of(pd.DataFrame({"x": values}))) == [type_]


def test_a_completed_draft_reads_the_table_that_it_was_drafted_for(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("hours worked,sex\n1.5,a\n10,b\n")
    frame = tables.read(path)
    schema_path = tmp_path / "s.toml"
    text = filled(drafting.draft(frame, source=str(path)), "continuous", "categorical")
    schema_path.write_text(text, encoding="utf-8")
    columns = tables.encode(frame, Schema.load(schema_path))
    assert list(columns["hours worked"]) == [1.5, 10.0]
    assert list(columns["sex"]) == [0, 1]


def test_the_comments_say_what_a_person_has_to_know():
    text = draft_of(pd.DataFrame({"x": ["1"]}))
    comments = " ".join(line.lstrip("# ") for line in text.splitlines() if line.startswith("#"))
    for word in (
        "salaries.csv",
        "public knowledge",
        "never from looking",
        "ignore",
        '"clamp"',
        "guess",
        "date",
        "spikes",
        "grid",
        "ordered",
        "codes",
        "release = true",
    ):
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
