"""`understudy sample`: more rows from a release."""

import json
import math
import shutil
import subprocess
import sys

import pytest

from command_line import (
    TWO_COLUMNS,
    histogram,
    names,
    parameters,
    run,
    synthetic,
    understudy,
)
from understudy import cli
from understudy.domain import tables
from understudy.utility import max_ecdf


@pytest.fixture
def released(release, tmp_path):
    """The public part of a release, alone in an empty directory."""
    return shutil.copytree(release / "public", tmp_path / "public")


@pytest.mark.parametrize("extension", ["csv", "parquet"])
def test_more_rows_come_from_the_public_part_alone(released, extension, tmp_path, capsys):
    file = tmp_path / f"more.{extension}"
    run("sample", released, "--rows", 500, "-o", file)
    more = tables.read(file)
    assert list(more.columns) == ["salary"]
    assert len(more) == 500
    assert more["salary"].astype(float).between(0, 1e6).all()
    assert "500 rows" in capsys.readouterr().out
    assert names(tmp_path) == {"public", file.name}


@pytest.mark.slow
def test_a_process_of_its_own_needs_no_confidential_table(desk):
    release = histogram(desk, "out")
    for name in ("survey.csv", "survey.toml", "public.toml"):
        (desk / name).unlink()
    shutil.rmtree(release / "internal")
    made = understudy("sample", "out/public", "--rows", 5, "-o", "more.csv", cwd=desk)
    assert (made.returncode, made.stderr) == (0, "")
    assert len(tables.read(desk / "more.csv")) == 5


@pytest.mark.slow
def test_more_rows_follow_the_released_parameters(regression, tmp_path):
    (tmp_path / "people.csv").write_text("gender,age\n" + "F,20\nM,60\n" * 1000)
    people = ["--predictors", tmp_path / "people.csv"]
    run("sample", regression / "public", "--rows", 2000, *people, "-o", tmp_path / "more.csv")
    more = tables.read(tmp_path / "more.csv")
    assert more["age"].tolist() == ["20", "60"] * 1000
    theta = parameters(regression)["parameters"]
    for gender, age in (("F", 20), ("M", 60)):
        shift = theta["gender[T.M]"] * (gender == "M") + theta["age"] * (age - 18) / 52
        mean = 1e6 / (1 + math.exp(-theta["Intercept"] - shift))
        salaries = more.loc[more["gender"] == gender, "salary"].astype(float)
        assert salaries.mean() == pytest.approx(mean, abs=6 * salaries.std() / math.sqrt(1000))


@pytest.mark.slow
def test_more_rows_take_their_predictors_from_the_release_itself(regression, tmp_path):
    run("sample", regression / "public", "--rows", 120, "-o", tmp_path / "more.csv")
    more, first = tables.read(tmp_path / "more.csv"), synthetic(regression)
    assert more[["gender", "age"]].equals(first[["gender", "age"]])
    assert not more["salary"].equals(first["salary"])


@pytest.mark.slow
def test_more_rows_of_a_model_in_a_file_need_that_file(two_columns, tmp_path, capsys):
    job = ["sample", str(two_columns / "public"), "--rows", "50", "-o", str(tmp_path / "more.csv")]
    assert cli.run(job) == 2
    assert "--model" in capsys.readouterr().err
    (tmp_path / "model.py").write_text(TWO_COLUMNS + "\n# Changed.\n")
    assert cli.run([*job, "--model", f"{tmp_path / 'model.py'}:pay"]) == 2
    assert "not the one" in capsys.readouterr().err
    (tmp_path / "model.py").write_text(TWO_COLUMNS)
    run(*job, "--model", f"{tmp_path / 'model.py'}:pay")
    more = tables.read(tmp_path / "more.csv")
    assert list(more.columns) == ["salary", "gender"]
    assert len(more) == 50


@pytest.mark.slow
def test_more_rows_can_be_reproduced(regression, tmp_path):
    for name in ("one", "two"):
        file = tmp_path / f"{name}.csv"
        run("sample", regression / "public", "--rows", 30, "--seed", 3, "-o", file)
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


@pytest.mark.parametrize(
    "damage",
    [
        {"model": {"formula": "x ~ I(__import__('os').system('touch pwned'))", "family": "beta"}},
        {"model": {"name": "evil.py:f"}},
        {"model": {"name": 3}},
        {"model": {"formula": "salary ~ 1"}},
        {"parameters": {}},
        {"parameters": {"counts": [-1, 5]}},
        {"parameters": {"counts": "many"}},
        {"parameters": {"counts": [[1]]}},
        {"parameters": []},
        {"schema": {}},
        {"schema_digest": "x"},
        {"mechanism": ["ph"]},
        {"schema": []},
    ],
)
def test_published_parameters_are_not_trusted(desk, earlier, capsys, damage):
    file = earlier / "public/parameters.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | damage))
    (desk / "evil.py").write_text("open('pwned', 'w')")
    assert cli.run(["sample", "out/public", "--rows", "3", "-o", "more.csv"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (desk / "pwned").exists()
    assert not (desk / "more.csv").exists()


def test_a_sample_of_something_that_is_no_release(says, desk):
    job = ["sample", "public", "--rows", "9", "-o", "more.csv"]
    assert "public directory of a release" in says(*job)
    (desk / "public").mkdir()
    (desk / "public" / "parameters.json").write_text("{")
    assert "cannot be read as the parameters" in says(*job)
    (desk / "public" / "parameters.json").write_text("{}")
    assert "not a parameters file" in says(*job)


def test_a_sample_that_makes_no_sense(says, earlier):
    job = ["sample", "out/public"]
    assert "--rows must be" in says(*job, "--rows", "0", "-o", "more.csv")
    assert "--rows" in says(*job, "-o", "more.csv")
    assert ".csv or .parquet" in says(*job, "--rows", "9", "-o", "more.txt")
    assert "needs no model: leave out --model" in says(
        *[*job, "--rows", "9", "-o", "more.csv", "--model", "beta"]
    )
    assert "no public column" in says(
        *[*job, "--rows", "9", "-o", "more.csv", "--predictors", "survey.csv"]
    )


def test_a_place_that_does_not_exist_is_named_before_any_row_is_drawn(says):
    told = says("sample", "nothing", "--rows", "9", "-o", "nod/more.csv")
    assert told == "there is no directory 'nod'."


def test_balanced_rows_are_drawn_where_they_are_asked_for(released, tmp_path):
    """Twice the same shares, but for the last row, where independent rows differ by chance."""

    def salaries(name, *more):
        run("sample", released, "--rows", 400, *more, "-o", tmp_path / name)
        return tables.read(tmp_path / name)["salary"].to_numpy(dtype=float)

    one, other = (salaries(f"{name}.csv", "--balanced") for name in "ab")
    assert max_ecdf(one, other) < 1.5 / 400
    assert max_ecdf(one, salaries("c.csv")) > 2.5 / 400


@pytest.mark.parametrize("extension", ["csv", "parquet"])
def test_a_full_disk_leaves_nothing_half_written(released, extension, tmp_path):
    """A limit on the size of files stands for a disk that is full."""
    words = ["sample", str(released), "--rows", "200000", "-o", str(tmp_path / f"m.{extension}")]
    code = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "from understudy import cli\n"
        f"sys.exit(cli.run({words!r}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "File too large" in done.stderr
    assert done.stderr.count("\n") == 1
    assert names(tmp_path) == {"public"}
