"""Records that are held or streamed: the same sums, and a fair sample of what is not held."""

import numpy as np
import pandas as pd
import pytest

import understudy as us
from understudy.domain import parts as parts_module
from understudy.domain import records as module
from understudy.domain.parts import parts_of
from understudy.domain.records import Held, Streamed
from understudy.domain.tables import encode
from understudy.errors import BadInput
from understudy.support.parallel import in_threads

SCHEMA = us.Schema.from_dict(
    {
        "columns": {
            "x": {"role": "confidential", "type": "integer", "bounds": [0, 10_000]},
            "sex": {"role": "public", "type": "categorical", "levels": ["f", "m"]},
        },
        "rules": [{"if": "sex == 'f'", "then": "x < 9999"}],
    }
)


def table(rows=1000):
    sex = np.random.default_rng(2).choice(["f", "m"], rows)
    return pd.DataFrame({"x": np.arange(rows), "sex": sex})


def streamed(directory, frame, *, files=3, batch=64, run=in_threads, suffix="parquet"):
    """Return a table that is spread over several files."""
    paths = []
    for k, piece in enumerate(np.array_split(np.arange(len(frame)), files)):
        path = directory / f"part-{k}.{suffix}"
        some = frame.iloc[piece]
        some.to_csv(path, index=False) if suffix == "csv" else some.to_parquet(path, index=False)
        paths.append(path)
    parts = parts_of(paths, SCHEMA)
    return Streamed.checked(parts, SCHEMA, batch=batch, run=run, seed=7)


def vector(columns):
    return np.array([columns["x"].sum(), columns["sex"].sum(), len(columns["x"])], dtype=np.int64)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize(("files", "batch"), [(1, 7), (3, 64), (11, 1000)])
def test_sums_are_those_of_a_table_that_is_held(tmp_path, files, batch, suffix):
    held = Held(encode(table(), SCHEMA))
    records = streamed(tmp_path, table(), files=files, batch=batch, suffix=suffix)
    assert records.count == held.count == 1000
    assert records.total(vector).tolist() == held.total(vector).tolist()
    for name, values in held.only(["sex"]).items():
        np.testing.assert_array_equal(records.only(["sex"])[name], values)


def test_the_order_of_the_parts_and_who_runs_them_does_not_matter(tmp_path):
    def backwards(work, items):
        return [work(item) for item in reversed(items)][::-1]

    one = streamed(tmp_path, table(), run=map)
    other = Streamed.checked(one.parts, SCHEMA, batch=64, run=backwards, seed=7)
    assert one.total(vector).tolist() == other.total(vector).tolist()
    for name in one.sample:
        np.testing.assert_array_equal(one.sample[name], other.sample[name])


def test_all_records_are_shown_where_they_are_few(tmp_path):
    records = streamed(tmp_path, table())
    assert sorted(records.shown["x"]) == list(range(1000))


def test_of_many_records_each_is_as_likely_to_be_shown_as_any_other(tmp_path, monkeypatch):
    """Parts are of different sizes, and what is kept of them overflows again and again."""
    monkeypatch.setattr(module, "SAMPLE", 50)
    counts = np.zeros(2000)
    frame = table(2000)
    paths = []
    for k, (first, last) in enumerate([(0, 1700), (1700, 1990), (1990, 2000)]):
        paths.append(tmp_path / f"{k}.parquet")
        frame.iloc[first:last].to_parquet(paths[-1])
    parts = parts_of(paths, SCHEMA)
    for seed in range(200):
        records = Streamed.checked(parts, SCHEMA, batch=300, run=map, seed=seed)
        assert len(records.shown["x"]) == 50
        counts[records.shown["x"].astype(int)] += 1
    for first, last in [(0, 300), (300, 1700), (1700, 1990), (1990, 2000)]:
        expected = 200 * 50 * (last - first) / 2000
        assert abs(counts[first:last].sum() - expected) < 5 * np.sqrt(expected)


def test_what_is_held_to_pick_from_does_not_grow_with_the_number_of_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SAMPLE", 20)
    smallest, held = module._smallest, []

    def counted(pieces, most):
        held.append(sum(len(piece.keys) for piece in pieces))
        return smallest(pieces, most)

    monkeypatch.setattr(module, "_smallest", counted)
    records = streamed(tmp_path, table(2000), files=40, run=map)
    assert len(records.shown["x"]) == 20
    assert max(held) <= 2 * 20 + 64


def test_fewer_records_are_shown_where_memory_is_short(tmp_path):
    parts = streamed(tmp_path, table()).parts
    records = Streamed.checked(parts, SCHEMA, batch=64, run=map, seed=7, cells=30)
    assert len(records.shown["x"]) == 15


def test_a_row_that_breaks_a_rule_is_told_by_its_place_in_its_file(tmp_path, monkeypatch):
    monkeypatch.setattr(parts_module, "_PART_ROWS", 100)
    frame = table(500)
    frame.loc[321, ["sex", "x"]] = ["f", 9999]
    path = tmp_path / "table.parquet"
    frame.to_parquet(path, row_group_size=100)
    with pytest.raises(BadInput, match=r"^row 322 of .*table\.parquet breaks rule 1 of the schema"):
        Streamed.checked(parts_of([path], SCHEMA), SCHEMA, batch=64, run=map, seed=1)


def test_nothing_is_shown_of_records_that_are_printed(tmp_path):
    assert repr(streamed(tmp_path, table())) == "<Streamed: confidential, stays inside>"
    assert repr(Held({"x": np.arange(3)})) == "<Held: confidential, stays inside>"
