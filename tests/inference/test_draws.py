"""Draws of θ, against a posterior that is added up over every possible table."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

from summaries import LOGISTIC, answers
from understudy._jax import jnp
from understudy.inference.draws import posterior_draws
from understudy.inference.evidence import Evidence
from understudy.inference.measurement import GAUSSIAN, LAPLACE
from understudy.inference.mode import around, find_mode
from understudy.support.randomness import Source


def exact_posterior(size, noisy, scale, distribution):
    """Return a grid of logits and their posterior, with every number of yeses and its noise."""
    grid = np.linspace(-14, 14, 5601)
    prior = np.exp([float(LOGISTIC.log_prior_unconstrained(jnp.array([z]))) for z in grid])
    yeses = np.arange(size + 1)
    off = np.array([noisy[1] - yeses, noisy[0] - (size - yeses)])
    heights = np.abs(off) / scale if distribution == LAPLACE else (off / scale) ** 2 / 2
    seen = np.exp(-heights.sum(axis=0))
    share = 1 / (1 + np.exp(-grid))
    posterior = prior * (scipy.stats.binom.pmf(yeses, size, share[:, None]) @ seen)
    return grid, posterior / posterior.sum()


@pytest.mark.parametrize(
    ("noisy", "scale", "distribution"),
    [
        ([190, 140], 30.0, LAPLACE),
        ([190, 140], 40.0, GAUSSIAN),
        pytest.param([180, 120], 1.0, LAPLACE, marks=pytest.mark.slow),
        pytest.param([180, 120], 1.0, GAUSSIAN, marks=pytest.mark.slow),
        pytest.param([260, 5], 60.0, LAPLACE, marks=pytest.mark.slow),
        pytest.param([260, 5], 80.0, GAUSSIAN, marks=pytest.mark.slow),
    ],
)
def test_mean_spread_and_tails_are_those_of_the_exact_posterior(noisy, scale, distribution):
    """Laplace noise is not normal: at a small ε that shows in the spread and in the tails."""
    population, measured = answers(300, noisy=noisy, scale=scale, distribution=distribution)
    evidence, source = Evidence(population, (measured,)), Source(3)
    mode = find_mode(evidence, np.zeros(1), source, records=8192)
    draws = posterior_draws(evidence, mode, source, count=4000).points[:, 0]
    grid, posterior = exact_posterior(300, noisy, scale, distribution)
    mean = posterior @ grid
    spread = np.sqrt(posterior @ (grid - mean) ** 2)
    assert draws.mean() == pytest.approx(mean, abs=0.15 * spread)
    assert draws.std() == pytest.approx(spread, rel=0.12)
    below = np.cumsum(posterior)
    for level in (0.05, 0.5, 0.95):
        place = grid[np.searchsorted(below, level)]
        assert np.mean(draws < place) == pytest.approx(level, abs=0.04)


@pytest.mark.slow
@pytest.mark.parametrize("reaches", [True, False])
def test_many_parameters_are_drawn_by_a_chain_or_else_from_the_normal(monkeypatch, reaches):
    import understudy as us
    from summaries import ANSWER, schema_of
    from understudy.inference.cells import Cells
    from understudy.inference.contribution import TableContribution
    from understudy.inference.measurement import Measurement, Noise
    from understudy.inference.moments import Population

    if not reaches:
        monkeypatch.setattr("understudy.inference.draws.chain_draws", lambda *given, **named: None)
    groups = {"role": "public", "type": "categorical", "levels": [f"g{k}" for k in range(20)]}
    model = us.formula("y ~ g", family="bernoulli", schema=schema_of(y=ANSWER, g=groups))
    table = TableContribution(model, (Cells(model.schema.confidential[0]),))
    measured = Measurement(table, np.array([120, 180]), Noise(2.0), 0.5)
    population = Population(model, {"g": np.arange(300) % 20}, 300, True)
    evidence, source = Evidence(population, (measured,)), Source(4)
    mode = find_mode(evidence, np.zeros(20), source, records=2048)
    draws = posterior_draws(evidence, mode, source, count=100)
    assert draws.sampler == ("nuts" if reaches else "normal")
    assert draws.points.shape == (100, 20)
    assert np.isfinite(draws.points).all()
    if not reaches:
        np.testing.assert_allclose(draws.points.mean(axis=0), mode.point, atol=1e-9)


def test_candidates_lead_on_from_a_fit_that_ended_on_the_way():
    """As far off as six standard deviations, and as sure of itself as if it were there."""
    population, measured = answers(300, noisy=[190, 140], scale=10.0, distribution=LAPLACE)
    evidence, source = Evidence(population, (measured,)), Source(3)
    mode = find_mode(evidence, np.zeros(1), source, records=8192)
    off = mode.point + 6 * np.sqrt(mode.covariance[0])
    lost = around(evidence, off, source, records=8192)
    lost = replace(lost, precision=1e8 * lost.precision)
    draws = posterior_draws(evidence, lost, source, count=400)
    assert draws.sampler == "importance"
    assert len(draws.modes) > 1
    spread = float(np.sqrt(mode.covariance[0, 0]))
    assert draws.mode.point == pytest.approx(mode.point, abs=0.1 * spread)
    assert draws.points.mean() == pytest.approx(mode.point[0], abs=0.3 * spread)
