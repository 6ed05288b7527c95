"""Regressions: estimates against textbook formulas, overlap against its definition, refusals."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import norm, t

from understudy.domain.schema import Schema
from understudy.errors import BadInput
from understudy.utility.regression import Estimate, measure_regression, overlap

SCHEMA = Schema.from_dict(
    {
        "columns": {
            "pay": {"role": "confidential", "type": "continuous", "bounds": [0, 1e6]},
            "age": {"role": "public", "type": "integer", "bounds": [0, 99]},
            "job": {"role": "confidential", "type": "categorical", "levels": ["x", "y", "z"]},
            "owner": {"role": "confidential", "type": "binary", "levels": ["no", "yes"]},
            "id": {"role": "ignore"},
        }
    }
)


def sample(seed: int, n: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age, job = rng.integers(20, 60, n), rng.choice(list("xyz"), n)
    pay = np.exp(7 + 0.02 * age + 0.5 * (job == "z") + rng.normal(0, 0.4, n))
    owner = np.where(rng.random(n) < 1 / (1 + np.exp(-(age - 40) / 10)), "yes", "no")
    return pd.DataFrame({"pay": pay, "age": age, "job": job, "owner": owner})


def design(table: pd.DataFrame) -> np.ndarray:
    return np.column_stack(
        [np.ones(len(table)), table["job"] == "y", table["job"] == "z", table["age"]]
    ).astype(float)


def close_to(estimates, values, errors, quantile):
    assert [e.value for e in estimates] == pytest.approx(values, rel=1e-5)
    assert [e.lower for e in estimates] == pytest.approx(values - quantile * errors, rel=1e-4)
    assert [e.upper for e in estimates] == pytest.approx(values + quantile * errors, rel=1e-4)


def test_a_linear_regression_is_that_of_the_textbook():
    ours, theirs = sample(0), sample(1, 200)
    found = measure_regression(ours, theirs, SCHEMA, "log(pay) ~ job + age")
    assert found.kind == "linear"
    assert [c.name for c in found.coefficients] == ["Intercept", "job[T.y]", "job[T.z]", "age"]
    for table, which in ((ours, "confidential"), (theirs, "synthetic")):
        x, y = design(table), np.log(table["pay"].to_numpy())
        values, residual = np.linalg.lstsq(x, y)[:2]
        freedom = len(y) - 4
        errors = np.sqrt(residual[0] / freedom * np.diag(np.linalg.inv(x.T @ x)))
        estimates = [getattr(c, which) for c in found.coefficients]
        close_to(estimates, values, errors, t.ppf(0.975, freedom))
    json.dumps(asdict(found), allow_nan=False)


def test_a_logistic_regression_is_that_of_another_optimiser():
    ours, theirs = sample(2), sample(3)
    found = measure_regression(ours, theirs, SCHEMA, "owner ~ job + age")
    assert found.kind == "logistic"
    x, y = design(ours), (ours["owner"] == "yes").to_numpy(dtype=float)
    scale = np.array([1, 1, 1, 10.0])

    def loss(b):
        return np.logaddexp(0, x / scale @ b).sum() - y @ (x / scale @ b)

    best = minimize(loss, np.zeros(4), method="BFGS", tol=1e-10).x / scale
    p = 1 / (1 + np.exp(-x @ best))
    errors = np.sqrt(np.diag(np.linalg.inv(x.T @ (x * (p * (1 - p))[:, None]))))
    estimates = [c.confidential for c in found.coefficients]
    assert [e.value for e in estimates] == pytest.approx(best, rel=1e-3)
    assert [e.upper - e.value for e in estimates] == pytest.approx(
        norm.ppf(0.975) * errors, rel=1e-3
    )


ends = st.tuples(st.integers(-20, 20), st.integers(1, 20))


@given(ends, ends)
def test_overlap_is_the_mean_share_that_the_intervals_have_in_common(a, b):
    def grains(start, length):
        return set(range(start, start + length))

    common = len(grains(*a) & grains(*b))
    shares = (common / a[1] + common / b[1]) / 2
    intervals = [Estimate(value=s, lower=s, upper=s + length) for s, length in (a, b)]
    assert overlap(*intervals) == pytest.approx(shares)
    assert overlap(*intervals) == overlap(*reversed(intervals))


def test_intervals_without_width_overlap_where_they_lie_within():
    point, wide, other = ((3.0, 3.0), (1.0, 5.0), (4.0, 4.0))
    at = [Estimate(value=lower, lower=lower, upper=upper) for lower, upper in (point, wide, other)]
    assert overlap(at[0], at[0]) == 1
    assert overlap(at[0], at[1]) == 0.5
    assert overlap(at[0], at[2]) == 0


def test_identical_tables_overlap_fully():
    table = sample(4)
    found = measure_regression(table, table, SCHEMA, "log(pay) ~ job * age")
    assert found.mean_overlap == 1
    assert {c.relative_difference for c in found.coefficients} == {0.0}


def test_the_relative_difference_is_measured_from_the_confidential_estimate():
    ours = sample(5)
    theirs = ours.assign(pay=ours["pay"] ** 1.5)
    found = measure_regression(ours, theirs, SCHEMA, "log(pay) ~ age")
    assert [c.relative_difference for c in found.coefficients] == pytest.approx([0.5, 0.5])
    falling = measure_regression(ours, theirs, SCHEMA, "I(-log(pay)) ~ age")
    assert [c.relative_difference for c in falling.coefficients] == pytest.approx([-0.5, -0.5])


def test_only_records_with_every_value_are_used_and_their_share_is_told():
    ours, theirs = sample(6), sample(7)
    gaps = ours.copy()
    gaps.loc[:29, "pay"] = np.nan
    gaps.loc[30:59, "pay"] = 0.0
    gaps["job"] = gaps["job"].where(gaps.index >= 90)
    found = measure_regression(gaps, theirs, SCHEMA, "log(pay) ~ job + age")
    whole = measure_regression(ours.loc[90:], theirs, SCHEMA, "log(pay) ~ job + age")
    assert found.coefficients == whole.coefficients
    assert found.confidential_used == pytest.approx(0.7)
    assert found.synthetic_used == 1
    with pytest.raises(BadInput, match="no record of the synthetic table"):
        measure_regression(ours, theirs.assign(pay=0.0), SCHEMA, "log(pay) ~ age")


def test_a_level_that_a_table_does_not_hold_is_left_blank_and_moves_no_other():
    ours = sample(8)
    theirs = ours[ours["job"] != "y"]
    found = measure_regression(ours, theirs, SCHEMA, "log(pay) ~ job + age")
    assert [c.synthetic is None for c in found.coefficients] == [False, True, False, False]
    assert found.coefficients[1].overlap is None
    x = design(theirs)[:, [0, 2, 3]]
    values = np.linalg.lstsq(x, np.log(theirs["pay"].to_numpy()))[0]
    told = [c.synthetic.value for c in found.coefficients if c.synthetic is not None]
    assert told == pytest.approx(values)


def test_without_the_first_level_no_contrast_with_it_can_be_told():
    ours = sample(9)
    theirs = ours[ours["job"] != "x"]
    found = measure_regression(ours, theirs, SCHEMA, "log(pay) ~ job + age")
    assert [c.synthetic is None for c in found.coefficients] == [True, True, True, False]


def test_outcomes_that_a_predictor_separates_leave_its_coefficient_blank():
    ours = sample(10)
    theirs = ours.assign(owner=ours["owner"].where(ours["job"] != "z", "yes"))
    found = measure_regression(ours, theirs, SCHEMA, "owner ~ job + age")
    assert [c.synthetic is None for c in found.coefficients] == [False, False, True, False]
    kept = theirs[theirs["job"] != "z"]
    alone = measure_regression(ours, kept, SCHEMA, "owner ~ job + age")
    assert found.coefficients[3].synthetic.value == pytest.approx(
        alone.coefficients[3].synthetic.value, rel=1e-4
    )


def test_outcomes_that_are_all_alike_or_all_separated_tell_nothing():
    ours = sample(15)
    alike = measure_regression(ours, ours.assign(owner="yes"), SCHEMA, "owner ~ job + age")
    assert all(c.synthetic is None for c in alike.coefficients)
    apart = ours.assign(owner=np.where(ours["age"] > 40, "yes", "no"))
    found = measure_regression(ours, apart, SCHEMA, "owner ~ age")
    assert all(c.synthetic is None for c in found.coefficients)
    assert all(c.confidential is not None for c in found.coefficients)


def test_with_as_many_coefficients_as_records_nothing_can_be_told():
    found = measure_regression(sample(11), sample(12).iloc[:2], SCHEMA, "log(pay) ~ age")
    assert all(c.synthetic is None for c in found.coefficients)
    assert found.mean_overlap is None


@pytest.mark.parametrize(
    ("formula", "sentence"),
    [
        ("pay", "must have the form"),
        ("pay ~ wage", "names 'wage', which is not a confidential or public column"),
        ("pay ~ agee", "did you mean 'age'"),
        ("pay ~ id", "names 'id'"),
        ("job ~ age", "has 3 levels"),
        ("C(job) ~ age", "must have one outcome"),
        ("pay ~ 0", "nothing on its right-hand side"),
        ("pay ~ poly(age, 2)", "learns from the table"),
        ("pay ~ scale(age)", "learns from the table"),
        ("pay ~ eval('1')", "only arithmetic and these functions"),
        ("pay ~ {__import__('os').getpid()}", "only arithmetic and these functions"),
        ("exec('1') ~ age", "only arithmetic and these functions"),
        ("pay ~ __import__('os').getpid()", "invalid syntax"),
        ("pay ~ age +", "cannot be used"),
        ("log(job) ~ age", "cannot be used"),
    ],
)
def test_a_formula_that_cannot_be_meant_is_refused(formula, sentence):
    with pytest.raises(BadInput, match=sentence.replace("(", r"\(")):
        measure_regression(sample(13), sample(14), SCHEMA, formula)
