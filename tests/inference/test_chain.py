"""A chain on the pool, against the posterior that is added up over every possible table."""

import numpy as np
import pytest

from inference.test_draws import exact_posterior
from summaries import answers
from understudy.inference.chain import chain_draws
from understudy.inference.evidence import Evidence
from understudy.inference.measurement import LAPLACE
from understudy.inference.mode import find_mode
from understudy.support.randomness import Source


@pytest.mark.slow
@pytest.mark.parametrize(("noisy", "scale"), [([190, 140], 30.0), ([180, 120], 1.0)])
def test_mean_spread_and_tails_are_those_of_the_exact_posterior(noisy, scale):
    population, measured = answers(300, noisy=noisy, scale=scale)
    evidence, source = Evidence(population, (measured,)), Source(5)
    mode = find_mode(evidence, np.zeros(1), source, records=8192)
    draws = chain_draws(evidence, mode, source, count=4000)
    grid, posterior = exact_posterior(300, noisy, scale, LAPLACE)
    mean = posterior @ grid
    spread = np.sqrt(posterior @ (grid - mean) ** 2)
    assert draws.mean() == pytest.approx(mean, abs=0.2 * spread)
    assert draws.std() == pytest.approx(spread, rel=0.15)
    below = np.cumsum(posterior)
    for level in (0.05, 0.5, 0.95):
        place = grid[np.searchsorted(below, level)]
        assert np.mean(draws < place) == pytest.approx(level, abs=0.05)


@pytest.mark.slow
def test_a_pool_that_does_not_reach_far_enough_is_not_used(monkeypatch):
    monkeypatch.setattr("understudy.inference.chain._FEWEST", 2.0)
    population, measured = answers(300, noisy=[190, 140], scale=30.0)
    evidence, source = Evidence(population, (measured,)), Source(6)
    mode = find_mode(evidence, np.zeros(1), source, records=2048)
    assert chain_draws(evidence, mode, source, count=20) is None
