"""The posterior as a whole: calibrated, and checked against the model."""

import numpy as np
import pytest

from inference.test_mode import beta_evidence
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
    assert posterior.p_value > 1e-3
