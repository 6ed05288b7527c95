"""`understudy synthesize`: what a new user gets, and what it leaves on the disk."""

import math
import os
import re

import numpy as np
import pandas as pd
import pytest

from command_line import (
    EPSILON,
    INTERNAL,
    PROMISED,
    PUBLIC,
    diagnostics,
    fits_schema,
    guarantee,
    histogram,
    mode,
    names,
    parameters,
    run,
    synthesize,
    synthetic,
    understudy,
    without_size,
)
from understudy import cli
from understudy.domain import tables
from understudy.domain.schema import Schema


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


def test_the_guarantee_says_what_the_mechanism_promises(release):
    stated = guarantee(release)
    assert stated.keys() >= IN_GUARANTEE
    promised = PROMISED[stated["mechanism"]]
    assert {key: stated[key] for key in promised} == promised
    stating = stated["kind"] in ("strict", "conditional")
    numbers = {"add-remove": EPSILON, "replace-one": 2 * EPSILON}
    assert stated["epsilon"] == (numbers if stating else dict.fromkeys(numbers))
    assert stated["delta"] == (0 if stated["kind"] == "strict" else None)
    stages = 2 if stated["mechanism"] == "summary" else 1
    assert (stated["draws"], stated["stages"], stated["rows"]) == (1, stages, 120)
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
    if guarantee(release)["mechanism"] == "summary":
        assert 0 < found["misfit"]["p_value"] <= 1
        return
    for summary in found["parameters"].values():
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


@pytest.fixture(scope="module")
def twofold(survey, tmp_path_factory):
    """A release of two tables, as CSV and as Parquet."""
    directory = survey.write(tmp_path_factory.mktemp("twofold"))
    options = ["--mechanism", "anchored", "--model", "beta", "--epsilon", EPSILON]
    options += ["--tables", 2, "--parquet"]
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


@pytest.mark.parametrize("mechanism", [pytest.param("censor-uw", marks=pytest.mark.slow), "ph"])
def test_epsilon_is_for_the_adjacency_that_was_asked_for(desk, mechanism):
    options = ["--mechanism", mechanism, "--model", "beta", "--epsilon", EPSILON]
    release = synthesize(desk, "out", *options, "--adjacency", "replace-one")
    stated = guarantee(release)
    assert stated["epsilon"] == {"add-remove": EPSILON / 2, "replace-one": EPSILON}
    assert stated["asked_under"] == "replace-one"
    if mechanism == "censor-uw":
        assert diagnostics(release)["lipschitz_bound"] <= EPSILON / 4


@pytest.mark.slow
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
    options = ["--mechanism", "anchored", "--model", "beta", "--epsilon", EPSILON]
    again = synthesize(desk, "out", *options)
    for number in ("", "-2"):
        assert parameters(again)["parameters"] != parameters(twofold, number)["parameters"]
        assert not synthetic(again).equals(synthetic(twofold, f"synthetic{number}.csv"))


def test_two_summaries_without_a_seed_differ(desk):
    first, second = (
        synthesize(desk, out, "--model", "beta", "--epsilon", EPSILON) for out in ("one", "two")
    )
    assert parameters(first)["rounds"][0]["noisy"] != parameters(second)["rounds"][0]["noisy"]
    assert not synthetic(first).equals(synthetic(second))


def test_two_histograms_without_a_seed_differ(desk):
    # With more ε, all ten counts are alike in two runs now and then.
    first, second = (histogram(desk, out, "--epsilon", 0.2) for out in ("one", "two"))
    assert parameters(first)["parameters"] != parameters(second)["parameters"]
    assert not synthetic(first).equals(synthetic(second))


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


def test_parquet_gives_what_csv_gives(desk):
    frame = pd.read_csv(desk / "survey.csv")
    frame.to_parquet(desk / "survey.parquet")
    from_csv = histogram(desk, "one", "--seed", 1)
    from_parquet = histogram(desk, "two", "--seed", 1, table="survey.parquet")
    assert synthetic(from_csv).equals(synthetic(from_parquet))


@pytest.mark.slow
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


def test_a_summary_publishes_its_sums_and_promises_strictly_for_one_price(tmp_path, survey):
    options = ("--model", "beta", "--epsilon", "1", "--tables", "2")
    made = synthesize(survey.write(tmp_path), "out", *options)
    promised = guarantee(made)
    assert promised["kind"] == "strict"
    assert promised["epsilon"] == {"add-remove": 1.0, "replace-one": 2.0}
    assert (promised["draws"], promised["stages"]) == (2, 2)
    published = parameters(made)
    assert [each["kind"] for each in published["rounds"]] == ["table", "score"]
    assert published["parameters"] == published["draws"][0]
    assert "rounds" not in parameters(made, "-2")
    card = (made / "public" / "card.html").read_text()
    assert "further tables would not change it" in card
    assert "its own share of ε" not in card.replace("\n", " ")


def test_several_tables_of_a_summary_have_many_rows_and_it_is_said_why(tmp_path, survey, capsys):
    survey.write(tmp_path)
    job = ["synthesize", tmp_path / "survey.csv", "--schema", tmp_path / "survey.toml"]
    job = [*map(str, job), "--model", "beta", "--epsilon", "1", "--tables", "2"]
    assert cli.run([*job, "--out", str(tmp_path / "many")]) == 0
    said = capsys.readouterr().err
    assert "Each of the 2 tables has 1,200 rows, 10 times the size" in said
    assert "understudy pool" in said
    assert len(synthetic(tmp_path / "many", "synthetic-2.csv")) == 1200
    assert "understudy pool" in (tmp_path / "many/public/card.html").read_text()
    assert cli.run([*job, "--out", str(tmp_path / "few"), "--rows", "30"]) == 0
    assert capsys.readouterr().err == ""
    assert len(synthetic(tmp_path / "few")) == 30


def test_a_summary_has_no_sampler(tmp_path, survey, capsys):
    survey.write(tmp_path)
    job = ["synthesize", tmp_path / "survey.csv", "--schema", tmp_path / "survey.toml"]
    job += ["--out", tmp_path / "out", "--model", "beta"]
    assert cli.run([*map(str, job), "--epsilon", "1", "--sampler", "nuts"]) == 2
    assert "draws nothing but noise: leave out --sampler" in capsys.readouterr().err


def test_a_summary_with_a_delta_says_so_in_every_file(tmp_path, survey):
    desk = survey.write(tmp_path)
    book = str(tmp_path / "ledger.db")
    created = ["ledger", "create", book, "--budget", "1", "--adjacency", "add-remove"]
    assert cli.run([*created, "--delta", "1e-6"]) == 0
    options = ("--mechanism", "summary", "--model", "beta", "--epsilon", "1", "--delta", "1e-6")
    made = synthesize(desk, "out", *options, "--ledger", book)
    promised = guarantee(made)
    assert (promised["kind"], promised["delta"]) == ("strict", 1e-6)
    assert promised["epsilon"]["add-remove"] == 1.0
    assert 2.11 < promised["epsilon"]["replace-one"] < 2.12
    assert promised["charged"].startswith("entry 1, sha256")
    for each in parameters(made)["rounds"]:
        assert each["noise"]["distribution"] == "discrete-gaussian"
        assert (each["epsilon"], each["definition"]["norm"]) == (None, 2)
    assert "both with δ = 1e-06" in (made / "public" / "guarantee.txt").read_text()
    assert "δ = 1e-06" in (made / "public" / "card.html").read_text()
    assert "ρ" in (made / "internal" / "report.html").read_text()


def test_balanced_rows_are_recorded(desk):
    release = histogram(desk, "out", "--balanced")
    assert parameters(release)["balanced"] is True
    assert "The rows are balanced" in (release / "public" / "guarantee.txt").read_text()
    assert parameters(histogram(desk, "other"))["balanced"] is False
