"""The posterior as a whole: calibrated, and checked against the model."""

from dataclasses import replace

import numpy as np
import pytest

from inference.test_mode import beta_evidence
from understudy.inference.moments import MOST
from understudy.inference.posterior import infer
from understudy.inference.start import starting_point
from understudy.models.base import GRID
from understudy.support.randomness import Source


@pytest.fixture(scope="module")
def posterior():
    evidence, source = beta_evidence(1), Source(2)
    near = starting_point(evidence, source)
    return infer(evidence, near, near, source, draws=200)


def test_it_holds_the_truth(posterior):
    theta = posterior.thetas[0]
    assert theta["phi"] == pytest.approx(0.8 / 5.8, abs=0.02)
    assert theta["lambda"] == pytest.approx(5.8, rel=0.2)
    assert posterior.positions.shape == (200, 2)


def test_what_is_published_lies_on_the_public_grid(posterior):
    model = posterior.evidence.population.model
    z = np.asarray(model.unconstrain(posterior.thetas[1]))
    np.testing.assert_allclose(z / GRID, np.round(z / GRID), atol=1e-4)


def test_the_first_attempt_was_enough(posterior):
    assert posterior.attempts == 1
    assert posterior.check.p_value > 1e-3


def test_a_fit_that_does_not_settle_is_made_again_with_more_records_and_smaller_steps(monkeypatch):
    """And whatever comes of it, there is a posterior."""
    from understudy.inference import posterior as module

    asked = []

    def unsettled(evidence, start, source, *, records, hot=True, reach=1.0):
        asked.append((records, reach, hot))
        return replace(find_mode(evidence, start, source, records=2048, hot=hot), settled=False)

    find_mode = module.find_mode
    monkeypatch.setattr(module, "find_mode", unsettled)
    monkeypatch.setattr("understudy.inference.refined.find_mode", unsettled)
    evidence, source = beta_evidence(1), Source(2)
    near = starting_point(evidence, source)
    found = infer(evidence, near, near, source, draws=20)
    assert found.attempts == 4
    attempts = asked[:4]
    assert [hot for _, _, hot in attempts] == [False, True, False, False]
    assert [records // module.RECORDS for records, _, _ in attempts] == [1, 1, 4, 16]
    assert [reach for _, reach, _ in attempts] == [1, 1, 1 / 4, 1 / 16]
    assert not found.mode.settled
    assert np.isfinite(found.points).all()


def test_of_very_many_records_simulation_takes_little_of_what_is_known():
    """And no model that made the table is said to be wrong."""
    evidence = beta_evidence(1, size=2_000_000)
    population = replace(evidence.population, size=2_000_000, known=True)
    evidence = replace(evidence, population=population)
    source = Source(3)
    near = starting_point(evidence, source)
    found = infer(evidence, near, near, source, draws=200)
    assert found.mode.records > MOST
    assert found.mode.simulation < 0.5
    truth = np.asarray(population.model.unconstrain({"phi": 0.8 / 5.8, "lambda": 5.8}))
    assert (np.abs(found.estimate - truth) < 4 * found.points.std(axis=0)).all()
    assert found.check.warning is None


@pytest.mark.slow
def test_forty_tables_hold_what_they_were_made_from():
    """Ranks of θ among its draws are even: 90 % intervals neither miss it nor always hold it.

    phi ~ Beta(2, 2) and lambda − 0.1 ~ Gamma(2, scale 3), which the fit has as its prior.
    """
    import pandas as pd
    import scipy.stats
    from numpyro import distributions as dist

    import understudy as us
    from summaries import BETA

    def log_prior(theta):
        shape = dist.Gamma(2.0, 1 / 3).log_prob(theta["lambda"] - 0.1)
        return dist.Beta(2.0, 2.0).log_prob(theta["phi"]) + shape

    model, ranks = replace(BETA, log_prior=log_prior), []
    for number in range(40):
        generator = np.random.default_rng([number, 8])
        phi, precision = generator.beta(2, 2), 0.1 + generator.gamma(2, 3)
        table = pd.DataFrame({"x": generator.beta(precision * phi, precision * (1 - phi), 2000)})
        release = us.synthesize(model, table, us.Summary(epsilon=1.0), seed=number)
        draws = release.parameters[0]["draws"]
        below = [
            np.mean([d[n] < v for d in draws]) for n, v in (("phi", phi), ("lambda", precision))
        ]
        ranks.append(below)
    for each in np.transpose(ranks):
        assert scipy.stats.kstest(each, "uniform").pvalue > 1e-3
        held = np.sum((each >= 0.05) & (each <= 0.95))
        assert scipy.stats.binomtest(int(held), 40, 0.9).pvalue > 1e-3
