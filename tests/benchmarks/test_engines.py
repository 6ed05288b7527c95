"""The contest of engines: the same measurements for all, and each of them able to win.

Given tables without noise, every engine has to find what they say; an engine that cannot would lose
for a defect of ours.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engines import pool, run, simulated, tree
from engines.published import Published, measure
from engines.sequence import sequence
from peers.cells import Cell, Setting
from peers.record import recorded
from understudy.domain import tables
from understudy.domain.schema import Schema
from understudy.models.table.conditional import EFFECT, Conditional

ROWS = 4000
LEVELS = {"role": "confidential", "type": "categorical"}
SCHEMA = Schema.from_dict(
    {
        "table": {"size": ROWS},
        "columns": {
            "pay": {
                "role": "confidential",
                "type": "continuous",
                "bounds": [0, 100],
                "missing": "model",
            },
            "kind": LEVELS | {"levels": ["a", "b", "c"]},
            "age": {"role": "confidential", "type": "integer", "bounds": [20, 29]},
            "coin": LEVELS | {"levels": ["heads", "tails"]},
        },
    }
)


def table() -> pd.DataFrame:
    random = np.random.default_rng(0)
    kind = random.choice(3, ROWS, p=[0.5, 0.3, 0.2])
    age = np.minimum(random.integers(20, 27, ROWS) + kind, 29)
    pay = 100 * random.beta(2 + 2 * kind, 6)
    return pd.DataFrame(
        {
            "pay": np.where(random.random(ROWS) < 0.1 * kind, np.nan, pay),
            "kind": np.array(["a", "b", "c"])[kind],
            "age": age,
            "coin": np.array(["heads", "tails"])[random.integers(2, size=ROWS)],
        }
    )


@pytest.fixture(scope="module")
def given() -> Published:
    """Return measurements with next to no noise, as a file holds them."""
    return Published.of(json.loads(json.dumps(measure(table(), SCHEMA, 10_000.0, seed=0))))


def grouped(frame: pd.DataFrame, given: Published) -> dict[str, np.ndarray]:
    columns = tables.encode(frame, SCHEMA)
    return {name: each.read(columns) for name, each in given.columns.items()}


def apart(frame: pd.DataFrame, given: Published) -> float:
    """Return the largest total variation of a pair that was measured from the table's own."""
    real, made = grouped(table(), given), grouped(frame, given)
    found = []
    for one, other in given.tables.pairs:
        wide = given.columns[other].count
        shares = [
            np.bincount(each[one] * wide + each[other], minlength=wide * given.columns[one].count)
            / len(each[one])
            for each in (real, made)
        ]
        found.append(np.abs(shares[0] - shares[1]).sum() / 2)
    return float(max(found))


def test_what_is_published_is_what_was_counted(given):
    real = grouped(table(), given)
    assert set(given.tables.single) == set(SCHEMA.names)
    assert len(given.tables.pairs) == 6
    for (one, other), counted in given.tables.pairs.items():
        own = np.zeros(counted.values.shape)
        np.add.at(own, (real[one], real[other]), 1)
        assert np.abs(counted.values - own).max() < 1
    assert given.tables.size == pytest.approx(ROWS, abs=1)


def test_groups_lead_to_rows_of_these_groups_inside_the_domain(given):
    groups = grouped(table(), given)
    frame = given.frame(groups, np.random.default_rng(1))
    for name, own in grouped(frame, given).items():
        assert (own == groups[name]).all()
    assert (frame["pay"].isna() == table()["pay"].isna()).all()
    # Inside groups codes are as the column's own table has them.
    assert np.abs(frame["age"].value_counts() - table()["age"].value_counts()).max() <= 60


@pytest.mark.parametrize(
    "engine", [sequence, pool.of_independents, pool.of_the_sequence, pool.resampled]
)
def test_every_engine_finds_what_tables_without_noise_say(engine, given, monkeypatch):
    monkeypatch.setattr(pool, "RECORDS", 20_000)
    made, _ = engine(given, np.random.default_rng(2))
    assert len(made) == ROWS
    assert apart(made, given) < 0.045


def test_independent_columns_do_not(given):
    alone, _ = pool.independent(given, np.random.default_rng(2))
    assert apart(alone, given) > 0.1


def test_a_junction_tree_finds_it_too(given, monkeypatch):
    pytest.importorskip("mbi")
    monkeypatch.setattr(tree, "STEPS", 300)
    made, told = tree.tree(given, np.random.default_rng(2))
    assert told["pairs_kept"] >= 3
    assert apart(made, given) < 0.045


def test_a_tree_holds_what_is_farthest_from_independent_and_no_more_cells_than_it_may(given):
    pytest.importorskip("mbi")
    counts = {name: each.count for name, each in given.columns.items()}
    every = tree.pairs(given)
    assert tree.cells(given, every) <= np.prod(list(counts.values()))
    few = tree.pairs(given, most=counts["pay"] * counts["kind"] + counts["age"] + counts["coin"])
    assert few == [max(given.tables.pairs, key=lambda pair: tree.surplus(given, pair))]
    assert set(few[0]) in ({"pay", "kind"}, {"kind", "age"})
    assert tree.pairs(given, most=1) == []


def test_a_pool_has_the_effects_of_joint_and_its_misfit_the_slope_that_it_says(given):
    drawn = np.random.default_rng(3)
    counts = {name: each.count for name, each in given.columns.items()}
    pooled = pool.Pool.of(given, {n: drawn.integers(k, size=300) for n, k in counts.items()})
    assert pooled.shares.sum() == pytest.approx(1)
    # An effect of a pair is what `joint` makes of the same parameters.
    wide = {name: each.patterns for name, each in given.columns.items()}
    (one, other), start = next(iter(given.tables.pairs)), sum(counts.values())
    found = pooled.effects[:, [start + wide[other] * (wide[one] - 1) + 1]].toarray().ravel()
    alone = np.zeros((wide[one], wide[other]))
    alone[-1, 1] = EFFECT
    term = Conditional(given.columns[other], (given.columns[one],))
    expected = term.by_groups(alone, given.columns[one]).ravel()
    assert found[start : start + len(expected)] == pytest.approx(expected)
    assert np.count_nonzero(found) <= len(expected)
    vary = [each.usual for each in given.tables.every]
    at = drawn.normal(size=pooled.effects.shape[1])
    for exact in (False, True):
        _, slope = pooled.objective(at, vary, exact=exact)
        for k in drawn.choice(len(at), 8, replace=False):
            step = 1e-5 * np.eye(len(at))[k]
            ends = [pooled.objective(at + sign * step, vary, exact=exact)[0] for sign in (1, -1)]
            assert slope[k] == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-4, abs=1e-3)


def test_records_are_drawn_as_often_as_their_weights_say():
    shares = np.random.default_rng(4).dirichlet(np.ones(50))
    times = np.bincount(pool.systematic(shares, 1000, np.random.default_rng(5)), minlength=50)
    assert np.abs(times - 1000 * shares).max() < 1


def test_all_engines_of_a_run_have_one_file_and_what_is_recorded_is_not_run_again(
    tmp_path, monkeypatch
):
    ran: list[tuple[str, str, Path]] = []

    def found(cell, setting, number, command):
        ran.append((cell.tool, command[-1], setting.directory))
        if cell.tool == run.MEASURING:
            Path(command[-1]).write_text("{}")
            return {"seconds": 1.0}
        if cell.tool == "tree":
            return {"error": "MemoryError"}
        return {"seconds": 2.0, "memory": 3.0, "k_marginal": 900.0, "pairs": 0.1, "max_ecdf": {}}

    monkeypatch.setattr(run, "run_cell", found)
    kept, setting = tmp_path / "runs.jsonl", Setting(Path("elsewhere"), 1)
    for _ in range(2):
        cells = [Cell(simulated.NAME, 1.0, engine) for engine in ("sequence", "tree")]
        for number in (1, 2):
            run.one_run(cells, number, setting, tmp_path, kept)
    assert [each[0] for each in ran] == [run.MEASURING, "sequence", "tree"] * 2
    assert len({path for _, path, _ in ran}) == 2
    # The simulated table is where it was written, and not where the others are.
    assert {place for _, _, place in ran} == {tmp_path}
    assert len(recorded(kept)) == 6
    assert "| 900.0 (900 to 900) | 0.1000 |" in run.row(cells[0])
    assert run.row(cells[1]).endswith("| – | – | – | – | – | MemoryError, MemoryError |")


def test_the_simulated_table_is_declared_and_depends_as_it_says(tmp_path):
    simulated.write(tmp_path)
    made = simulated.SOURCE.read(tmp_path)
    assert len(made.columns) == 30
    assert len(made) == simulated.ROWS
    tables.encode(made, simulated.SOURCE.schema)
    assert (made["chain3"] == made["chain4"]).mean() > 0.6
    tables_of_two = pd.crosstab(made["class0"], made["class9"], normalize=True).to_numpy()
    alone = np.outer(tables_of_two.sum(1), tables_of_two.sum(0))
    assert np.abs(tables_of_two - alone).sum() / 2 > 0.02
    assert abs(np.corrcoef(np.log(made["number0"]), made["number8"])[0, 1]) > 0.1
