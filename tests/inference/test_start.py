"""A fit begins where the model predicts something like what was measured."""

import numpy as np

from inference.test_mode import beta_evidence
from understudy.inference.start import starting_point
from understudy.samplers.proposals import prior_proposal
from understudy.support.randomness import Source


def height(evidence, point):
    predicted = evidence.predict(point, 1, 4096)
    return evidence.rough(predicted.mean)[1] - predicted.log_prior


def test_it_is_lower_than_the_prior_centre_by_far():
    evidence = beta_evidence(1, shapes=(150.0, 350.0))
    centre = evidence.with_size(prior_proposal(evidence.population.model).centre)
    start = starting_point(evidence, Source(2))
    assert height(evidence, start) < height(evidence, centre) - 100
    assert np.isfinite(start).all()
