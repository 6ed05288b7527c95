"""The command line as a new user meets it: what it prints, and what it leaves on the disk.

Most commands run in this process, because starting one costs seconds; the ones on which a user's
first impression depends run as a process of their own.
"""

import json
import math
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from understudy import __version__, cli
from understudy.domain import tables
from understudy.domain.schema import Schema

EPSILON = 2.0

PUBLIC = {"synthetic.csv", "parameters.json", "guarantee.json", "guarantee.txt", "card.html"}
INTERNAL = {"report.html", "diagnostics.json"}
IN_GUARANTEE = {
    "mechanism",
    "kind",
    "epsilon",
    "delta",
    "draws",
    "stages",
    "weights",
    "sampler",
    "assumptions",
    "seeded",
    "charged",
    "rows",
}
IN_DIAGNOSTICS = {
    "parameters",
    "lipschitz_bound",
    "local_epsilon",
    "censored_records",
    "n",
    "divergences",
    "seconds",
    "utility",
}
PROMISED = {
    "unweighted": {"kind": "none", "weights": "none", "sampler": "nuts"},
    "weighted": {"kind": "asymptotic", "weights": "same-data", "sampler": "nuts"},
    "weighted-e": {"kind": "asymptotic", "weights": "same-data", "sampler": "nuts"},
    "censor-uw": {"kind": "conditional", "weights": "none", "sampler": "nuts"},
    "censor-w": {"kind": "asymptotic", "weights": "same-data", "sampler": "nuts"},
    "ph": {"kind": "strict", "weights": "none", "sampler": "none"},
}
OPTIONS = {
    "demo": {"--out", "--seed", "--force", "--quiet"},
    "init": {"--out", "--force"},
    "synthesize": {
        "--schema",
        "--model",
        "--out",
        "--mechanism",
        "--epsilon",
        "--adjacency",
        "--rows",
        "--family",
        "--c1",
        "--c2",
        "--bins",
        "--predictors",
        "--sampler",
        "--tables",
        "--parquet",
        "--seed",
        "--accept-poor-mixing",
        "--force",
        "--quiet",
    },
    "sample": {"--rows", "--out", "--predictors", "--model", "--seed", "--force"},
    "compare": {"--schema", "--regression", "--out", "--json", "--force"},
}

TWO_COLUMNS = """\
import numpyro
import numpyro.distributions as dist


def pay(salary, gender, n):
    share = numpyro.sample("share", dist.Beta(1, 1))
    centre = numpyro.sample("centre", dist.Normal(12, 1).expand([2]).to_event(1))
    spread = numpyro.sample("spread", dist.LogNormal(0, 1))
    with numpyro.plate("records", n):
        level = numpyro.sample("gender", dist.Bernoulli(share), obs=gender)
        numpyro.sample("salary", dist.LogNormal(centre[level], spread), obs=salary)
"""


def understudy(*arguments, cwd):
    """Run the installed command as a process of its own."""
    plain = {"COLUMNS": "120", "_TYPER_FORCE_DISABLE_TERMINAL": "1"}
    return subprocess.run(
        [sys.executable, "-m", "understudy", *map(str, arguments)],
        cwd=cwd,
        env=os.environ | plain,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def run(*arguments):
    """Run a command here and expect it to succeed."""
    assert cli.run([str(argument) for argument in arguments]) == 0


def synthesize(directory, out, *options, schema="survey.toml", table="survey.csv"):
    """Synthesise the survey in `directory` and return where the release is."""
    run(
        "synthesize",
        directory / table,
        "--schema",
        directory / schema,
        "--out",
        directory / out,
        "--quiet",
        *options,
    )
    return directory / out


def histogram(directory, out, *options, **files):
    """Synthesise by the perturbed histogram, the fastest mechanism."""
    return synthesize(
        directory, out, "--mechanism", "ph", "--epsilon", EPSILON, "--bins", 10, *options, **files
    )


def without_size(directory, schema="survey.toml"):
    """Remove the declared size from a schema."""
    path = directory / schema
    path.write_text(path.read_text().replace("size = 120\n", ""))
    return schema


def guarantee(release):
    return json.loads((release / "public" / "guarantee.json").read_text())


def parameters(release, suffix=""):
    return json.loads((release / "public" / f"parameters{suffix}.json").read_text())


def diagnostics(release):
    return json.loads((release / "internal" / "diagnostics.json").read_text())


def synthetic(release, name="synthetic.csv"):
    return tables.read(release / "public" / name)


def names(directory):
    return {path.name for path in directory.iterdir()}


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def fits_schema(frame, schema):
    """Whether a table reads back as one that the schema declares: `encode` refuses any other."""
    columns = tables.encode(frame, Schema.load(schema))
    return list(frame.columns) == list(columns)


@pytest.fixture(scope="module", params=PROMISED)
def release(request, survey, tmp_path_factory):
    """A release of each mechanism."""
    directory = survey.write(tmp_path_factory.mktemp(request.param))
    options = ["--mechanism", request.param, "--model", "beta", "--epsilon", EPSILON]
    return synthesize(directory, "out", *options)


@pytest.fixture(scope="module")
def regression(survey, tmp_path_factory):
    """A release of a regression on public predictors that are copied from the table."""
    directory = survey.write(tmp_path_factory.mktemp("regression"))
    options = ["--model", "salary ~ gender + age", "--family", "beta", "--epsilon", EPSILON]
    return synthesize(directory, "out", *options, schema="public.toml")


@pytest.fixture(scope="module")
def two_columns(survey, tmp_path_factory):
    """A release of two confidential columns by a NumPyro function in a file."""
    directory = survey.write(tmp_path_factory.mktemp("two"))
    both = survey.schema.replace('"ignore"\ntype = "cat', '"confidential"\ntype = "cat')
    (directory / "both.toml").write_text(both)
    (directory / "model.py").write_text(TWO_COLUMNS)
    # The density of a salary in full units is about exp(−13): a small ε would censor it always.
    options = ["--model", f"{directory / 'model.py'}:pay", "--epsilon", 40]
    return synthesize(directory, "out", *options, schema="both.toml")


# What it says about itself.


@pytest.mark.parametrize("command", OPTIONS)
def test_help_of_each_command_names_its_options(command, tmp_path):
    shown = understudy(command, "--help", cwd=tmp_path)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "Usage: understudy " + command in shown.stdout
    assert set(re.findall(r"--[a-z0-9-]+", shown.stdout)) >= OPTIONS[command]
    assert not names(tmp_path)


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], []])
def test_help_names_every_command(arguments, tmp_path):
    shown = understudy(*arguments, cwd=tmp_path)
    assert (shown.returncode, shown.stderr) == (0, "")
    for command in OPTIONS:
        assert f" {command} " in shown.stdout


def test_it_tells_its_version(tmp_path):
    shown = understudy("--version", cwd=tmp_path)
    assert (shown.returncode, shown.stdout) == (0, f"understudy {__version__}\n")


# The way of a new user.


def test_a_new_user_gets_from_a_table_to_a_release(tmp_path, survey):
    (tmp_path / "salaries.csv").write_text(survey.table)
    drafted = understudy("init", "salaries.csv", "-o", "salaries.toml", cwd=tmp_path)
    assert drafted.returncode == 0
    assert "draft" in drafted.stdout
    job = ["synthesize", "salaries.csv", "--schema", "salaries.toml", "--out", "out"]
    job += ["--model", "beta", "--epsilon", "2"]

    blank = understudy(*job, cwd=tmp_path)
    assert blank.returncode == 2
    assert "columns.salary.type, columns.salary.bounds or levels" in blank.stderr
    assert names(tmp_path) == {"salaries.csv", "salaries.toml"}

    draft = tmp_path / "salaries.toml"
    text = draft.read_text().replace('size = "FILL IN"', "size = 120")
    text = text.replace('type = "FILL IN"', 'type = "continuous"', 1)
    text = text.replace('bounds = "FILL IN"', "bounds = [0, 1000000]", 1)
    for name in ("gender", "age"):
        text = re.sub(rf'(\[columns.{name}\]\nrole = )"\w+"', r'\1"ignore"', text)
    draft.write_text(text)

    made = understudy(*job, cwd=tmp_path)
    assert (made.returncode, made.stderr) == (0, "")
    assert "Strict differential privacy with ε = 2 when one record is added or" in made.stdout
    assert "out/public/synthetic.csv" in made.stdout
    assert "out/internal/report.html  (confidential)" in made.stdout
    assert names(tmp_path) == {"salaries.csv", "salaries.toml", "out"}
    assert names(tmp_path / "out") == {"public", "internal"}
    assert names(tmp_path / "out" / "public") == PUBLIC
    assert names(tmp_path / "out" / "internal") == INTERNAL


@pytest.mark.parametrize("stream", ["broken", "closed"])
def test_a_release_stands_even_if_nobody_reads_what_is_printed(desk, stream):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "understudy", "synthesize", "survey.csv", "--schema"]
    command += ["survey.toml", "--out", "out", "--mechanism", "ph", "--epsilon", "2"]
    if stream == "closed":
        command = ["sh", "-c", '"$@" >&-', "sh", *command]
    made = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(writer)
    assert (made.returncode, made.stderr) == (0, b"")
    assert names(desk / "out" / "public") == PUBLIC


def test_a_draft_names_the_columns_and_learns_nothing_else(desk, survey):
    run("init", "survey.csv", "-o", "draft.toml")
    text = Path("draft.toml").read_text()
    for name in ("salary", "gender", "age"):
        assert f"[columns.{name}]" in text
    assert survey.secret not in text
    assert "120" not in text
    assert text.count('= "FILL IN"') == 1 + 3 * 3


def test_a_draft_is_called_after_its_table_and_overwritten_only_by_force(desk, capsys):
    Path("survey.toml").unlink()
    run("init", "survey.csv")
    Path("survey.toml").write_text("mine")
    assert cli.run(["init", "survey.csv"]) == 2
    assert Path("survey.toml").read_text() == "mine"
    run("init", "survey.csv", "--force")
    assert "FILL IN" in Path("survey.toml").read_text()


# What a release holds, whatever the mechanism.


def test_a_release_has_exactly_its_files(release):
    assert names(release) == {"public", "internal"}
    assert names(release / "public") == PUBLIC
    assert names(release / "internal") == INTERNAL


def test_nothing_but_the_release_is_left_on_the_disk(release):
    assert names(release.parent) == {"survey.csv", "survey.toml", "public.toml", "out"}


def test_only_their_owner_can_read_the_confidential_files(release):
    assert mode(release / "internal") == 0o700
    assert {mode(path) for path in (release / "internal").iterdir()} == {0o600}
    umask = os.umask(0)
    os.umask(umask)
    assert mode(release) == mode(release / "public") == 0o777 & ~umask
    assert {mode(path) for path in (release / "public").iterdir()} == {0o666 & ~umask}


def test_the_guarantee_says_what_the_mechanism_promises(release):
    stated = guarantee(release)
    assert stated.keys() >= IN_GUARANTEE
    promised = PROMISED[stated["mechanism"]]
    assert {key: stated[key] for key in promised} == promised
    stating = stated["kind"] in ("strict", "conditional")
    numbers = {"add-remove": EPSILON, "replace-one": 2 * EPSILON}
    assert stated["epsilon"] == (numbers if stating else dict.fromkeys(numbers))
    assert stated["delta"] == (0 if stated["kind"] == "strict" else None)
    assert (stated["draws"], stated["stages"], stated["rows"]) == (1, 1, 120)
    assert (stated["seeded"], stated["charged"]) == (False, None)
    assert all(sentence.endswith(".") for sentence in stated["assumptions"])


def test_the_guarantee_is_also_told_in_words(release):
    text = (release / "public" / "guarantee.txt").read_text()
    stated = guarantee(release)
    opening = {
        "strict": "Strict",
        "conditional": "ε = 2, provided that the Markov chains have converged",
        "asymptotic": "No strict",
        "none": "No privacy",
    }
    assert text.startswith(opening[stated["kind"]])
    assert "not charged to any ledger" in text
    for sentence in stated["assumptions"]:
        assert sentence in text
    assert "NOT FOR RELEASE" not in text


def test_the_diagnostics_have_what_the_report_needs(release):
    found = diagnostics(release)
    assert found.keys() >= IN_DIAGNOSTICS
    assert found["n"] == 120
    assert 0 < found["seconds"] < 600
    assert 0 < found["utility"]["salary"]["max_ecdf"] < 1
    if guarantee(release)["mechanism"] == "ph":
        assert found["parameters"] == {}
        return
    assert found["parameters"].keys() == {"phi", "lambda"}
    for summary in found["parameters"].values():
        assert summary.keys() >= {"mean", "sd", "rhat", "ess_bulk"}
        assert summary["sd"] > 0
        assert summary["rhat"] <= 1.01
        assert summary["ess_bulk"] >= 400
    assert found["local_epsilon"] == 2 * found["lipschitz_bound"] > 0
    if guarantee(release)["mechanism"].startswith("censor"):
        assert found["local_epsilon"] <= EPSILON
        assert found["censored_records"] > 0
    else:
        assert found["censored_records"] == 0


def test_the_synthetic_table_has_the_declared_rows_and_fits_the_schema(release):
    frame = synthetic(release)
    assert len(frame) == 120
    only = release.parent / "only.toml"
    only.write_text(
        re.split(r"\n\[columns.gender", (release.parent / "survey.toml").read_text())[0]
    )
    try:
        assert fits_schema(frame, only)
    finally:
        only.unlink()


def test_the_parameters_can_be_read_without_the_confidential_table(release):
    published = parameters(release)
    schema = Schema.load(release.parent / "survey.toml")
    assert Schema.from_dict(published["schema"]) == schema
    assert published["schema_digest"] == schema.digest
    assert published["model"]["name"] in ("beta", "ph")
    theta = published["parameters"]
    if published["model"]["name"] == "ph":
        assert len(theta["counts"]) == math.isqrt(120) + 1
        assert min(theta["counts"]) >= 0
    else:
        assert 0 < theta["phi"] < 1
        assert theta["lambda"] > 0.1


def test_no_confidential_record_is_published(release, survey):
    for path in (release / "public").iterdir():
        assert survey.secret not in path.read_text()


def test_the_report_says_that_it_is_confidential(release):
    assert "CONFIDENTIAL" in (release / "internal" / "report.html").read_text().upper()


# Options.


@pytest.fixture(scope="module")
def twofold(survey, tmp_path_factory):
    """A release of two tables, as CSV and as Parquet."""
    directory = survey.write(tmp_path_factory.mktemp("twofold"))
    options = ["--model", "beta", "--epsilon", EPSILON, "--tables", 2, "--parquet"]
    return synthesize(directory, "out", *options)


def test_each_table_costs_its_own_epsilon(twofold):
    assert names(twofold / "public") == PUBLIC | {
        "synthetic-2.csv",
        "parameters-2.json",
        "synthetic.parquet",
        "synthetic-2.parquet",
    }
    stated = guarantee(twofold)
    assert stated["draws"] == 2
    assert stated["epsilon"] == {"add-remove": 2 * EPSILON, "replace-one": 4 * EPSILON}
    assert parameters(twofold)["parameters"] != parameters(twofold, "-2")["parameters"]
    first, second = synthetic(twofold), synthetic(twofold, "synthetic-2.csv")
    assert len(first) == len(second) == 120
    assert not first.equals(second)


@pytest.mark.parametrize("number", ["", "-2"])
def test_parquet_holds_the_same_table_as_csv(twofold, number):
    text, binary = (synthetic(twofold, f"synthetic{number}.{e}") for e in ("csv", "parquet"))
    np.testing.assert_array_equal(text["salary"].astype(float), binary["salary"])


def test_quiet_means_silence(desk, capsys):
    histogram(desk, "out")
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("mechanism", ["censor-uw", "ph"])
def test_epsilon_is_for_the_adjacency_that_was_asked_for(desk, mechanism):
    options = ["--mechanism", mechanism, "--model", "beta", "--epsilon", EPSILON]
    release = synthesize(desk, "out", *options, "--adjacency", "replace-one")
    stated = guarantee(release)
    assert stated["epsilon"] == {"add-remove": EPSILON / 2, "replace-one": EPSILON}
    assert stated["asked_under"] == "replace-one"
    if mechanism == "censor-uw":
        assert diagnostics(release)["lipschitz_bound"] <= EPSILON / 4


def test_a_seed_makes_a_run_reproducible_and_unfit_for_release(desk):
    job = ["--model", "beta", "--epsilon", EPSILON, "--seed", 7]
    here = synthesize(desk, "here", *job)
    elsewhere = understudy(
        *["synthesize", "survey.csv", "--schema", "survey.toml", "--out", "elsewhere", *job],
        cwd=desk,
    )
    assert elsewhere.returncode == 0
    for name in PUBLIC:
        first, second = (desk / run / "public" / name for run in ("here", "elsewhere"))
        assert first.read_bytes() == second.read_bytes()
    assert guarantee(here)["seeded"] is True
    assert parameters(here)["seeded"] is True
    assert any("fixed seed" in sentence for sentence in guarantee(here)["assumptions"])
    assert "NOT FOR RELEASE" in (here / "public" / "guarantee.txt").read_text()


def test_a_seeded_histogram_is_reproducible(desk):
    first, second = (histogram(desk, out, "--seed", 7) for out in ("one", "two"))
    for name in PUBLIC:
        assert (first / "public" / name).read_bytes() == (second / "public" / name).read_bytes()
    assert guarantee(first)["seeded"] is True


def test_two_runs_without_a_seed_differ(desk, twofold):
    again = synthesize(desk, "out", "--model", "beta", "--epsilon", EPSILON)
    for number in ("", "-2"):
        assert parameters(again)["parameters"] != parameters(twofold, number)["parameters"]
        assert not synthetic(again).equals(synthetic(twofold, f"synthetic{number}.csv"))


def test_two_histograms_without_a_seed_differ(desk):
    first, second = (histogram(desk, out) for out in ("one", "two"))
    assert parameters(first)["parameters"] != parameters(second)["parameters"]
    assert not synthetic(first).equals(synthetic(second))


def test_weights_can_be_scaled_and_shifted(desk):
    options = ["--mechanism", "weighted", "--model", "beta", "--c1", 0, "--c2", 0.5]
    found = diagnostics(synthesize(desk, "out", *options))["parameters"]
    # Half the weight on every record is half as many records.
    mean, precision = found["phi"]["mean"], found["lambda"]["mean"]
    expected = math.sqrt(mean * (1 - mean) / (1 + precision) / 60)
    assert found["phi"]["sd"] == pytest.approx(expected, rel=0.15)


@pytest.mark.parametrize(("bins", "count"), [("sqrt", 11), ("ln", 5), ("17", 17)])
def test_bins_follow_the_declared_size(desk, bins, count):
    options = ["--mechanism", "ph", "--epsilon", EPSILON, "--bins", bins]
    release = synthesize(desk, "out", *options)
    assert len(parameters(release)["parameters"]["counts"]) == count


def test_a_release_is_replaced_only_by_force(desk):
    release = histogram(desk, "out")
    before = parameters(release)
    command = ["synthesize", "survey.csv", "--schema", "survey.toml", "--out", "out"]
    command += ["--mechanism", "ph", "--epsilon", "2", "--quiet"]
    assert cli.run(command) == 2
    assert parameters(release) == before
    run(*command, "--force")
    assert parameters(release) != before
    assert names(desk) == {"survey.csv", "survey.toml", "public.toml", "out"}


def test_a_release_goes_into_directories_that_do_not_exist_yet(desk):
    assert names(histogram(desk, "some/where/out") / "public") == PUBLIC


# How many rows, and whose predictors.


def test_rows_default_to_the_declared_size(desk):
    path = desk / "survey.toml"
    path.write_text(path.read_text().replace("size = 120", "size = 70"))
    release = histogram(desk, "out")
    assert len(synthetic(release)) == guarantee(release)["rows"] == 70


def test_rows_can_be_asked_for(desk):
    release = histogram(desk, "out", "--rows", 30)
    assert len(synthetic(release)) == guarantee(release)["rows"] == 30


def test_rows_are_the_records_where_their_number_is_not_protected(desk):
    options = ["--adjacency", "replace-one"]
    release = histogram(desk, "out", *options, schema=without_size(desk))
    assert len(synthetic(release)) == 120
    assert any("shows the number of records" in s for s in guarantee(release)["assumptions"])


def test_rows_are_those_of_copied_predictors_without_a_declared_size(desk):
    release = histogram(desk, "out", schema=without_size(desk, "public.toml"))
    assert len(synthetic(release)) == 120
    assert any("membership is not protected" in s for s in guarantee(release)["assumptions"])


def test_rows_are_those_of_separate_predictors_without_a_declared_size(desk):
    (desk / "people.csv").write_text("gender,age\n" + "F,30\nM,31\n" * 20)
    options = ["--predictors", desk / "people.csv"]
    release = histogram(desk, "out", *options, schema=without_size(desk, "public.toml"))
    frame = synthetic(release)
    assert len(frame) == 40
    assert frame["age"].tolist() == ["30", "31"] * 20
    assert not any("membership is not" in s for s in guarantee(release)["assumptions"])


def test_predictors_are_copied_from_the_table(regression):
    table = tables.read(regression.parent / "survey.csv")
    frame = synthetic(regression)
    columns = ["gender", "age"]
    pairs = [sorted(zip(f["gender"], f["age"].astype(int), strict=True)) for f in (frame, table)]
    assert pairs[0] == pairs[1]
    assert not frame[columns].equals(table[columns]), "the order of the table must not survive"
    assert not frame["salary"].equals(table["salary"])
    assert fits_schema(frame, regression.parent / "public.toml")
    assert parameters(regression)["parameters"].keys() == {
        "Intercept",
        "gender[T.M]",
        "age",
        "lambda",
    }
    assert any("membership is not" in s for s in guarantee(regression)["assumptions"])


def test_predictors_from_another_file_are_drawn_to_the_number_of_rows(desk):
    (desk / "people.csv").write_text("gender,age\nF,30\nM,31\nF,32\n")
    options = ["--model", "salary ~ gender + age", "--family", "beta", "--epsilon", EPSILON]
    options += ["--predictors", desk / "people.csv", "--rows", 200]
    release = synthesize(desk, "out", *options, schema="public.toml")
    frame = synthetic(release)
    assert len(frame) == 200
    assert set(zip(frame["gender"], frame["age"], strict=True)) == {
        ("F", "30"),
        ("M", "31"),
        ("F", "32"),
    }
    assert not any("membership is not" in s for s in guarantee(release)["assumptions"])


# Tables and models from elsewhere.


def test_parquet_gives_what_csv_gives(desk):
    frame = pd.read_csv(desk / "survey.csv")
    frame.to_parquet(desk / "survey.parquet")
    from_csv = histogram(desk, "one", "--seed", 1)
    from_parquet = histogram(desk, "two", "--seed", 1, table="survey.parquet")
    assert synthetic(from_csv).equals(synthetic(from_parquet))


def test_a_numpyro_function_synthesises_two_columns_at_once(two_columns):
    assert names(two_columns / "public") == PUBLIC
    frame = synthetic(two_columns)
    assert list(frame.columns) == ["salary", "gender"]
    assert len(frame) == 120
    assert set(frame["gender"]) == {"F", "M"}
    assert frame["salary"].astype(float).between(0, 1e6).all()
    theta = parameters(two_columns)["parameters"]
    assert theta.keys() == {"share", "centre", "spread"}
    assert len(theta["centre"]) == 2
    assert parameters(two_columns)["model"].keys() == {"file", "function", "digest"}
    assert guarantee(two_columns)["kind"] == "strict"
    assert diagnostics(two_columns)["parameters"].keys() == {
        "share",
        "centre[0]",
        "centre[1]",
        "spread",
    }
    assert diagnostics(two_columns)["utility"].keys() == {"salary", "gender"}


# More rows from a release.


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


def test_a_process_of_its_own_needs_no_confidential_table(desk):
    release = histogram(desk, "out")
    for name in ("survey.csv", "survey.toml", "public.toml"):
        (desk / name).unlink()
    shutil.rmtree(release / "internal")
    made = understudy("sample", "out/public", "--rows", 5, "-o", "more.csv", cwd=desk)
    assert (made.returncode, made.stderr) == (0, "")
    assert len(tables.read(desk / "more.csv")) == 5


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


def test_more_rows_take_their_predictors_from_the_release_itself(regression, tmp_path):
    run("sample", regression / "public", "--rows", 120, "-o", tmp_path / "more.csv")
    more, first = tables.read(tmp_path / "more.csv"), synthetic(regression)
    assert more[["gender", "age"]].equals(first[["gender", "age"]])
    assert not more["salary"].equals(first["salary"])


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


def test_more_rows_can_be_reproduced(regression, tmp_path):
    for name in ("one", "two"):
        file = tmp_path / f"{name}.csv"
        run("sample", regression / "public", "--rows", 30, "--seed", 3, "-o", file)
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


# Comparing.


@pytest.fixture
def compared(desk):
    """The arguments of `compare` for a table of which half the salaries were halved."""
    frame = tables.read(desk / "survey.csv")[["salary"]].astype(float)
    frame.loc[::2] /= 2
    frame.to_csv(desk / "synthetic.csv", index=False)
    return ["compare", "survey.csv", "synthetic.csv", "--schema", "survey.toml"]


def test_a_comparison_in_words_says_that_it_is_confidential(compared, capsys):
    run(*compared)
    said = capsys.readouterr().out
    assert said.startswith("CONFIDENTIAL")
    assert "max-ECDF" in said
    assert "90th percentile" in said


def test_a_comparison_in_json_has_the_measures(compared, capsys, desk):
    run(*compared, "--json")
    found = json.loads(capsys.readouterr().out)
    assert found["confidential"] is True
    real = tables.read(desk / "survey.csv")["salary"].astype(float).to_numpy()
    made = tables.read(desk / "synthetic.csv")["salary"].astype(float).to_numpy()
    pooled = np.concatenate([real, made])[:, None]
    distance = np.abs((real <= pooled).mean(axis=1) - (made <= pooled).mean(axis=1))
    assert found["utility"]["salary"]["max_ecdf"] == pytest.approx(distance.max())
    assert found["utility"]["salary"]["confidential"]["mean"] == pytest.approx(real.mean())


def test_a_comparison_page_is_for_its_owner_only(compared, desk):
    run(*compared, "--out", "page.html")
    page = desk / "page.html"
    assert mode(page) == 0o600
    assert "CONFIDENTIAL" in page.read_text().upper()
    assert cli.run([*compared, "--out", "page.html"]) == 2
    run(*compared, "--out", "page.html", "--force")


@pytest.fixture
def several(desk):
    """The arguments of `compare` for two releases, whose tables have the same name."""
    frame = tables.read(desk / "survey.csv")
    for name, factor in (("a", 1.0), ("b", 0.5)):
        (desk / name).mkdir()
        scaled = frame.assign(salary=frame["salary"].astype(float) * factor)
        scaled.to_csv(desk / name / "synthetic.csv", index=False)
    files = ["a/synthetic.csv", "b/synthetic.csv"]
    return ["compare", "survey.csv", *files, "--schema", "public.toml"]


REGRESSION = ["--regression", "log(salary) ~ gender + age"]


def test_several_syntheses_are_compared_side_by_side(several, capsys, desk):
    run(*several, *REGRESSION, "--out", "page.html")
    said = capsys.readouterr().out
    assert said.startswith("CONFIDENTIAL")
    assert "[2] b/synthetic.csv" in said
    assert "salary: max-ECDF" in said
    assert "b/synthetic.csv" in (desk / "page.html").read_text()
    run(*several, *REGRESSION, "--json")
    found = json.loads(capsys.readouterr().out)
    assert found["confidential"] is True
    first, second = found["syntheses"]
    assert (first["file"], second["file"]) == ("a/synthetic.csv", "b/synthetic.csv")
    assert first["utility"]["salary"]["max_ecdf"] == 0
    assert [pair["columns"] for pair in first["pairs"]] == [
        ["salary", "gender"], ["salary", "age"], ["gender", "age"],
    ]  # fmt: skip
    assert first["propensity"]["pmse"] < second["propensity"]["pmse"]
    coefficients = {c["name"]: c for c in second["regression"]["coefficients"]}
    shift = coefficients["Intercept"]
    difference = shift["synthetic"]["value"] - shift["confidential"]["value"]
    assert difference == pytest.approx(np.log(0.5))
    assert coefficients["age"]["overlap"] == pytest.approx(1)


def test_a_comparison_that_cannot_be_meant_is_refused(several, compared, capsys):
    assert cli.run([*several, "b/synthetic.csv"]) == 2
    assert "named twice" in capsys.readouterr().err
    assert cli.run([*compared, "--regression", "salary ~ gender"]) == 2
    assert "names 'gender', which is not a confidential or public" in capsys.readouterr().err


def test_a_regression_is_told_in_words(several, capsys):
    one = [argument for argument in several if argument != "b/synthetic.csv"]
    run(*one, *REGRESSION)
    said = capsys.readouterr().out
    assert "log(salary) ~ gender + age" in said
    assert "gender[T.M]" in said
    assert "pMSE" in said
    assert "salary × age" in said


def test_six_commands_at_once_share_a_budget_for_two(desk):
    assert cli.run(["ledger", "create", "l.db", "--budget", "2", "--adjacency", "add-remove"]) == 0
    command = [sys.executable, "-m", "understudy", "synthesize", "survey.csv", "--schema"]
    options = ["survey.toml", "--mechanism", "ph", "--epsilon", "1", "--ledger", "l.db", "--out"]
    runs = [
        subprocess.Popen([*command, *options, f"out-{k}"], stderr=subprocess.PIPE, text=True)
        for k in range(6)
    ]
    said = [run.communicate(timeout=120)[1] for run in runs]
    codes = [run.returncode for run in runs]
    assert sorted(codes) == [0, 0, 3, 3, 3, 3]
    for k, code in enumerate(codes):
        assert (desk / f"out-{k}/public/synthetic.csv").exists() == (code == 0)
        assert ("more than the ledger allows" in said[k]) == (code == 3)
    assert cli.run(["ledger", "verify", "l.db"]) == 0


def test_the_audit_tells_a_broken_claim_by_its_exit_code(desk, capsys):
    sound = ["audit", "--mechanism", "censor-uw", "--epsilon", "3", "--n", "200", "--json"]
    assert cli.run([*sound, "--figure", "two.svg"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) >= {
        "mechanism", "adjacency", "target", "largest_log_ratio", "claimed", "exceeds",
    }  # fmt: skip
    assert 2.9 < found["largest_log_ratio"] <= 3.0 + 1e-6
    assert (desk / "two.svg").read_text().count("<svg") == 1
    assert cli.run(["audit", "--mechanism", "censor-w", "--epsilon", "3", "--n", "200"]) == 1
    assert "no number" in capsys.readouterr().out
