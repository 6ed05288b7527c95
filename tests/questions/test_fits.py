"""Regressions against another optimiser and textbook formulas."""

from __future__ import annotations

import numpy as np
import pytest

from optimised import logistic_by_optimiser, poisson_by_optimiser
from understudy.questions.fits import least_squares, logistic, poisson


def test_logistic_regression_agrees_with_another_optimiser_on_repeated_columns():
    rng = np.random.default_rng(15)
    x = rng.normal(size=(200, 2))
    outcome = (rng.random(200) < 1 / (1 + np.exp(-x[:, 0]))).astype(float)
    design = np.column_stack([np.ones(200), x])
    fit = logistic(np.column_stack([design, x[:, 1]]), outcome)
    best = logistic_by_optimiser(design, outcome)
    assert fit.rank == 3
    assert fit.estimable.tolist() == [True, True, False, False]
    assert fit.coefficients[:2] == pytest.approx(best[:2], abs=1e-5)
    probability = 1 / (1 + np.exp(-design @ best))
    information = design.T @ (design * (probability * (1 - probability))[:, None])
    assert fit.errors[:2] == pytest.approx(np.sqrt(np.diag(np.linalg.inv(information)))[:2])


def test_least_squares_of_repeated_columns_tells_what_every_solution_agrees_on():
    rng = np.random.default_rng(16)
    x = rng.normal(size=(60, 2)) * [1, 1e5]
    outcome = x @ [2, 3e-5] + rng.normal(size=60)
    design = np.column_stack([np.ones(60), x])
    fit = least_squares(np.column_stack([design, x[:, 1]]), outcome)
    values, residual = np.linalg.lstsq(design, outcome)[:2]
    errors = np.sqrt(residual[0] / 57 * np.diag(np.linalg.inv(design.T @ design)))
    assert fit.rank == 3
    assert fit.estimable.tolist() == [True, True, False, False]
    assert fit.coefficients[:2] == pytest.approx(values[:2])
    assert fit.errors[:2] == pytest.approx(errors[:2])
    assert fit.fitted == pytest.approx(design @ values)


def test_without_a_record_to_spare_there_are_no_standard_errors():
    fit = least_squares(np.eye(3), np.arange(3.0))
    assert fit.coefficients == pytest.approx([0, 1, 2])
    assert np.isnan(fit.errors).all()


def test_separated_outcomes_have_probabilities_but_no_slope():
    x = np.linspace(-1, 1, 40)
    outcome = (x > 0).astype(float)
    fit = logistic(np.column_stack([np.ones(40), x]), outcome)
    assert not fit.estimable.any()
    assert fit.fitted == pytest.approx(outcome, abs=1e-3)


@pytest.mark.parametrize("seed", [5181, 4361])
def test_heavy_tails_do_not_throw_the_fit_off(seed):
    """Steps that are never halved end on these tables at a deviance of thousands."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 400)), int(rng.integers(1, 12))
    x = np.exp(3 * rng.normal(size=(n, k)))
    outcome = (rng.random(n) < 1 / (1 + np.exp(-np.clip(x[:, 0], -3, 3)))).astype(float)
    fit = logistic(np.column_stack([np.ones(n), x]), outcome)
    likelihood = np.where(outcome == 1, fit.fitted, 1 - fit.fitted)
    constant = outcome.mean()
    null = -2 * n * (constant * np.log(constant) + (1 - constant) * np.log(1 - constant))
    assert -2 * np.log(likelihood).sum() < null


def test_poisson_regression_agrees_with_another_optimiser_on_repeated_columns():
    rng = np.random.default_rng(17)
    x = rng.normal(size=(300, 2))
    outcome = rng.poisson(np.exp(1 + 0.5 * x[:, 0])).astype(float)
    design = np.column_stack([np.ones(300), x])
    fit = poisson(np.column_stack([design, x[:, 1]]), outcome)
    best = poisson_by_optimiser(design, outcome)
    assert fit.rank == 3
    assert fit.estimable.tolist() == [True, True, False, False]
    assert fit.coefficients[:2] == pytest.approx(best[:2], abs=1e-5)
    information = design.T @ (design * np.exp(design @ best)[:, None])
    errors = np.sqrt(np.diag(np.linalg.inv(information)))
    assert fit.errors[:2] == pytest.approx(errors[:2], rel=1e-5)


@pytest.mark.parametrize("scale", [1, 1_000_000])
def test_counts_of_a_group_without_any_event_leave_its_coefficient_open(scale):
    rng = np.random.default_rng(18)
    group = np.repeat([0.0, 1.0], [990, 10])
    x = rng.normal(size=1000)
    outcome = np.where(group == 1, 0, scale * rng.poisson(np.exp(1 + 0.3 * x)))
    fit = poisson(np.column_stack([np.ones(1000), group, x]), outcome.astype(float))
    assert fit.estimable.tolist() == [True, False, True]
    others = np.column_stack([np.ones(990), x[:990]])
    best = poisson_by_optimiser(others, outcome[:990] / scale)
    assert fit.coefficients[[0, 2]] == pytest.approx([best[0] + np.log(scale), best[1]], abs=1e-5)


def test_one_separated_record_among_many_is_not_overlooked():
    rng = np.random.default_rng(19)
    x, alone = rng.normal(size=20_000), np.arange(20_000) == 7
    outcome = (rng.random(20_000) < 1 / (1 + np.exp(-x))) | alone
    fit = logistic(np.column_stack([np.ones(20_000), x, alone]), outcome.astype(float))
    assert fit.estimable.tolist() == [True, True, False]


@pytest.mark.parametrize("apart", [1.0, 1e-3, 1e-6])
def test_columns_that_nearly_repeat_each_other_are_told_apart(apart):
    """Products of columns lose twice as many digits as singular values do."""
    rng = np.random.default_rng(20)
    x, noise = rng.normal(size=(2, 500))
    design = np.column_stack([np.ones(500), x, x + apart * noise])
    outcome = design @ [1, 2, 3] + rng.normal(size=500)
    fit = least_squares(design, outcome)
    assert fit.rank == 3
    assert fit.estimable.all()
    # Of two nearly equal columns, the difference is a column of its own.
    other = np.column_stack([np.ones(500), x, noise])
    values = np.linalg.lstsq(other, outcome)[0]
    expected = [values[0], values[1] - values[2] / apart, values[2] / apart]
    assert fit.coefficients == pytest.approx(expected, rel=1e-6)


def test_a_row_far_from_all_others_does_not_throw_counts_off():
    design = np.column_stack([np.ones(2000), np.r_[np.arange(1999.0) % 3, 1e9]])
    outcome = np.r_[np.full(1999, 3.0), 0.0]
    fit = poisson(design, outcome)
    assert np.isfinite(fit.coefficients).all()
    assert fit.fitted[:1999] == pytest.approx(3, rel=1e-3)
