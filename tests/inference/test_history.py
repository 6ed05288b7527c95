"""Draws of an earlier release as a prior."""

import numpy as np
import pytest

from summaries import BETA
from understudy.errors import BadInput
from understudy.inference.evidence import Evidence
from understudy.inference.history import carried
from understudy.inference.moments import Population
from understudy.samplers.proposals import prior_centre

Z = np.random.default_rng(0).normal([-1.0, 2.0], [0.1, 0.3], (400, 2))


def draws_at(positions):
    thetas = (BETA.constrain(z) for z in positions)
    return [{name: float(value) for name, value in theta.items()} for theta in thetas]


def test_the_prior_is_the_normal_distribution_of_the_draws():
    model = carried(BETA, draws_at(Z))
    np.testing.assert_allclose(prior_centre(model), Z.mean(axis=0), atol=1e-6)
    evidence = Evidence(Population(model, {}, 100, True), ())
    _, gradient, precision = evidence.prior(Z.mean(axis=0))
    np.testing.assert_allclose(gradient, 0, atol=1e-4)
    np.testing.assert_allclose(precision, np.linalg.inv(np.cov(Z.T)), rtol=1e-5)
    off = np.array([0.2, -0.4])
    heights = evidence.log_prior(np.stack([Z.mean(axis=0), Z.mean(axis=0) + off]))
    assert heights[0] - heights[1] == pytest.approx(0.5 * off @ precision @ off, rel=1e-4)


def test_too_few_draws_and_draws_that_do_not_vary_are_refused():
    with pytest.raises(BadInput, match="19 draws, and 10 are needed for each of the 2"):
        carried(BETA, draws_at(Z[:19]))
    with pytest.raises(BadInput, match="1 draws, and 10 are needed"):
        carried(BETA, draws_at(np.repeat(Z[:1], 30, axis=0)))
    same = Z.copy()
    same[:, 0] = 0.0
    with pytest.raises(BadInput, match="do not vary"):
        carried(BETA, draws_at(same))
