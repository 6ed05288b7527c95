"""What may leave and what must stay, on the disk and in the process."""

import errno
import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

import understudy as us
from understudy.cli import run
from understudy.domain import tables
from understudy.errors import BadInput
from understudy.privacy.guarantee import Adjacency, Guarantee, Kind, Weights
from understudy.synthesis.release import Internal, Release, check_destination

GUARANTEE = Guarantee(
    mechanism="censor-uw",
    kind=Kind.STRICT,
    asked=Adjacency.ADD_REMOVE,
    epsilon={Adjacency.ADD_REMOVE: 1.0, Adjacency.REPLACE_ONE: 2.0},
    draws=1,
    weights=Weights.NONE,
    sampler="exact",
    assumptions=(),
    seeded=False,
    rows=2,
)

FRAME = pd.DataFrame({"x": [0.25, 0.5]})

SCHEMA = {"columns": {"x": {"role": "confidential", "type": "continuous", "bounds": [0, 1]}}}


def release(count=1, report=lambda *answers: "<p>report</p>"):
    parameters = tuple({"parameters": {"phi": k}, "schema": SCHEMA} for k in range(count))
    internal = Internal({"n": 2}, report)
    return Release.of(GUARANTEE, (FRAME,) * count, parameters, model=None, internal=internal)


def files(directory):
    return sorted(str(p.relative_to(directory)) for p in directory.rglob("*") if p.is_file())


def test_a_release_has_the_layout_of_the_contract(tmp_path):
    out = release().write(tmp_path / "deep" / "out")
    assert files(out) == [
        "internal/diagnostics.json",
        "internal/report.html",
        "public/card.html",
        "public/guarantee.json",
        "public/guarantee.txt",
        "public/parameters.json",
        "public/synthetic.csv",
    ]
    assert json.loads((out / "public/guarantee.json").read_text()) == GUARANTEE.to_dict()
    assert (out / "public/guarantee.txt").read_text() == str(GUARANTEE)
    assert tables.read(out / "public/synthetic.csv")["x"].astype(float).tolist() == [0.25, 0.5]


def test_several_tables_are_numbered_with_their_parameters(tmp_path):
    out = release(3).write(tmp_path / "out", parquet=True)
    names = {path.name for path in (out / "public").iterdir()}
    assert {"synthetic.csv", "synthetic-2.csv", "synthetic-3.csv", "synthetic-3.parquet"} <= names
    assert json.loads((out / "public/parameters-3.json").read_text())["parameters"]["phi"] == 2


def test_only_the_owner_can_read_what_is_internal(tmp_path):
    out = release().write(tmp_path / "out")
    assert stat.S_IMODE((out / "internal").stat().st_mode) == 0o700
    for file in (out / "internal").iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((out / "public/synthetic.csv").stat().st_mode) == 0o666 & ~mask
    assert stat.S_IMODE(out.stat().st_mode) == 0o777 & ~mask


@pytest.mark.parametrize("when", ["table", "report", "move"])
def test_a_failure_at_any_moment_leaves_nothing_behind(tmp_path, monkeypatch, when):
    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if when == "table":
        monkeypatch.setattr(tables, "write_all", full)
    elif when == "move":
        monkeypatch.setattr("understudy.synthesis.release._move_into_place", full)
    with pytest.raises(OSError, match="No space"):
        release(report=full if when == "report" else lambda *answers: "").write(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_an_existing_directory_is_replaced_only_by_force(tmp_path):
    out = release().write(tmp_path / "out")
    with pytest.raises(BadInput, match="exists already"):
        release(2).write(out)
    assert len(files(out)) == 7
    release(2).write(out, force=True)
    assert len(files(out)) == 9
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_failed_replacement_leaves_the_earlier_release_in_place(tmp_path):
    out = release().write(tmp_path / "out")
    before = files(out)

    def interrupt(*answers):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        release(2, report=interrupt).write(out, force=True)
    assert files(out) == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_force_never_deletes_what_is_not_a_release(tmp_path):
    precious = tmp_path / "home"
    precious.mkdir()
    (precious / "thesis.tex").write_text("years of work")
    with pytest.raises(BadInput, match="something other than a release"):
        release().write(precious, force=True)
    file = tmp_path / "file"
    file.write_text("")
    link = tmp_path / "link"
    link.symlink_to(precious)
    for other in (file, link):
        with pytest.raises(BadInput, match="something other than a release"):
            check_destination(other, force=True)
    assert (precious / "thesis.tex").exists()


@pytest.mark.skipif(not Path("/proc").exists(), reason="where even root cannot make a file")
def test_a_destination_that_takes_no_files_is_refused_before_any_work_is_done():
    with pytest.raises(BadInput, match="nothing can be written to '/proc'"):
        check_destination(Path("/proc/x"), force=False)


def test_a_destination_below_a_file_is_refused_before_any_work_is_done(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(BadInput, match="nothing can be written"):
        check_destination(file / "deep" / "out", force=False)


JOB = ["synthesize", "survey.csv", "--schema", "survey.toml", "--out", "out", "--quiet"]
JOB += ["--mechanism", "ph", "--epsilon", "1", "--ledger", "ledger.db"]


def hidden_names(directory):
    return [path.name for path in directory.iterdir() if path.name.startswith(".")]


STOPPING_AT = """
import pathlib, time
from understudy.synthesis import release

def wait(*arguments, **options):
    pathlib.Path("busy").touch()
    time.sleep(120)

{place} = wait
from understudy.__main__ import main
main()
"""


def started(place):
    return subprocess.Popen([sys.executable, "-c", STOPPING_AT.format(place=place), *JOB])


def shown(capsys):
    capsys.readouterr()
    assert run(["ledger", "show", "ledger.db"]) == 0
    return capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("place", ["release._settle", "release._move_into_place"])
def test_a_killed_run_is_named_by_the_ledger_and_swept_by_the_next(desk, capsys, place):
    us.Ledger.create("ledger.db", budget=5.0, adjacency="add-remove")
    process = started(place)
    try:
        deadline = time.monotonic() + 120
        while not (desk / "busy").exists():
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        (staging,) = hidden_names(desk)
        assert (desk / staging / "internal/diagnostics.json").exists()
        # While the run is alive, its files are nobody's leftovers.
        assert "unfinished" not in shown(capsys)
        check_destination(desk / "out", force=False)
        assert (desk / staging / "internal/diagnostics.json").exists()
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    told = shown(capsys)
    assert (
        f"entry 1: left unfinished files in '{desk / staging}'; the next run to the same place "
        "removes them, or remove the directory yourself." in " ".join(told.split())
    )
    assert run(JOB) == 0
    assert hidden_names(desk) == []
    assert "unfinished" not in shown(capsys)
    for file in (desk / "out/public").iterdir():
        assert str(desk) not in file.read_text("utf-8")
