"""What size costs: the frame in which it is measured, on tables of a few thousand records.

What is measured depends on the machine; that it is measured, kept and drawn does not.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from peers.cells import Setting
from scaling import fits, generated, growing, peers, sampling
from scaling.measured import Lines, alone, disk_bandwidth, peak, seconds
from understudy.domain.tables import encode

SCRIPT = Path(__file__).parents[2] / "scripts" / "draw_scaling.py"


@pytest.fixture(scope="module")
def drawing():
    spec = importlib.util.spec_from_file_location("draw_scaling", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look up the module that they are defined in.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.mark.parametrize(
    ("draw", "schema"),
    [
        (generated.shares, generated.shares_schema),
        (generated.people, generated.people_schema),
        (generated.predicted, generated.predicted_schema),
    ],
)
def test_generated_tables_are_what_their_schemas_declare(draw, schema, tmp_path, monkeypatch):
    monkeypatch.setattr(generated, "CHUNK", 700)
    path = generated.write(tmp_path / "table.parquet", 2000, draw)
    assert pq.ParquetFile(path).num_row_groups == 3
    table, declared = pd.read_parquet(path), schema(2000)
    assert len(encode(table, declared)) == len(declared.columns)
    assert all(column.nunique() > 1 for _, column in table.items())


def test_parts_are_different_files_of_one_table(tmp_path):
    folder = generated.write_parts(tmp_path / "parts", 300, 3, generated.shares)
    tables = [pd.read_parquet(path) for path in sorted(folder.iterdir())]
    assert [len(table) for table in tables] == [100, 100, 100]
    assert pd.concat(tables)["x"].nunique() == 300


def test_the_exponent_is_that_of_a_power_of_n_and_needs_two_large_tables():
    sizes = [10**4, 10**5, 10**6, 10**7]
    assert growing.exponent(sizes, [9.0, *(2 * n**0.75 for n in sizes[1:])]) == pytest.approx(0.75)
    assert growing.exponent(sizes[:2], [1.0, 2.0]) is None


def test_arrow_adds_up_what_the_file_holds(tmp_path):
    path = generated.write(tmp_path / "x.parquet", 1000, generated.shares)
    assert growing.added(path, 64) == pytest.approx(pd.read_parquet(path)["x"].sum())
    assert disk_bandwidth(path) > 0


def test_work_of_its_own_has_memory_of_its_own():
    block = np.ones(2**24)
    assert alone(peak) < peak() + block.nbytes
    assert seconds(lambda: None) < 1


def test_ready_made_rows_are_as_many_as_are_asked_for():
    ready = sampling._ready_made(100)
    batches = list(sampling._batches(ready, 730))
    assert [len(batch) for batch in batches] == [100] * 7 + [30]


def test_a_tool_that_fails_is_not_asked_for_larger_tables(tmp_path, monkeypatch, capsys):
    asked = []

    def run_cell(cell, setting, **settings):
        asked.append((cell.source, cell.tool))
        if cell.tool != peers.TOOLS[0]:
            return {"error": "MemoryError"}
        return {"seconds": 1.5, "memory": 2**20}

    monkeypatch.setattr(peers, "run_cell", run_cell)
    peers.run(100_000, Setting(tmp_path, 60.0), Lines(tmp_path / "lines.jsonl"))
    assert [tool for source, tool in asked if "10000." in source] == list(peers.TOOLS)
    assert [tool for source, tool in asked if "100000" in source] == [peers.TOOLS[0]]
    assert not list(tmp_path.glob("*.parquet"))
    assert "ended: MemoryError" in capsys.readouterr().out
    lines = [json.loads(line) for line in (tmp_path / "lines.jsonl").read_text().splitlines()]
    assert [line["part"] for line in lines] == ["peers"] * 4


def test_what_is_kept_is_drawn_and_the_last_line_of_a_size_counts(drawing, tmp_path):
    lines = Lines(tmp_path / "lines.jsonl")
    for taken in (9.0, 1.0):
        lines.add("growing", n=10, seconds=taken, passed=0.5, arrow=0.2, memory=2**20)
    lines.add("peers", n=10, tool="OpenDP AIM", seconds=4.0, memory=2**22)
    lines.add("peers", n=100, tool="OpenDP AIM", error="no answer in 9 s")
    curves = drawing.curves(drawing.read(tmp_path / "lines.jsonl"), "seconds")
    assert curves[0].points == {10: 1.0}
    assert (curves[-1].points, curves[-1].ended) == ({10: 4.0}, [100])
    drawing.main(tmp_path / "lines.jsonl", tmp_path / "scaling.svg")
    assert "OpenDP AIM" in (tmp_path / "scaling.svg").read_text("utf-8")


@pytest.mark.slow
def test_small_tables_go_through_every_part_that_needs_no_extra(tmp_path, capsys):
    lines = Lines(tmp_path / "lines.jsonl")
    growing.run(10_000, tmp_path, lines)
    fits.joint(2000, tmp_path, lines)
    sampling.run(3000, tmp_path, lines)
    kept = [json.loads(line) for line in (tmp_path / "lines.jsonl").read_text().splitlines()]
    assert [line["part"] for line in kept] == [
        *("growing", "bandwidth", "joint", "sampling", "sampling"),
    ]
    assert all(line["seconds"] > 0 for line in kept if "seconds" in line)
    assert {path.name for path in tmp_path.iterdir()} == {"lines.jsonl"}
    assert "times as long as writing" in capsys.readouterr().out
