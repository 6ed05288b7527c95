"""Files are read as they are, or refused without their values."""

import datetime
import math
import os
import random

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from refusals import refusal
from understudy.domain import table_files, tables
from understudy.domain.schema import Schema
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
NUMBER = Schema.from_dict(
    {"columns": {"x": {"role": "confidential", "type": "continuous", "bounds": [-1000, 1000]}}}
)
STATISTICAL = {
    ".dta": pyreadstat.write_dta,
    ".sav": pyreadstat.write_sav,
    ".xpt": pyreadstat.write_xport,
}


def saved(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# Reading.


def test_csv_is_read_as_text(tmp_path):
    frame = tables.read(saved(tmp_path / "t.csv", 'a,b\n007,NA\n,"x,""y"\n'))
    assert frame.to_dict("list") == {"a": ["007", ""], "b": ["NA", 'x,"y']}


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfa,b\r\n1,2\r\n",
        b"a,b\r1,2\r",
        b"a,b\n1,2",
        b"a,b\n\n1,2\n\n",
        b'"a","b"\n"1","2"\n',
    ],
)
def test_csv_comes_in_several_forms(tmp_path, content):
    frame = tables.read(saved(tmp_path / "T.CSV", content))
    assert frame.to_dict("list") == {"a": ["1"], "b": ["2"]}


def test_a_blank_line_is_a_missing_value_where_a_record_is_one_value(tmp_path):
    frame = tables.read(saved(tmp_path / "t.csv", "x\n1\n\n3\n"))
    assert "row 2 of column 'x' of the table is missing" in refusal(tables.encode, frame, NUMBER)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"\n\n", "blank line"),
        (b"a,b\n", "no records"),
        (b"a,b", "no records"),
        (b"\xef\xbb\xbf", "blank line"),
        (b"a,b,a\n987,654,3\n", "columns 1 and 3"),
        (b"a,\n987,654\n", "column 2 of"),
        (b'a,"b\nc"\n987,654\n', "column 2 of"),
        (b"a,b\n1,2\n987,654,3\n", "row 2 of"),
        (b"a,b\n1,2\n987\n", "row 2 of"),
        (b"a,b\n987,654,3\n987,654,3\n", "row 1 of"),
        (b'a,b\n1,"987\n3,654\n', "quotation mark"),
        (b'a,b\n1,"987\n3,4\n5,"654\n', "quotation mark"),
        (b'a,"b\n1,987\n3,654\n', "quotation mark"),
        (b"a,b\n1,987\xff\n", "not UTF-8"),
        ("a,b\n987,654\n".encode("utf-16"), "not UTF-8"),
        (b"a,b\n1," + b"987654" * 50_000, "malformed"),
    ],
)
def test_a_malformed_csv_file_is_refused_without_its_values(tmp_path, content, said):
    path = saved(tmp_path / "t.csv", content)
    sentence = refusal(tables.read, path)
    assert said in sentence
    assert str(path) in sentence
    assert not {"987", "654"} & set(sentence.replace(str(path), "").split())
    assert "987" not in sentence.replace(str(path), "")


def test_rows_are_counted_across_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr(table_files, "_CHUNK", 3)
    good = "a,b\n" + "".join(f"{row},x\n" for row in range(10))
    frame = tables.read(saved(tmp_path / "t.csv", good))
    assert list(frame["a"]) == [str(row) for row in range(10)]
    assert list(frame.index) == list(range(10))
    assert "row 11 of" in refusal(tables.read, saved(tmp_path / "t.csv", good + "1\n"))


def test_paths_that_are_no_table_are_refused(tmp_path):
    assert "there is no file" in refusal(tables.read, tmp_path / "none.csv")
    (tmp_path / "folder.csv").mkdir()
    assert "there is no file in" in refusal(tables.read, tmp_path / "folder.csv")
    assert "there is no file" in refusal(tables.read, tmp_path / "none-*.csv")
    for name in ("t.xlsx", "t", "t.csv.gz"):
        sentence = refusal(tables.read, saved(tmp_path / name, "a\n1\n"))
        assert ".csv, .parquet, .dta, .sas7bdat, .xpt, .sav" in sentence


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_an_unreadable_file_is_refused(tmp_path):
    path = saved(tmp_path / "t.csv", "a\n1\n")
    path.chmod(0)
    assert "Permission denied" in refusal(tables.read, path)


@pytest.mark.parametrize("suffix", STATISTICAL)
def test_statistical_packages_give_their_stored_codes(tmp_path, suffix):
    stored = pd.DataFrame({"salary": [1.5, 2.0], "grade": [2, 1], "gender": ["M", "F"]})
    labels = {"grade": {1: "low", 2: "high"}}
    keywords = {} if suffix == ".xpt" else {"variable_value_labels": labels}
    STATISTICAL[suffix](stored, tmp_path / f"t{suffix}", **keywords)
    schema = Schema.from_dict(
        {"columns": {c.name: c.to_dict() for c in SCHEMA.columns if c.name in stored}}
    )
    columns = tables.encode(tables.read(tmp_path / f"t{suffix}"), schema)
    assert list(columns["salary"]) == [1.5, 2.0]
    assert list(columns["grade"]) == [1, 0]
    assert list(columns["gender"]) == [1, 0]


@pytest.mark.parametrize("suffix", STATISTICAL)
def test_dates_and_missing_values_of_statistical_packages_do_not_pass_unseen(tmp_path, suffix):
    stored = pd.DataFrame({"x": [1.0, math.nan], "day": [datetime.date(2020, 1, 1)] * 2})
    STATISTICAL[suffix](stored, tmp_path / f"t{suffix}")
    frame = tables.read(tmp_path / f"t{suffix}")
    assert frame["day"].dtype.kind == "f"
    assert "row 2 of column 'x' of the table is missing" in refusal(
        tables.encode, frame[["x"]], NUMBER
    )


@pytest.mark.parametrize("suffix", [".parquet", ".dta", ".sas7bdat", ".xpt", ".sav"])
def test_files_that_are_not_what_their_name_says_are_refused(tmp_path, suffix):
    path = saved(tmp_path / f"t{suffix}", b"secret" * 200)
    sentence = refusal(tables.read, path)
    assert "damaged or of another format" in sentence
    assert "secret" not in sentence
    assert "is empty" in refusal(tables.read, saved(path, b""))


@pytest.mark.parametrize("suffix", [".parquet", ".dta", ".xpt", ".sav"])
def test_damaged_files_are_read_or_refused_and_nothing_else(tmp_path, suffix):
    frame = pd.DataFrame({"x": np.arange(30) * 1.5, "g": ["Fé", "M"] * 15, "n": range(30)})
    path = tmp_path / f"t{suffix}"
    if suffix == ".parquet":
        frame.to_parquet(path)
    else:
        STATISTICAL[suffix](frame, path)
    whole = path.read_bytes()
    # The number of rows, which is stored before, is spared: readers reserve the memory it asks for.
    start = 100
    chance = random.Random(7)
    refused = 0
    for _ in range(150):
        damaged = bytearray(whole[: chance.choice([None, chance.randrange(start + 1, len(whole))])])
        for _ in range(chance.choice([1, 3, 20])):
            damaged[chance.randrange(start, len(damaged))] = chance.randrange(256)
        path.write_bytes(damaged)
        try:
            tables.read(path)
        except BadInput:
            refused += 1
    assert refused > 20


def test_a_named_index_in_parquet_is_a_column_and_an_unnamed_one_is_not(tmp_path):
    frame = pd.DataFrame({"x": [1.0, 2.0]}, index=pd.Index([5, 7], name="id"))
    frame.to_parquet(tmp_path / "t.parquet")
    assert list(tables.read(tmp_path / "t.parquet").columns) == ["id", "x"]
    frame.rename_axis(None).to_parquet(tmp_path / "t.parquet")
    assert list(tables.read(tmp_path / "t.parquet").columns) == ["x"]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["x", "x"], "columns 1 and 2"),
        (["x", ""], "column 2"),
        (["x", 3], "column 2"),
        (["x", "a\nb"], "column 2"),
    ],
)
def test_columns_need_a_usable_name_of_their_own(names, said):
    assert said in refusal(tables.encode, pd.DataFrame([[1, 2]], columns=names), NUMBER)


def test_the_files_of_a_folder_or_a_pattern_are_one_table(tmp_path):
    for name in ("b", "a", "_metadata", ".hidden"):
        saved(tmp_path / f"{name}.csv", f"x\n{name}\n")
    assert list(tables.read(tmp_path)["x"]) == ["a", "b"]
    assert list(tables.read(tmp_path / "[ab].csv")["x"]) == ["a", "b"]
    assert list(tables.read(tmp_path / "_*.csv")["x"]) == ["_metadata"]


def test_files_that_are_not_of_one_table_are_refused(tmp_path):
    saved(tmp_path / "a.csv", "x\n1\n")
    saved(tmp_path / "b.csv", "y\n1\n")
    assert "b.csv has other columns than" in refusal(tables.read, tmp_path)
    saved(tmp_path / "notes.txt", "-")
    assert "must all end in .csv or all in .parquet" in refusal(tables.read, tmp_path)
    (tmp_path / "year=2024").mkdir()
    assert "has folders in it: name the files" in refusal(tables.read, tmp_path)


@pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
def test_a_file_that_is_linked_to_is_not_read_twice(tmp_path, link):
    """Its records would count twice, and nothing that is promised would hold for them."""
    (tmp_path / "a.csv").write_text("x\n1\n")
    assert table_files.files_of(tmp_path) == (tmp_path / "a.csv",)
    getattr(tmp_path / "b.csv", link)(tmp_path / "a.csv")
    with pytest.raises(BadInput, match=r"b\.csv is the same file as .* would count twice"):
        table_files.files_of(tmp_path)


def test_a_pattern_that_fits_a_file_twice_is_refused(tmp_path):
    (tmp_path / "in" / "side").mkdir(parents=True)
    (tmp_path / "in" / "side" / "a.csv").write_text("x\n1\n")
    with pytest.raises(BadInput, match="would count twice"):
        table_files.files_of(tmp_path / "**" / "**" / "*.csv")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_header_is_read_alone_and_what_is_damaged_refused(tmp_path, suffix):
    path = tmp_path / f"t{suffix}"
    tables.write(pd.DataFrame({"x": [1], "n": [2]}), path)
    assert table_files.header_of(path) == ("x", "n")
    path.write_bytes(b"\xff\xfe\x00")
    assert str(path) in refusal(table_files.header_of, path)


def test_tables_that_can_be_read_in_parts_are_told_from_others(tmp_path):
    for name in ("a.csv", "b.csv"):
        saved(tmp_path / name, "x\n1\n")
    assert table_files.streamable(tmp_path) == (tmp_path / "a.csv", tmp_path / "b.csv")
    assert table_files.streamable(str(tmp_path / "t.dta")) == ()
    assert table_files.streamable(pd.DataFrame({"x": [1]})) == ()
