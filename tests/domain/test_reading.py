"""Tables that are held or streamed: the same release, or one sentence that says why not."""

import os
from functools import partial

import numpy as np
import pandas as pd
import pytest

import understudy as us
from cluster_work import total_but_one_dies
from refusals import refusal
from understudy.domain import reading, records
from understudy.domain.records import Held, Streamed
from understudy.errors import BadInput, Refused
from understudy.synthesis.preparation import prepare

SLOW = pytest.mark.slow

PAY = {"role": "confidential", "type": "continuous", "bounds": [0, 100]}
SEX = {"role": "public", "type": "categorical", "levels": ["f", "m"]}
JOB = {"role": "confidential", "type": "categorical", "levels": ["a", "b", "c"]}
AGE = {"role": "confidential", "type": "integer", "bounds": [16, 90]}
WEIGHT = {"role": "survey-weight", "bounds": [0, 500], "average": 100}
ROWS = 3000


def table(rows=ROWS):
    generator = np.random.default_rng(11)
    return pd.DataFrame(
        {
            "pay": 100 * generator.beta(2, 5, rows),
            "sex": generator.choice(["f", "m"], rows),
            "job": generator.choice(["a", "b", "c"], rows, p=[0.2, 0.3, 0.5]),
            "age": generator.integers(16, 91, rows),
            "weight": generator.gamma(4, 25, rows),
        }
    )


def case(name):
    """Return a model and the columns of its table."""
    columns = {
        "beta": {"pay": PAY},
        "regression": {"pay": PAY, "sex": SEX},
        "weights": {"pay": PAY, "sex": SEX, "weight": WEIGHT},
        "joint": {"pay": PAY, "sex": SEX, "job": JOB, "age": AGE},
    }[name]
    schema = us.Schema.from_dict({"table": {"size": ROWS}, "columns": columns})
    if name == "joint":
        return us.joint(schema), [*columns]
    if name == "beta":
        return us.beta(schema), [*columns]
    return us.formula("pay ~ sex", family="beta", schema=schema), [*columns]


@pytest.fixture
def small(monkeypatch):
    """Let no table be small enough to be held."""
    monkeypatch.setattr(reading, "_CELL", 2**40)
    monkeypatch.setattr(reading, "_LETTER", 2**40)
    monkeypatch.setattr(reading.Reading, "check_public", lambda *given: None)


def rounds(model, given, **options):
    """Return what the rounds of a summary publish of a table."""
    request = prepare(model, given, us.Summary(epsilon=1.0), seed=4, **options)
    return [each.to_dict() for each in request.mechanism.plan(request).measure().published]


@pytest.mark.parametrize(
    "name", ["beta", *(pytest.param(n, marks=SLOW) for n in ("regression", "weights", "joint"))]
)
def test_what_is_published_is_the_same_however_the_table_is_split(
    tmp_path, monkeypatch, small, name
):
    model, columns = case(name)
    frame = table()[columns]
    expected = rounds(model, frame)
    for k, (batch, files, suffix) in enumerate([(65_536, 1, "parquet"), (700, 4, "csv")]):
        folder = tmp_path / str(k)
        folder.mkdir()
        for number, piece in enumerate(np.array_split(np.arange(ROWS), files)):
            path, some = folder / f"{number}.{suffix}", frame.iloc[piece]
            some.to_csv(path, index=False) if suffix == "csv" else some.to_parquet(path)
        monkeypatch.setattr(reading, "_LARGEST_BATCH", batch)
        assert rounds(model, folder) == expected


@SLOW
def test_a_cluster_publishes_the_same_though_a_worker_dies(tmp_path, monkeypatch):
    """Each part is read by another process, and the first one that adds up is killed."""
    distributed = pytest.importorskip("distributed")
    model, columns = case("regression")
    for number, piece in enumerate(np.array_split(np.arange(ROWS), 4)):
        table()[columns].iloc[piece].to_parquet(tmp_path / f"{number}.parquet")
    summed = records._summed
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster:
        mark = str(tmp_path / ".mark")

        def deadly(schema, batch, vector, part):
            return summed(schema, batch, partial(total_but_one_dies, mark, vector), part)

        monkeypatch.setattr(records, "_summed", deadly)
        found = rounds(model, tmp_path, scheduler=cluster.scheduler_address)
    assert os.path.exists(mark)
    assert found == rounds(model, table()[columns])


@SLOW
def test_a_report_of_a_sample_says_so(tmp_path, monkeypatch, small):
    monkeypatch.setattr(records, "SAMPLE", 500)
    model, columns = case("beta")
    table()[columns].to_parquet(tmp_path / "t.parquet")
    release = us.synthesize(model, tmp_path / "t.parquet", us.Summary(epsilon=1.0), rows=50)
    assert release.internal.diagnostics["n"] == ROWS
    assert release.internal.diagnostics["compared"] == ROWS
    page = " ".join(release.internal.report().split())
    assert "3,000 confidential records, of which 500, drawn at random, are shown" in page


@pytest.mark.parametrize("name", ["regression", pytest.param("weights", marks=SLOW)])
def test_numbers_of_a_report_are_those_of_all_records(tmp_path, monkeypatch, small, name):
    """But with survey weights, which make a population of records that are held."""
    monkeypatch.setattr(records, "SAMPLE", 500)
    model, columns = case(name)
    frame = table()[columns]
    frame.to_parquet(tmp_path / "t.parquet")
    release = us.synthesize(model, tmp_path / "t.parquet", us.Summary(epsilon=1.0), seed=2)
    inside = release.internal.diagnostics
    mean = inside["utility"]["pay"]["confidential"]["mean"]
    if name == "weights":
        assert inside["compared"] == 500
        assert mean != pytest.approx(np.average(frame["pay"], weights=frame["weight"]), rel=1e-9)
    else:
        assert inside["compared"] == ROWS
        assert mean == pytest.approx(frame["pay"].mean(), rel=1e-9)
        distance = us.utility.max_ecdf(frame["pay"], release.synthetic["pay"])
        assert inside["utility"]["pay"]["max_ecdf"] == pytest.approx(distance, abs=3e-3)


def test_a_file_that_changes_while_it_is_counted_is_refused_before_anything_is_charged(
    tmp_path, monkeypatch, small
):
    model, columns = case("beta")
    path = tmp_path / "t.parquet"
    table()[columns].to_parquet(path)
    checked = Streamed.checked

    def changing(*given, **options):
        found = checked(*given, **options)
        table(10)[columns].to_parquet(path)
        return found

    monkeypatch.setattr(Streamed, "checked", changing)
    ledger = us.Ledger.create(tmp_path / "ledger.sqlite", budget=5.0, adjacency="add-remove")
    with pytest.raises(Refused, match="was changed, moved or removed"):
        us.synthesize(model, path, us.Summary(epsilon=1.0), ledger=ledger)
    assert not ledger.entries()


@pytest.mark.parametrize(
    ("cell", "mechanism", "columns", "expected"),
    [
        (2**17, us.Summary(epsilon=1.0), {}, Held),
        (2**18, us.Summary(epsilon=1.0), {}, Streamed),
        (2**18, us.Summary(epsilon=1.0), {"firm": {"role": "ignore"}}, Held),
        (2**18, us.Anchored(epsilon=1.0), {}, Held),
    ],
)
def test_a_table_that_would_just_fit_is_held_where_it_has_to_be(
    tmp_path, monkeypatch, cell, mechanism, columns, expected
):
    monkeypatch.setattr(reading, "_CELL", cell)
    frame = table()[["pay"]].assign(firm=np.arange(ROWS))[["pay", *columns]]
    frame.to_parquet(tmp_path / "t.parquet")
    layout = {"table": {"size": ROWS}, "columns": {"pay": PAY, **columns}}
    model = us.beta(us.Schema.from_dict(layout))
    assert isinstance(prepare(model, tmp_path / "t.parquet", mechanism).records, expected)


def test_a_small_table_is_held(tmp_path):
    model, columns = case("beta")
    table()[columns].to_csv(tmp_path / "t.csv", index=False)
    request = prepare(model, tmp_path / "*.csv", us.Summary(epsilon=1.0))
    assert isinstance(request.records, Held)


@pytest.mark.parametrize(
    ("mechanism", "columns", "sentence"),
    [
        (
            us.Anchored(epsilon=1.0),
            {},
            "t.csv is larger than `memory` allows, and anchored needs all of it at once, unlike "
            "summary: give more `memory`, or a smaller table.",
        ),
        (
            us.Summary(epsilon=1.0),
            {"firm": {"role": "unit"}},
            "t.csv is larger than `memory` allows, and the rows of each 'firm' have to be brought "
            "together: give more `memory`, or a smaller table.",
        ),
        (
            us.Summary(epsilon=1.0),
            {"firm": {"role": "ignore"}},
            "column 'firm' of t.csv looks like an id, and the table is too large to look whether "
            "it repeats: give it role = 'unit' if somebody may have several rows, or write unit = "
            "'row' under [table] if each row is to be protected by itself.",
        ),
    ],
)
def test_what_cannot_be_streamed_is_refused_in_one_sentence(
    tmp_path, monkeypatch, small, mechanism, columns, sentence
):
    monkeypatch.chdir(tmp_path)
    frame = table()[["pay"]].assign(firm=np.arange(ROWS) // 2)
    frame[["pay", *columns]].to_csv("t.csv", index=False)
    layout = {"table": {"size": ROWS}, "columns": {"pay": PAY, **columns}}
    if columns and columns["firm"]["role"] == "unit":
        layout["table"]["rows_per_unit"] = 2
    model = us.beta(us.Schema.from_dict(layout))
    assert refusal(us.synthesize, model, "t.csv", mechanism) == sentence


def test_public_columns_that_are_copied_have_to_fit(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "_CELL", 2**20)
    monkeypatch.setattr(reading, "_COPIED_CELL", 2**20)
    model, columns = case("regression")
    path = tmp_path / "t.parquet"
    table()[columns].to_parquet(path)
    with pytest.raises(BadInput, match="public columns of the table would be copied, and are"):
        us.synthesize(model, path, us.Summary(epsilon=1.0))
    elsewhere = pd.DataFrame({"sex": ["f", "m"] * 50})
    request = prepare(model, path, us.Summary(epsilon=1.0), predictors=elsewhere)
    assert request.skeleton.membership


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_table_without_records_is_refused(tmp_path, small, suffix):
    model, columns = case("beta")
    frame, path = table()[columns][:0], tmp_path / f"t.{suffix}"
    frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    with pytest.raises(BadInput, match=r"has no records, only column names\.$"):
        us.synthesize(model, path, us.Summary(epsilon=1.0))


@SLOW
def test_a_part_that_changes_between_two_rounds_ends_the_run_and_stays_charged(
    tmp_path, monkeypatch, small
):
    model, columns = case("beta")
    table()[columns].to_parquet(tmp_path / "t.parquet")
    ledger = us.Ledger.create(tmp_path / "ledger.db", budget=3.0, adjacency="add-remove")

    def changed(name, fraction):
        if name == "Scores" and fraction == 0.0:
            os.utime(tmp_path / "t.parquet", ns=(0, 1))

    with pytest.raises(Refused, match="changed, moved or removed while the table was read"):
        us.synthesize(
            model,
            tmp_path / "t.parquet",
            us.Summary(epsilon=1.0),
            ledger=ledger,
            progress=changed,
        )
    assert ledger.spent().epsilon == pytest.approx(1.0)
    assert not ledger.chain().published
