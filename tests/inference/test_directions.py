"""Directions, their number and the clip are worth what they are said to be."""

import numpy as np
import pytest

from summaries import BETA
from understudy.inference.allowance import Allowance
from understudy.inference.contribution import UNIT
from understudy.inference.directions import COUNTED, choose_scores
from understudy.inference.moments import Population, moments
from understudy.support.randomness import Source

Z = np.array([-1.5, 1.6])
PRECISION = np.diag([40.0, 20.0])
POPULATION = Population(BETA, {}, 2000, False)


def chosen(epsilon=None, counted=False, records=8192, rho=None):
    allowance = Allowance(epsilon=epsilon, rho=rho)
    return choose_scores(
        POPULATION, Z, PRECISION, Source(1), allowance=allowance, records=records, counted=counted
    )


def test_scores_have_variance_one_in_every_direction():
    scores = chosen(5.0, records=100_000)
    slopes = POPULATION.simulate(Z, Source(2), 100_000).slopes(Z)
    covariance = np.cov(slopes @ scores.directions.T, rowvar=False)
    np.testing.assert_allclose(covariance, np.eye(2), atol=0.05)


@pytest.mark.parametrize("name", ["epsilon", "rho"])
def test_more_noise_makes_the_clip_shorter(name):
    lengths = [chosen(**{name: each}).length for each in (10.0, 0.7, 0.02, 0.001)]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] > 4 * lengths[-1]


def test_what_noise_would_drown_is_left_to_the_prior():
    known = np.diag([1e9, 1e-2])
    scores = choose_scores(
        POPULATION, Z, known, Source(3), allowance=Allowance(epsilon=0.05), records=8192,
        counted=False,
    )  # fmt: skip
    assert len(scores.directions) == 1


@pytest.mark.parametrize("price", [{"epsilon": 0.1}, {"rho": 0.001}], ids=str)
def test_the_mean_at_the_anchor_is_zero_after_the_clip(price):
    scores = chosen(**price)
    assert scores.norm == (1 if "epsilon" in price else 2)
    found = moments(POPULATION.simulate(Z, Source(4), 50_000), [scores], Z)
    assert np.abs(found.mean).max() < 0.02 * scores.length / UNIT


@pytest.mark.parametrize("price", [{"epsilon": 0.1}, {"epsilon": 1.0}, {"rho": 0.02}], ids=str)
def test_a_coordinate_that_counts_lies_inside_the_bound(price):
    scores = chosen(**price, counted=True)
    assert scores.count / scores.bound == pytest.approx(COUNTED, rel=1e-3)
    each = scores.each({"x": np.random.default_rng(5).beta(0.5, 3, 500)})
    assert np.linalg.norm(each, ord=scores.norm, axis=1).max() <= scores.bound


def test_they_gain_what_they_promise():
    """What the scores tell about θ is close to all there is where there is little noise."""
    scores = chosen(20.0)
    simulated = POPULATION.simulate(Z, Source(6), 50_000)
    found = moments(simulated, [scores], Z)
    slopes = simulated.slopes(Z)
    told = found.slope.T @ np.linalg.solve(found.covariance, found.slope)
    ideal = slopes.T @ slopes / len(slopes)
    assert np.linalg.det(told) > 0.95 * np.linalg.det(ideal)
