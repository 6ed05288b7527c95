"""The comparison with other synthesisers: fair bins, honest rows, and no cell that hurts another.

The other tools need not be installed: what is tested is the frame in which they run.
"""

from __future__ import annotations

import itertools
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from peers import grid, sources, tools
from peers.cells import Cell, Setting, run_cell
from peers.k_marginal import k_marginal
from peers.record import record, recorded
from peers.rounding import spendable
from peers.run import HEAD, cells, row
from peers.trees import draw
from peers.worker import run
from understudy.domain.schema import Schema

SURVEY = sources.SOURCES["survey"]
NOWHERE = Path("nowhere")
FOUND = {
    "seconds": 12.4,
    "max_ecdf": {"pay": 0.0314, "age": 0.01},
    "pairs": 0.05,
    "k_marginal": 951.4,
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
    if source.regression is not None:
        assert source.regression.split("~")[0].strip().startswith("log(")


MIXED = Schema.from_dict(
    {
        "table": {"size": 100},
        "columns": {
            "pay": {
                "role": "confidential",
                "type": "continuous",
                "bounds": [-10, 90],
                "missing": "model",
            },
            "points": {"role": "confidential", "type": "integer", "bounds": [0, 2007]},
            "age": {"role": "confidential", "type": "integer", "bounds": [0, 95]},
            "group": {"role": "confidential", "type": "categorical", "levels": ["N", "1", "2"]},
        },
    }
)


def mixed(rows: int, seed: int) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    group = random.integers(3, size=rows)
    pay = np.where(random.random(rows) < 0.2, np.nan, random.uniform(-10, 30 * (group + 1)))
    return pd.DataFrame(
        {
            "pay": pay,
            "points": np.where(random.random(rows) < 0.4, 2007, random.integers(2008, size=rows)),
            "age": random.integers(96, size=rows),
            "group": np.array(["N", "1", "2"])[group],
        }
    )


def test_a_missing_value_has_a_code_and_many_whole_numbers_share_bins():
    values = mixed(500, 1)
    codes = grid.encode(values, MIXED)
    assert [grid.size(column) for column in MIXED.columns] == [81, 80, 96, 3]
    assert ((codes["pay"] == 80) == values["pay"].isna()).all()
    back = grid.decode(codes, MIXED, np.random.default_rng(0))
    assert (back["pay"].isna() == values["pay"].isna()).all()
    assert (back["age"] == values["age"]).all()
    assert (back["group"] == values["group"]).all()
    assert (np.abs(back["points"] - values["points"]) <= 2008 / 80).all()
    assert (back["points"] == np.floor(back["points"])).all()
    assert back["points"].between(0, 2007).all()
    # A whole number that straddles two bins is of the one that holds it.
    assert (grid.encode(back, MIXED)["points"] - codes["points"]).abs().max() <= 1


def test_the_score_is_that_of_every_triple_counted_by_hand():
    real, made = mixed(300, 2), mixed(200, 3)
    edges = np.unique(np.quantile(real["pay"].dropna(), np.arange(1, 10) / 10, method="lower"))
    points = np.unique(np.quantile(real["points"], np.arange(1, 10) / 10, method="lower"))

    def cut(frame: pd.DataFrame) -> dict[str, list[object]]:
        return {
            "pay": [-1 if np.isnan(x) else sum(x >= edge for edge in edges) for x in frame["pay"]],
            "points": [sum(x >= edge for edge in points) for x in frame["points"]],
            "age": [x // 5 for x in frame["age"]],
            "group": list(frame["group"]),
        }

    one, other = cut(real), cut(made)
    distances = []
    for names in itertools.combinations(MIXED.names, 3):
        shares: dict[tuple[object, ...], float] = {}
        for table, sign in ((one, 1 / 300), (other, -1 / 200)):
            for cell in zip(*(table[name] for name in names), strict=True):
                shares[cell] = shares.get(cell, 0) + sign
        distances.append(sum(map(abs, shares.values())))
    assert len(distances) == 4
    expected = 1000 * (1 - np.mean(distances) / 2)
    assert k_marginal(real, made, MIXED, {"age": 5}) == pytest.approx(expected)
    assert k_marginal(real, real.iloc[::-1], MIXED, {"age": 5}) == pytest.approx(1000)


def test_the_score_of_tables_without_a_cell_in_common_is_0_and_strangers_are_refused():
    real = mixed(50, 4).assign(group="N", age=3)
    other = real.assign(group="1", age=60, points=1600 - real["points"] // 2)
    three = Schema(MIXED.size, MIXED.columns[1:])
    assert k_marginal(real, other, three, {"age": 5, "points": 2007}) == pytest.approx(0)
    with pytest.raises(ValueError, match="'group' has a value that is not declared"):
        k_marginal(real, real.assign(group="3"), MIXED)
    with pytest.raises(ValueError, match="three columns"):
        k_marginal(real, real, Schema(MIXED.size, MIXED.columns[2:]))


@pytest.mark.skipif(
    not sources.SOURCES["ACS 10"].path(sources.DIRECTORY).is_file(), reason="the table is not here"
)
@pytest.mark.parametrize(("name", "second", "apart"), [("ACS 10", 979, 804), ("ACS 24", 965, 764)])
def test_the_score_knows_a_second_sample_and_independent_columns(name, second, apart):
    source = sources.SOURCES[name]
    table = source.read(sources.DIRECTORY)
    random = np.random.default_rng(0)
    again = table.sample(len(table), replace=True, random_state=random)
    assert k_marginal(table, again, source.schema, source.steps) == pytest.approx(second, abs=2)
    alone = pd.DataFrame({c: random.permutation(table[c].to_numpy()) for c in table})
    assert k_marginal(table, alone, source.schema, source.steps) == pytest.approx(apart, abs=2)
    # Every value of the file is in the published domain.
    codes = grid.encode(table, source.schema)
    for column in source.schema.columns:
        assert codes[column.name].between(0, grid.size(column) - 1).all()


@pytest.mark.parametrize("loss", [5.0, 1.0, 0.5, 0.1, 0.0243559703])
@pytest.mark.parametrize("columns", [3, 4, 10, 24])
def test_a_loss_that_mst_can_spend_is_the_one_asked_for_but_for_rounding(loss, columns):
    spent = spendable(loss, columns)
    assert loss * (1 - 1e-10) < spent <= loss
    if columns <= 4:
        assert spent == loss


@pytest.mark.parametrize(("balanced", "off"), [(False, 0.005), (True, 0.0008)])
def test_rows_drawn_along_a_tree_have_the_distribution_of_the_model(balanced, off):
    random = np.random.default_rng(0)
    joint = random.random((3, 4, 2)) ** 3
    # A chain a - b - c: given b, the others are independent.
    ab, bc = joint.sum(2), joint.sum(0)
    whole = ab[:, :, None] * bc[None] / bc.sum(1)[None, :, None]
    codes = draw(
        {("c", "b"): bc.T, ("a", "b"): ab, ("d",): np.array([1.0, -1e-9, 3.0])},
        [(("a", "b"), ("c", "b"))],
        200_000,
        random,
        balanced=balanced,
    )
    assert set(codes) == {"a", "b", "c", "d"}
    found = np.zeros((3, 4, 2))
    np.add.at(found, (codes["a"], codes["b"], codes["c"]), 1 / 200_000)
    assert np.abs(found - whole / whole.sum()).max() < off
    assert np.bincount(codes["d"]) / 200_000 == pytest.approx([0.25, 0, 0.75], abs=0.01)


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
        "| CPS 2004 | 0.5 | AIM | pay 0.031, age 0.010 | 0.050 | 951 | gender 77%, age – | 13 "
        "| 1 of 3: ValueError |"
    )
    assert row(cell).count("|") == HEAD.splitlines()[0].count("|")


def test_a_tool_that_always_fails_has_a_row_all_the_same():
    cell = Cell("survey", float("inf"), "AIM", [{"error": "OpenDPException"}] * 2)
    assert row(cell) == "| survey | ∞ | AIM | – | – | – | – | – | 2 of 2: OpenDPException |"


def test_a_table_without_a_regression_has_a_row_without_coefficients():
    cell = Cell("ACS 10", 1.0, "AIM", [FOUND | {"coefficients": {}}])
    assert "| 0.050 | 951 | – | 12 |" in row(cell)


def test_a_file_of_runs_is_gone_on_from_where_it_was_cut(tmp_path):
    path = tmp_path / "runs.jsonl"
    assert recorded(path) == {}
    one, other = Cell("survey", float("inf"), "AIM"), Cell("survey", 1.0, "AIM")
    record(path, one, 1, FOUND)
    record(path, other, 1, {"error": "crash"})
    with path.open("a") as file:
        file.write('{"source": "survey", "eps')
    record(path, other, 2, FOUND)
    assert recorded(path) == {
        ("survey", float("inf"), "AIM", 1): FOUND,
        ("survey", 1.0, "AIM", 1): {"error": "crash"},
        ("survey", 1.0, "AIM", 2): FOUND,
    }


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
    return run_cell(cell, Setting(NOWHERE, limit), command=[sys.executable, "-c", program])


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
    found = run_cell(Cell("survey", 1.0, "no such tool"), Setting(NOWHERE, 60))
    assert found == {"error": "KeyError"}


def elsewhere(tmp_path: Path, program: str) -> pd.DataFrame:
    """Run a tool whose interpreter is a program that gets the script and what it is asked."""
    python = tmp_path / "python"
    python.write_text(f"#!{sys.executable}\n{program}")
    python.chmod(0o755)
    task = tools.Task(mixed(40, 5), MIXED, 1.0, {"dpmm": str(python)})
    return tools.elsewhere("dpmm", "MST")(task)


def test_a_tool_with_an_interpreter_of_its_own_reads_codes_and_sizes_and_writes_codes(tmp_path):
    program = (
        "import json, pathlib, shutil, sys\n"
        "script, package, algorithm, epsilon, delta, rows, place = sys.argv[1:]\n"
        "place = pathlib.Path(place)\n"
        "sizes = json.loads((place / 'domain.json').read_text())\n"
        "assert sizes == {'pay': 81, 'points': 80, 'age': 96, 'group': 3}\n"
        "asked = (package, algorithm, epsilon, delta, rows)\n"
        "assert asked == ('dpmm', 'MST', '1.0', '1e-06', '100')\n"
        "shutil.copy(place / 'table.csv', place / 'synthetic.csv')\n"
    )
    made, real = elsewhere(tmp_path, program), mixed(40, 5)
    assert (made["group"] == real["group"]).all()
    assert (made["pay"].isna() == real["pay"].isna()).all()


def test_its_failure_has_the_class_of_its_error(tmp_path):
    told = "import pathlib, sys\npathlib.Path(sys.argv[-1], 'error.txt').write_text('OddError')"
    with pytest.raises(tools.PeerFailed, match=r"^OddError$"):
        elsewhere(tmp_path, told)
    with pytest.raises(tools.PeerFailed, match=r"^crash, exit code 3$"):
        elsewhere(tmp_path, "raise SystemExit(3)")
    found = run_cell(Cell("survey", 1.0, "dpmm MST, delta"), Setting(NOWHERE, 60))
    assert found == {"error": "no interpreter named"}


def test_a_synthetic_table_is_kept_and_judges_that_fail_do_not_hurt(tmp_path):
    python = tmp_path / "python"
    python.write_text(f"#!{sys.executable}\nraise SystemExit(2)")
    python.chmod(0o755)
    setting = Setting(NOWHERE, 60, pythons={"judge": str(python)}, keep=tmp_path / "kept")
    found = run_cell(Cell("survey", float("inf"), "a second sample"), setting, 2)
    assert found["judges"] == {"error": "crash, exit code 2"}
    assert 900 < found["k_marginal"] < 1000
    kept = pd.read_csv(tmp_path / "kept" / "survey-a-second-sample-inf-2.csv")
    assert list(kept) == list(SURVEY.schema.names)


def test_what_a_tool_takes_beyond_its_memory_is_refused(tmp_path):
    setting = Setting(NOWHERE, 60, memory=0.05)
    found = run_cell(Cell("survey", float("inf"), "a second sample"), setting)
    assert "error" in found
