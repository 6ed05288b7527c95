"""Tables in several files: which they are, in which pieces they are read, and when they changed."""

import os
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import understudy as us
from understudy.domain import parts as module
from understudy.domain.parts import parts_of
from understudy.domain.tables import encode
from understudy.errors import BadInput, Refused

SCHEMA = us.Schema.from_dict(
    {
        "columns": {
            "x": {"role": "confidential", "type": "continuous", "bounds": [0, 1]},
            "sex": {"role": "public", "type": "categorical", "levels": ["f", "m"]},
            "code": {"role": "public", "type": "categorical", "levels": [7, 8, 9]},
            "born": {
                "role": "confidential",
                "type": "date",
                "bounds": ["1950-01-01", "2020-12-31"],
                "missing": "model",
            },
            "note": {"role": "ignore"},
        }
    }
)


def table(rows=1000):
    generator = np.random.default_rng(5)
    days = pd.Timestamp("1960-01-01") + pd.to_timedelta(generator.integers(0, 9000, rows), "D")
    return pd.DataFrame(
        {
            "x": generator.random(rows),
            "sex": generator.choice(["f", "m"], rows),
            "code": generator.choice([7, 8, 9], rows),
            "born": pd.Series(days).mask(generator.random(rows) < 0.1),
            "note": "n",
        }
    )


def read(parts, batch=64):
    """Return all rows of several parts, as one coded table."""
    pieces = [columns for part in parts for columns in part.coded(SCHEMA, batch)]
    assert all(len(piece["x"]) <= batch for piece in pieces)
    return {name: np.concatenate([p[name] for p in pieces]) for name in pieces[0]}


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_rows_are_those_of_the_whole_table_in_order(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(module, "_PART_ROWS", 250)
    frame, path = table(), tmp_path / f"table.{suffix}"
    if suffix == "csv":
        frame.to_csv(path, index=False)
    else:
        frame.rename_axis("note").drop(columns="note").to_parquet(path, row_group_size=100)
    parts = parts_of([path], SCHEMA)
    if suffix == "parquet":
        assert [(part.first, part.rows) for part in parts] == [
            *((1 + 200 * k, 200) for k in range(5))
        ]
    expected, found = encode(frame, SCHEMA), read(parts)
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values)


def test_no_more_of_a_csv_file_is_held_than_a_batch(tmp_path):
    """Text takes far more memory than numbers, and a wide table has many cells in few rows."""
    path = tmp_path / "table.csv"
    table(100).to_csv(path, index=False)
    with path.open("a") as file:
        file.write("a row of one value\n")
    (part,) = parts_of([path], SCHEMA)
    pieces = part.coded(SCHEMA, 50)
    assert [len(next(pieces)["x"]) for _ in range(2)] == [50, 50]
    with pytest.raises(BadInput, match=r"row 101 of .* has 1 values"):
        next(pieces)


def offending(place, tmp_path, suffix):
    frame, path = table(), tmp_path / f"table.{suffix}"
    frame.loc[place, "x"] = 2.0
    frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path, row_group_size=9)
    return frame, path


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("place", [0, 63, 64, 777, 999])
def test_a_value_is_refused_in_the_words_that_a_table_in_memory_is(tmp_path, suffix, place):
    frame, path = offending(place, tmp_path, suffix)
    with pytest.raises(BadInput) as whole:
        encode(frame, SCHEMA, name=str(path))
    with pytest.raises(BadInput) as streamed:
        read(parts_of([path], SCHEMA))
    assert str(streamed.value) == str(whole.value)
    assert f"row {place + 1} of" in str(streamed.value)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_part_with_other_columns_is_refused_by_its_name(tmp_path, suffix):
    for name, columns in {"a": {}, "b": {"x": "y"}}.items():
        frame, path = table(9).rename(columns=columns), tmp_path / f"{name}.{suffix}"
        frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    with pytest.raises(BadInput, match=rf"b\.{suffix} has a column 'y' that the schema does not"):
        read(parts_of([tmp_path / f"a.{suffix}", tmp_path / f"b.{suffix}"], SCHEMA))


def test_a_truncated_file_is_refused(tmp_path):
    path = tmp_path / "table.parquet"
    table().to_parquet(path, row_group_size=100)
    os.truncate(path, path.stat().st_size - 50)
    with pytest.raises(BadInput, match="cannot be read as a Parquet file; it is damaged"):
        parts_of([path], SCHEMA)


def test_a_damaged_row_group_is_refused(tmp_path):
    path = tmp_path / "table.parquet"
    table().to_parquet(path, row_group_size=100)
    contents = bytearray(path.read_bytes())
    contents[10:3000] = bytes(2990)
    path.write_bytes(contents)
    with pytest.raises(BadInput, match="cannot be read as a Parquet file; it is damaged"):
        read(parts_of([path], SCHEMA))


def replaced(path):
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    other.replace(path)


def touched(path):
    status = path.stat()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1))


@pytest.mark.parametrize(
    "change",
    [
        lambda path: path.unlink(),
        touched,
        replaced,
        lambda path: path.write_bytes(path.read_bytes() + b"\n"),
    ],
    ids=["gone", "written", "replaced", "longer"],
)
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_file_that_is_not_what_it_was_is_refused(tmp_path, change, suffix):
    frame, path = table(9), tmp_path / f"table.{suffix}"
    frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    parts = parts_of([path], SCHEMA)
    read(parts)
    change(path)
    with pytest.raises(Refused, match="was changed, moved or removed while the table was read"):
        read(parts)


def test_a_file_that_changes_during_a_pass_is_refused_at_its_end(tmp_path):
    path = tmp_path / "table.csv"
    table(200).to_csv(path, index=False)
    (part,) = parts_of([path], SCHEMA)
    rows = part.coded(SCHEMA, 64)
    next(rows)
    touched(path)
    with pytest.raises(Refused, match="was changed"):
        list(rows)


def test_a_part_with_another_number_of_rows_than_before_is_refused(tmp_path):
    path = tmp_path / "table.csv"
    table(20).to_csv(path, index=False)
    (part,) = parts_of([path], SCHEMA)
    counted = replace(part, rows=19)
    with pytest.raises(Refused, match="was changed"):
        read([counted])


def test_a_part_says_nothing_of_its_rows_when_it_is_printed(tmp_path):
    path = tmp_path / "table.parquet"
    table(123).to_parquet(path)
    assert "123" not in repr(parts_of([path], SCHEMA))
