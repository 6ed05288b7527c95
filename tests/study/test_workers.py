"""Workers: one that dies is replaced, many end the study, and none outlives it."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

import study_workers
from study_processes import children
from understudy.errors import Refused
from understudy.study import workers
from understudy.study.run import run_study

SEED = 11


def test_the_replicate_of_a_worker_that_died_is_run_again(tmp_path, monkeypatch):
    mark = tmp_path / "mark"
    monkeypatch.setenv(study_workers.MARK, str(mark))
    monkeypatch.setattr(workers, "run_one", study_workers.quick_but_one_dies)
    finished = dict(workers.in_processes([1, 2, 3], SEED, "quadrature", workers=2))
    assert mark.exists()
    expected = [study_workers.quick(number, SEED, "quadrature") for number in (1, 2, 3)]
    assert finished == dict(expected)


def test_workers_that_keep_dying_end_the_study_with_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "run_one", study_workers.die)
    with pytest.raises(Refused, match="fewer workers"):
        run_study(tmp_path, replicates=2, seed=SEED, workers=2)


def test_workers_end_with_the_process_that_started_them():
    program = (
        "import time; from understudy.study.workers import pool; processes = pool(2); "
        "[processes.submit(time.sleep, 60) for _ in range(2)]; time.sleep(60)"
    )
    started = subprocess.Popen([sys.executable, "-c", program])
    numbers = children(started.pid, wanted=2)
    started.kill()
    started.wait()
    deadline = time.monotonic() + 20
    while any(Path(f"/proc/{number}").exists() for number in numbers):
        assert time.monotonic() < deadline, "workers outlived the study"
        time.sleep(0.1)
