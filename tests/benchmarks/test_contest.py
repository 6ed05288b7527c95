"""The arithmetic of the contest with Stan."""

from __future__ import annotations

import math

import numpy as np
import pytest

import contest
from timed_fits import fit_with_mean


def test_ratios_are_taken_within_rounds_and_keep_their_spread():
    ratios = contest.ratios([10.0, 40.0, 90.0], [1.0, 2.0, 3.0])
    assert ratios == (20.0, 10.0, 30.0)
    assert str(ratios) == "20.0 (10.0–30.0)"
    with pytest.raises(ValueError, match="shorter"):
        contest.ratios([1.0, 2.0], [1.0])


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.02994, "0.0299"), (9.996, "10.00"), (33.85, "33.9"), (1234.5, "1,230"), (99950, "100,000")],
)
def test_figures_have_three_significant_digits(value, text):
    assert contest.figure(value) == text


def test_independent_draws_count_in_full():
    fit = fit_with_mean(0.0)
    assert fit.effective.tolist() == [400.0, 400.0]
    assert fit.effective_per_second == 200.0


def test_correlated_draws_count_for_less():
    steps = np.random.default_rng(0).normal(size=(4, 500, 2))
    walk = np.empty_like(steps)
    walk[:, 0] = steps[:, 0]
    for k in range(1, 500):
        walk[:, k] = 0.9 * walk[:, k - 1] + steps[:, k]
    assert contest.TimedFit(1.0, walk).effective.max() < 500


def test_means_are_compared_in_standard_errors_of_all_rounds_together():
    rounds = [fit_with_mean(mean, seed=k) for k, mean in enumerate((0.2, 0.4))]
    # Each mean has a standard error of 1/√400 = 0.05, and the mean of both one of 0.05/√2.
    apart = contest.standard_errors_apart(rounds, np.array([0.3, 0.0]))
    assert apart == pytest.approx(0.3 / (0.05 / math.sqrt(2)), rel=0.1)
