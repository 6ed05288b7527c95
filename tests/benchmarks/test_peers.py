"""The comparison with other synthesisers: fair bins, honest rows, and no cell that hurts another.

The other tools need not be installed: what is tested is the frame in which they run.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from peers import grid, sources, tools
from peers.cells import Cell, run_cell
from peers.run import HEAD, cells, row
from peers.worker import run
from understudy.utility import measure_table

SURVEY = sources.SOURCES["survey"]
NOWHERE = Path("nowhere")
FOUND = {
    "seconds": 12.4,
    "max_ecdf": {"pay": 0.0314, "age": 0.01},
    "pairs": 0.05,
    "pmse_ratio": 2.0,
    "coefficients": {"gender[T.M]": -0.77, "age": None},
}


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return SURVEY.read(NOWHERE)


def test_codes_lead_back_to_the_bin_the_number_and_the_level(table):
    codes = grid.encode(table, SURVEY.schema)
    back = grid.decode(codes, SURVEY.schema, np.random.default_rng(0))
    for column in SURVEY.schema.columns:
        assert codes[column.name].between(0, grid.size(column) - 1).all()
        if column.numeric and not column.whole:
            width = column.width / grid.BINS
            assert (np.abs(back[column.name] - table[column.name]) <= width).all()
        else:
            assert (back[column.name] == table[column.name]).all()
    assert (grid.encode(back, SURVEY.schema) == codes).all(axis=None)


def test_the_grid_knows_the_schema_and_no_table(table):
    alone = grid.encode(table.iloc[[5]], SURVEY.schema)
    assert (alone.to_numpy() == grid.encode(table, SURVEY.schema).iloc[[5]].to_numpy()).all()


@pytest.mark.parametrize("source", sources.SOURCES.values(), ids=lambda source: source.name)
def test_every_column_is_confidential_and_the_size_declared(source):
    assert source.schema.confidential == source.schema.columns
    assert source.schema.size is not None
    assert source.regression.split("~")[0].strip().startswith("log(")


def test_rows_drawn_from_a_model_have_its_distribution(table):
    codes = grid.encode(table, SURVEY.schema)
    shape = [grid.size(column) for column in SURVEY.schema.columns]
    joint = np.zeros(shape)
    np.add.at(joint, tuple(codes[name] for name in SURVEY.schema.names), 1)
    task = tools.Task(table, SURVEY.schema, 1.0, np.random.default_rng(0))
    made = tools._rows(joint - 1e-9, task)
    assert len(made) == SURVEY.schema.size
    found = measure_table(table, made, SURVEY.schema)
    assert all(pair.total_variation < 2 * pair.expected for pair in found.pairs)
    assert found.columns["salary"].max_ecdf < 0.06


def test_the_domain_is_declared_to_datasynthesizer_in_full():
    declared = tools._described(SURVEY.schema)
    assert declared["ranges"] == {"salary": [0.0, 500_000.0]}
    assert declared["domains"]["weeks"] == list(range(2, 53))
    assert set(declared["types"]) == set(SURVEY.schema.names)
    ce = tools._described(sources.SOURCES["CE 2017"].schema)
    assert ce["domains"]["UrbanRural"] == [1, 2]
    assert ce["types"]["UrbanRural"] == "Integer"


def test_a_second_sample_is_measured_like_any_synthesis():
    found = run(SURVEY, NOWHERE, "a second sample", float("inf"))
    assert set(found["max_ecdf"]) == {"salary", "weeks"}
    assert 0 < found["max_ecdf"]["salary"] < 0.08
    assert 0 < found["pairs"] < 0.1
    assert set(found["coefficients"]) == {"gender[T.M]", "weeks"}


def test_a_row_names_the_mean_of_what_succeeded_and_the_class_of_what_failed():
    cell = Cell("CPS 2004", 0.5, "AIM", [FOUND, {"error": "ValueError"}, FOUND | {"seconds": 14.0}])
    assert row(cell) == (
        "| CPS 2004 | 0.5 | AIM | pay 0.031, age 0.010 | 0.050 | gender 77%, age – | 13 "
        "| 1 of 3: ValueError |"
    )
    assert row(cell).count("|") == HEAD.splitlines()[0].count("|")


def test_a_tool_that_always_fails_has_a_row_all_the_same():
    cell = Cell("survey", float("inf"), "AIM", [{"error": "OpenDPException"}] * 2)
    assert row(cell) == "| survey | ∞ | AIM | – | – | – | – | 2 of 2: OpenDPException |"


def test_cells_come_in_the_order_of_the_table_without_privacy_first():
    found = cells(["survey"], [5, 1], ["understudy joint", "OpenDP AIM", "a second sample"])
    assert [(cell.epsilon, cell.tool) for cell in found] == [
        (float("inf"), "a second sample"),
        (float("inf"), "understudy joint"),
        (5, "understudy joint"),
        (5, "OpenDP AIM"),
        (1, "understudy joint"),
        (1, "OpenDP AIM"),
    ]


def answered(program: str, limit: float = 60) -> dict[str, object]:
    cell = Cell("survey", 1.0, "AIM")
    return run_cell(cell, NOWHERE, limit, [sys.executable, "-c", program])


def test_a_crash_is_an_answer():
    assert answered("import os; os.abort()") == {"error": "crash, exit code -6"}
    assert answered("pass") == {"error": "crash, exit code 0"}


def test_a_cell_that_takes_too_long_ends_with_all_that_it_started(tmp_path):
    mark = tmp_path / "mark"
    child = f"import time; time.sleep(3); open({str(mark)!r}, 'w')"
    program = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    assert answered(program, limit=1) == {"error": "no answer in 1 s"}
    time.sleep(3.5)
    assert not mark.exists()


def test_a_tool_that_is_not_there_fails_by_its_class():
    found = run_cell(Cell("survey", 1.0, "no such tool"), NOWHERE, 60)
    assert found == {"error": "KeyError"}
