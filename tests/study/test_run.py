"""However a study is run and interrupted, its replicates are the same.

Those on disk are trusted only if they are whole, unedited and of this study.
"""

import json
import os
import signal
import threading

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import study_workers
from study_processes import children
from understudy import cli
from understudy.errors import BadInput
from understudy.study import workers
from understudy.study.arms import COLUMNS
from understudy.study.run import ReplicateStore, StudySettings, run_study

SEED = 11


@pytest.fixture
def quick(monkeypatch):
    """Replicates that take no time."""
    monkeypatch.setattr(workers, "run_one", study_workers.quick)


def test_the_number_of_workers_changes_neither_results_nor_their_order(quick, tmp_path):
    alone = run_study(tmp_path / "alone", replicates=5, seed=SEED, workers=1)
    together = run_study(tmp_path / "together", replicates=5, seed=SEED, workers=2)
    assert list(alone["value"]) == [SEED + number / 7 for number in range(1, 6)]
    pd.testing.assert_frame_equal(together, alone, check_exact=True)


@pytest.mark.slow
def test_the_number_of_workers_changes_nothing_in_real_replicates(alone, tmp_path):
    together = run_study(tmp_path, replicates=3, seed=SEED, workers=2)
    pd.testing.assert_frame_equal(together, alone, check_exact=True)


@pytest.mark.slow
def test_a_dask_cluster_changes_nothing_even_if_a_worker_is_killed(alone, tmp_path):
    """A real cluster of separate processes, one of which is killed while they work."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster:
        address = cluster.scheduler_address
        with distributed.Client(address) as client:
            victim = next(iter(client.run(os.getpid).values()))
        killer = threading.Timer(4, os.kill, (victim, signal.SIGKILL))
        killer.start()
        spread = run_study(tmp_path, replicates=3, seed=SEED, scheduler=address)
        killer.join()
    pd.testing.assert_frame_equal(spread, alone, check_exact=True)


@pytest.mark.slow
def test_a_killed_worker_does_not_lose_the_study(alone, tmp_path):
    """One of the two processes is killed while they work."""
    killed = threading.Thread(target=kill_one_child, daemon=True)
    killed.start()
    survived = run_study(tmp_path, replicates=3, seed=SEED, workers=2)
    killed.join()
    pd.testing.assert_frame_equal(survived, alone, check_exact=True)


def kill_one_child():
    os.kill(children(os.getpid(), wanted=2)[0], signal.SIGKILL)


def test_finished_replicates_are_kept_checked_and_not_run_again(quick, tmp_path, monkeypatch):
    fresh = run_study(tmp_path / "fresh", replicates=3, seed=SEED, workers=1)
    place = tmp_path / "resumed"
    run_study(place, replicates=2, seed=SEED, workers=1)
    damaged = place / "replicates" / "0002.parquet"
    frame = pd.read_parquet(damaged)
    frame.loc[0, "value"] += 1e-9
    frame.to_parquet(damaged)
    ran = []
    run_one = workers.run_one
    monkeypatch.setattr(
        workers, "run_one", lambda number, *rest: ran.append(number) or run_one(number, *rest)
    )
    resumed = run_study(place, replicates=3, seed=SEED, workers=1)
    assert ran == [2, 3]
    pd.testing.assert_frame_equal(resumed, fresh, check_exact=True)


def test_a_directory_with_something_else_in_it_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(BadInput, match="something else"):
        run_study(tmp_path, replicates=1, seed=SEED)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_replicates_that_vanish_while_the_study_runs_are_missed(quick, tmp_path):
    def forget(name, done):
        if done == 1:
            (tmp_path / "replicates" / "0001.parquet").unlink()

    with pytest.raises(BadInput, match="replicates vanished"):
        run_study(tmp_path, replicates=2, seed=SEED, workers=1, progress=forget)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--replicates", "0"], "--replicates must be from 1"),
        (["--seed", "-1"], "--seed must be"),
        (["--sampler", "gibbs"], "--sampler must be quadrature or nuts"),
        (["--workers", "0"], "--workers must be 1 or more"),
        (["--workers", "2", "--scheduler", "tcp://x:1"], "leave out one of them"),
        (["--scheduler", "nonsense://nowhere"], "no Dask scheduler answers"),
    ],
)
def test_wrong_arguments_are_told_in_one_sentence(
    arguments, sentence, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert cli.run(["study", *arguments]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1


def opened(directory):
    return ReplicateStore.open(directory, StudySettings(seed=SEED, sampler="quadrature"))


def test_a_replicate_is_read_as_it_was_written_and_by_its_own_study_only(tmp_path):
    store = opened(tmp_path)
    _, rows = study_workers.quick(3, SEED, "quadrature")
    store.write(3, rows)
    pd.testing.assert_frame_equal(store.read(3), pd.DataFrame(rows, columns=list(COLUMNS)))
    assert store.read(4) is None
    other = ReplicateStore(tmp_path, StudySettings(seed=SEED + 1, sampler="quadrature"))
    assert other.read(3) is None


def test_a_truncated_file_is_run_again(tmp_path):
    store = opened(tmp_path)
    store.write(1, study_workers.quick(1, SEED, "quadrature")[1])
    assert store.read(1) is not None
    place = tmp_path / "replicates" / "0001.parquet"
    place.write_bytes(place.read_bytes()[:100])
    assert store.read(1) is None


def test_an_edited_number_is_not_trusted_even_with_the_digest_beside_it(tmp_path):
    store = opened(tmp_path)
    store.write(1, study_workers.quick(1, SEED, "quadrature")[1])
    place = tmp_path / "replicates" / "0001.parquet"
    table = pq.read_table(place)
    values = pa.array([table["value"][0].as_py() + 1e-9])
    edited = table.set_column(table.schema.get_field_index("value"), "value", values)
    pq.write_table(edited.replace_schema_metadata(table.schema.metadata), place)
    assert store.read(1) is None


@pytest.mark.parametrize("change", [{"seed": SEED + 1}, {"sampler": "nuts"}])
def test_replicates_of_two_studies_are_not_mixed(tmp_path, change):
    settings = {"seed": SEED, "sampler": "quadrature"}
    ReplicateStore.open(tmp_path, StudySettings(**settings))
    with pytest.raises(BadInput, match="must not be mixed"):
        ReplicateStore.open(tmp_path, StudySettings(**{**settings, **change}))


@pytest.mark.parametrize("text", ["{", "[1]"])
def test_a_damaged_description_is_refused(tmp_path, text):
    (tmp_path / "study.json").write_text(text)
    with pytest.raises(BadInput, match="is damaged"):
        opened(tmp_path)


def test_a_directory_of_the_application_may_hold_the_study_too(tmp_path):
    (tmp_path / "application").mkdir()
    (tmp_path / "index.html").write_text("")
    opened(tmp_path)
    assert json.loads((tmp_path / "study.json").read_text())["seed"] == SEED
