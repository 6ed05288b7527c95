"""Coefficients against another optimiser and textbook formulas; what cannot be told; refusals."""

from __future__ import annotations

import numpy as np
import pytest

from optimised import logistic_by_optimiser, poisson_by_optimiser
from questioned import SCHEMA, records
from understudy.errors import BadInput
from understudy.questions import asked

NAMES = ["Intercept", "job[T.y]", "job[T.z]", "age"]


def design(columns, rows):
    job, age = columns["job"][rows], columns["age"][rows]
    return np.column_stack([np.ones(len(job)), job == 1, job == 2, age]).astype(float)


def test_numbers_are_fitted_by_least_squares_to_complete_records():
    columns = records(np.random.default_rng(0), 400, gaps=True)
    question = asked("log(pay) ~ job + age", SCHEMA)
    assert question.regression
    assert question.kind == "linear"
    assert question.columns == ("pay", "age", "job")
    rows = ~np.isnan(columns["pay"]) & (columns["job"] >= 0)
    x, y = design(columns, rows), np.log(columns["pay"][rows])
    values, residual = np.linalg.lstsq(x, y)[:2]
    variances = residual[0] / (len(y) - 4) * np.diag(np.linalg.inv(x.T @ x))
    analysed = question.analyse(columns)
    assert list(analysed) == NAMES
    assert [value for value, _ in analysed.values()] == pytest.approx(values)
    assert [variance for _, variance in analysed.values()] == pytest.approx(variances)
    assert question.answer(columns) == {name: value for name, (value, _) in analysed.items()}


@pytest.mark.parametrize(
    ("outcome", "kind", "optimise", "weight"),
    [
        ("owner", "logistic", logistic_by_optimiser, lambda t: 1 / (2 + 2 * np.cosh(t))),
        ("visits", "poisson", poisson_by_optimiser, np.exp),
    ],
)
def test_levels_and_counts_have_regressions_of_their_own(outcome, kind, optimise, weight):
    columns = records(np.random.default_rng(1), 400)
    question = asked(f"{outcome} ~ job + age", SCHEMA)
    assert question.kind == kind
    x = design(columns, slice(None))
    scale = np.array([1, 1, 1, 50])
    best = optimise(x / scale, columns[outcome].astype(float)) / scale
    information = x.T @ (x * weight(x @ best)[:, None])
    analysed = np.array(list(question.analyse(columns).values()))
    assert analysed[:, 0] == pytest.approx(best, rel=1e-4, abs=1e-6)
    assert analysed[:, 1] == pytest.approx(np.diag(np.linalg.inv(information)), rel=1e-4)


@pytest.mark.parametrize(
    ("formula", "kind"), [("age ~ job", "linear"), ("log(visits + 1) ~ job", "linear")]
)
def test_whole_numbers_and_what_is_computed_from_counts_are_numbers(formula, kind):
    assert asked(formula, SCHEMA).kind == kind


def test_variances_are_those_of_repeated_samples():
    """Of counts, by a Poisson regression; the tolerance is three standard errors or more."""
    rng = np.random.default_rng(2)
    question = asked("visits ~ job + age", SCHEMA)
    analysed = np.array([list(question.analyse(records(rng, 300)).values()) for _ in range(1000)])
    spread, stated = analysed[:, :, 0].var(axis=0), analysed[:, :, 1].mean(axis=0)
    assert stated == pytest.approx(spread, rel=0.15)


def test_names_that_are_not_words_are_written_in_backticks():
    columns = records(np.random.default_rng(3), 200)
    one = asked("`hours a week` ~ age", SCHEMA)
    assert one.kind == "linear"
    slope = np.polyfit(columns["age"], columns["hours a week"], 1)[0]
    assert one.answer(columns)["age"] == pytest.approx(slope)
    other = asked("age ~ `hours a week`", SCHEMA).answer(columns)
    slope = np.polyfit(columns["hours a week"], columns["age"], 1)[0]
    assert list(other.values())[1] == pytest.approx(slope)


def test_what_a_table_cannot_tell_is_not_a_number():
    columns = records(np.random.default_rng(4), 300)
    question = asked("log(pay) ~ job + age", SCHEMA)
    without = {**columns, "job": np.where(columns["job"] == 1, 0, columns["job"])}
    answers = question.answer(without)
    assert list(answers) == NAMES
    assert [name for name, value in answers.items() if np.isnan(value)] == ["job[T.y]"]
    nobody = question.analyse(records(np.random.default_rng(5), 0))
    assert list(nobody) == NAMES
    assert np.isnan(list(nobody.values())).all()


def test_a_logarithm_of_nothing_leaves_its_record_out():
    columns = records(np.random.default_rng(6), 300)
    zeroed = {**columns, "pay": np.where(np.arange(300) < 50, 0.0, columns["pay"])}
    rest = {name: values[50:] for name, values in columns.items()}
    question = asked("log(pay) ~ age", SCHEMA)
    assert question.answer(zeroed) == pytest.approx(question.answer(rest))


@pytest.mark.parametrize(
    ("formula", "sentence"),
    [
        ("pay ~ agee", "did you mean 'age'"),
        ("pay ~ id", "names 'id', which is not a confidential or public column"),
        ("notes ~ age", "names 'notes'"),
        ("job ~ age", "has 3 levels"),
        ("~ age", "must have the form"),
        ("1 ~ 1", "names no column"),
        ("pay ~ 0", "nothing on its right-hand side"),
        ("pay ~ scale(age)", "learns from the table"),
        ("pay ~ {__import__('os').getpid()}", "only arithmetic and these functions"),
        ("mean(pay) ~ age", "only arithmetic and these functions"),
        ("pay ~ age by job", "'by' does not apply"),
    ],
)
def test_a_formula_that_cannot_be_meant_is_refused(formula, sentence):
    with pytest.raises(BadInput, match=sentence):
        asked(formula, SCHEMA)
