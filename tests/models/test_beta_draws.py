"""Draws of Beta variables against the distribution function."""

import numpy as np
import pytest
import scipy.stats

from understudy.models.beta_draws import beta_draws

SHAPES = [
    (0.5, 3.0),
    (3.0, 0.5),
    (1.0, 1.0),
    (1.0, 4.0),
    (4.0, 1.0),
    (1.001, 300.0),
    (20.0, 30.0),
    (0.3, 0.4),
    (0.9, 1.5),
    (0.01, 50.0),
    (2000.0, 8000.0),
    (2e6, 3e6),
]


@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_draws_follow_the_distribution(a, b):
    draws = beta_draws(np.random.default_rng(1), a, b, 50_000)
    assert draws.shape == (50_000,)
    assert ((draws >= 0) & (draws <= 1)).all()
    # A false alarm once in a thousand seeds, and the seed is fixed.
    assert scipy.stats.kstest(draws, scipy.stats.beta(a, b).cdf).pvalue > 0.001


@pytest.mark.parametrize(("a", "b"), [(0.5, 3.0), (20.0, 30.0)])
def test_one_draw_tells_nothing_of_the_next(a, b):
    draws = beta_draws(np.random.default_rng(2), a, b, 50_000)
    assert abs(np.corrcoef(draws[1:], draws[:-1])[0, 1]) < 4 / np.sqrt(50_000)


def test_shapes_that_underflow_leave_the_lower_end():
    assert (beta_draws(np.random.default_rng(1), 1e-100, 3.0, 100) == 0).all()


def test_uniform_numbers_of_zero_are_the_lower_end():
    class Zeros:
        def random(self, size):
            return np.zeros(size)

    assert (beta_draws(Zeros(), 2.0, 3.0, 5) == 0).all()
    assert (beta_draws(Zeros(), 3.0, 2.0, 5) == 1).all()
