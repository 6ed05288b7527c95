"""The share of a width that is noise, against posteriors that are added up over every table."""

import numpy as np
import pytest
import scipy.special
import scipy.stats

from inference.test_draws import exact_posterior
from summaries import answers
from understudy.inference.evidence import Evidence
from understudy.inference.measurement import GAUSSIAN
from understudy.inference.noiseless import (
    draws_without_noise,
    few_parameters,
    narrowing,
    shares_of_width,
)
from understudy.support.randomness import Source


def test_covariances_are_those_with_the_noise_and_without():
    """Without noise the posterior of a share is a Beta distribution, up to its flat prior."""
    noise = {"scale": 20.0, "distribution": GAUSSIAN}
    population, measured = answers(300, noisy=[180, 120], **noise)
    evidence = Evidence(population, (measured,))
    estimate = np.array([np.log(120 / 180)])
    with_noise, without = narrowing(evidence, estimate, Source(3))
    grid, posterior = exact_posterior(300, [180, 120], **noise)
    mean = posterior @ grid
    assert with_noise[0, 0] == pytest.approx(posterior @ (grid - mean) ** 2, rel=0.1)
    logits = scipy.special.logit(scipy.stats.beta(120, 180).rvs(20_000, random_state=1))
    assert without[0, 0] == pytest.approx(logits.var(), rel=0.1)
    assert without[0, 0] < 0.6 * with_noise[0, 0]


def test_draws_without_noise_spread_as_the_covariance_says():
    population, measured = answers(300, noisy=[180, 120], scale=30.0)
    evidence = Evidence(population, (measured,))
    estimate = np.array([np.log(120 / 180)])
    draws = draws_without_noise(evidence, estimate, Source(4), count=400)
    expected = narrowing(evidence, estimate, Source(3))[1][0, 0]
    assert draws.var() == pytest.approx(expected, rel=0.3)
    assert draws.mean() == pytest.approx(estimate[0], abs=0.05)


def test_only_what_moves_with_the_parameters_is_due_to_noise():
    generator = np.random.default_rng(2)
    covariance = np.diag([4.0, 1.0])
    z = generator.multivariate_normal(np.zeros(2), covariance, size=2000)
    slope = np.array([[1.0, 0.0, 1.0], [0.0, 0.0, 2.0]])
    values = z @ slope + generator.normal(size=(2000, 3)) * [0.0, 1.0, 2.0]
    without = np.diag([1.0, 1.0])
    shares = shares_of_width(values, z, (covariance, without))
    # Variances 4 → 1, 1 → 1 and 4 + 4 + 4 → 1 + 4 + 4.
    expected = 1 - np.sqrt([1 / 4, 1, 9 / 12])
    assert shares == pytest.approx(expected, abs=0.03)


def test_an_answer_that_does_not_vary_has_no_noise_in_it():
    z = np.random.default_rng(3).normal(size=(100, 1))
    shares = shares_of_width(np.ones((100, 1)), z, (np.eye(1), 0.5 * np.eye(1)))
    assert shares.tolist() == [0.0]


def test_many_parameters_need_many_draws():
    population, measured = answers(300, noisy=[180, 120], scale=30.0)
    evidence = Evidence(population, (measured,))
    assert few_parameters(evidence, 10)
    assert not few_parameters(evidence, 9)
