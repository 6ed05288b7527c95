"""Several tables of one release: which may be combined, and that the intervals cover."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

import understudy as us
from synthesised import ALONE, BETA, COLUMN, GROUP, TABLE, VALUES
from understudy.questions import asked
from understudy.questions.combining import combine

GROUPED = us.Schema.from_dict({"table": {"size": 120}, "columns": {"x": COLUMN, "g": GROUP}})


@pytest.fixture(scope="module")
def release():
    return us.synthesize(BETA, TABLE, us.Summary(epsilon=2.0), tables=6, seed=1)


@pytest.fixture
def written(release, tmp_path):
    """The directory of the release, and the files of its tables in it."""
    public = release.write(tmp_path / "out") / "public"
    return public, [public / "synthetic.csv", *(public / f"synthetic-{k}.csv" for k in range(2, 7))]


def test_analyses_are_combined_by_the_rule(release):
    pooled = us.pool(release, "mean(x)", level=0.9)
    means = np.array([table["x"].mean() for table in release.tables])
    within = np.mean([table["x"].var() / len(table) for table in release.tables])
    between = (1 + 1 / 6) * means.var(ddof=1)
    reach = t.ppf(0.95, 5 * (1 - within / between) ** 2) * np.sqrt(between - within)
    (found,) = pooled.estimates
    assert (pooled.tables, pooled.rows, pooled.level) == (6, 1200, 0.9)
    assert found.estimate == pytest.approx(means.mean())
    assert (found.lower, found.upper) == pytest.approx((means.mean() - reach, means.mean() + reach))


def test_files_say_the_same_as_the_release_they_were_written_from(release, written):
    assert us.pool(written[1], "quantile(x, 0.9)") == us.pool(release, "quantile(x, 0.9)")
    some = replace(release, tables=release.tables[1:3], parameters=release.parameters[1:3])
    assert us.pool(written[1][1:3], "x ~ 1") == us.pool(some, "x ~ 1")


def test_tables_of_a_summary_are_made_to_be_combined(release):
    """Ten times the size, unless another number is asked for or rows are balanced."""
    assert {len(table) for table in release.tables} == {1200}


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("mean(y)", "names 'y', which is no column"),
        ("x ~ y", "names 'y'"),
        (len, "sampling variance of what the function 'len' returns is not known"),
        (3, "`question` must be text or a function"),
    ],
)
def test_a_question_that_cannot_be_meant_is_refused(release, question, sentence):
    with pytest.raises(us.BadInput, match=sentence):
        us.pool(release, question)


@pytest.mark.parametrize("level", [0, 1, 95, -0.5, float("nan"), True, "high"])
def test_a_level_is_a_probability(release, level):
    with pytest.raises(us.BadInput, match="`level` must be a number between 0 and 1"):
        us.pool(release, "mean(x)", level=level)


def test_one_table_alone_tells_nothing(release, written):
    alone = replace(release, tables=release.tables[:1], parameters=release.parameters[:1])
    for tables in (alone, written[1][:1], []):
        with pytest.raises(us.BadInput, match="one table alone does not tell"):
            us.pool(tables, "mean(x)")
    for tables in (str(written[1][0]), written[1][0], list(release.tables), release.synthetic):
        with pytest.raises(us.BadInput, match="a list of the files"):
            us.pool(tables, "mean(x)")


def test_the_table_of_a_release_of_one_is_not_called_another_releases(written, tmp_path):
    """It is made from the estimate, and is none of the draws that tables of several are from."""
    public, _ = written
    contents = json.loads((public / "parameters.json").read_text())
    contents["parameters"] = contents["estimate"]
    (tmp_path / "parameters.json").write_text(json.dumps(contents))
    shutil.copy(public / "synthetic.csv", tmp_path)
    with pytest.raises(us.BadInput, match="one table alone does not tell"):
        us.pool([tmp_path / "synthetic.csv"], "mean(x)")


def test_tables_of_other_releases_and_other_names_are_refused(written, tmp_path):
    public, files = written
    other = tmp_path / "other" / "synthetic-2.csv"
    shutil.copytree(public, other.parent)
    with pytest.raises(us.BadInput, match="lie in different directories"):
        us.pool([files[0], other], "mean(x)")
    with pytest.raises(us.BadInput, match="given twice"):
        us.pool([files[0], files[1], files[1]], "mean(x)")
    shutil.copy(files[1], public / "mine.csv")
    with pytest.raises(us.BadInput, match="is not called as a release calls its tables"):
        us.pool([files[0], public / "mine.csv"], "mean(x)")
    (public / "parameters-2.json").unlink()
    with pytest.raises(us.BadInput, match=r"no 'parameters-2.json' beside"):
        us.pool(files[:2], "mean(x)")
    shutil.copy(public / "parameters-3.json", public / "parameters-2.json")
    with pytest.raises(us.BadInput, match="not from the same release"):
        us.pool(files[:2], "mean(x)")


@pytest.mark.parametrize(("key", "value"), [("balanced", True), ("mechanism", "unweighted")])
def test_parameters_that_contradict_each_other_are_refused(written, key, value):
    public, files = written
    contents = json.loads((public / "parameters-3.json").read_text())
    (public / "parameters-3.json").write_text(json.dumps(contents | {key: value}))
    with pytest.raises(us.BadInput, match="not from the same release"):
        us.pool(files, "mean(x)")


def test_a_table_that_does_not_fit_its_schema_is_refused(written):
    files = written[1]
    pd.DataFrame({"x": [0.5, 7.0]}).to_csv(files[2], index=False)
    with pytest.raises(us.BadInput, match=r"row 2 of column 'x' of .*synthetic-3.csv is outside"):
        us.pool(files, "mean(x)")
    pd.DataFrame({"z": [0.5, 0.7]}).to_csv(files[2], index=False)
    with pytest.raises(us.BadInput, match=r"synthetic-3.csv has none of the columns"):
        us.pool(files, "mean(x)")


def published(release, **changes):
    return replace(release, parameters=tuple(each | changes for each in release.parameters))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"balanced": True}, "balanced, and no rule is known"),
        ({"mechanism": "censor-uw"}, "no rule is known .* by censor-uw"),
        ({"mechanism": "ph"}, "no rule is known .* by ph"),
        ({"mechanism": "anchored"}, "no rule is known .* by anchored"),
        ({"mechanism": "magic"}, "names no mechanism that is known"),
    ],
)
def test_tables_without_a_rule_are_refused(release, changes, sentence):
    with pytest.raises(us.Refused, match=sentence):
        us.pool(published(release, **changes), "mean(x)")


def test_units_and_fixed_public_rows_make_no_intervals(release):
    column = {"role": "unit"}
    table = {"size": 120, "rows_per_unit": 3}
    units = us.Schema.from_dict({"table": table, "columns": {"x": COLUMN, "id": column}})
    with pytest.raises(us.Refused, match="hang together"):
        us.pool(published(release, schema=units.to_dict()), "mean(x)")
    fixed = published(release, schema=GROUPED.to_dict(), mechanism="unweighted")
    with pytest.raises(us.Refused, match="the same public rows"):
        us.pool(fixed, "mean(x)")
    assert us.pool(published(release, mechanism="unweighted"), "mean(x)").tables == 6


def test_public_rows_differ_from_table_to_table_as_samples_of_a_population_do():
    """The share of a public group has the variance of a Bayesian bootstrap, p(1 − p)/(n + 1)."""
    model = us.formula("x ~ g", family="beta", schema=GROUPED)
    table = TABLE.assign(g=np.where(np.arange(120) < 36, "b", "a"))
    release = us.synthesize(model, table, us.Summary(epsilon=2.0), tables=40, seed=2)
    assert {len(each) for each in release.tables} == {1200}
    shares = [np.mean(each["g"] == "b") for each in release.tables]
    expected = 0.3 * 0.7 * (1 / 121 + 1 / 1200 * 120 / 121)
    # Forty draws: the variance is off by a factor of two once in ten thousand times.
    assert expected / 2 < np.var(shares, ddof=1) < expected * 2
    (answer,) = us.pool(release, "share(g == 'b')").estimates
    assert answer.standard_error == pytest.approx(np.sqrt(0.3 * 0.7 / 121), rel=0.5)
    assert answer.lower < 0.3 < answer.upper
    alone = us.synthesize(model, table, us.Summary(epsilon=2.0), seed=2)
    assert sorted(alone.synthetic["g"]) == sorted(table["g"])


def simulated(rng, theta, rows):
    """Return a table of the Beta model, as the analyses take it."""
    mean, size = theta["phi"], theta["lambda"]
    return {"x": rng.beta(mean * size, (1 - mean) * size, rows)}


@pytest.mark.slow
def test_naive_rules_cover_too_seldom_or_too_often_and_ours_does_not(release):
    """Given a release, the truth is distributed as its draws of θ are.

    So each replicate takes one draw for the truth and ten others for tables. A share of 2000
    replicates is off by 0.016, 3.3 standard errors, once in a thousand times.
    """
    rng, tables, question = np.random.default_rng(3), 10, asked("mean(x)", ALONE)
    draws = release.parameters[0]["draws"]
    covered = {"ours": [], "one table": [], "ignoring": [], "imputation": []}
    for _ in range(2000):
        truth, *thetas = (draws[k] for k in rng.integers(len(draws), size=1 + tables))
        told = [question.analyse(simulated(rng, theta, 10 * len(VALUES))) for theta in thetas]
        (ours,) = combine(told, level=0.95)
        # Where ten draws happen to be so alike that no interval can be told, none holds the truth.
        told_so = ours.lower is not None
        covered["ours"].append(told_so and ours.lower <= truth["phi"] <= ours.upper)
        estimate, within = np.mean([each["mean(x)"] for each in told], axis=0)
        first, variance = told[0]["mean(x)"]
        covered["one table"].append(abs(first - truth["phi"]) < 1.96 * np.sqrt(variance))
        covered["ignoring"].append(abs(estimate - truth["phi"]) < 1.96 * np.sqrt(within / tables))
        few = [question.analyse(simulated(rng, theta, len(VALUES))) for theta in thetas]
        estimate, within = np.mean([each["mean(x)"] for each in few], axis=0)
        between = np.var([each["mean(x)"][0] for each in few], ddof=1)
        rubin = np.sqrt(within + (1 + 1 / tables) * between)
        covered["imputation"].append(abs(estimate - truth["phi"]) < 1.96 * rubin)
    rates = {rule: np.mean(each) for rule, each in covered.items()}
    assert 0.95 - 0.016 < rates["ours"] < 0.955 + 0.016
    assert rates["one table"] < 0.5
    assert rates["ignoring"] < 0.3
    assert rates["imputation"] > 0.985
