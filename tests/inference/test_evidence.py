"""What is stacked, and the prior beside it."""

import math

import numpy as np
import pytest

from summaries import BETA, answers
from understudy._jax import jnp
from understudy.inference.cells import coarse
from understudy.inference.contribution import UNIT, ScoreContribution, TableContribution
from understudy.inference.evidence import Evidence
from understudy.inference.measurement import Measurement, Noise
from understudy.inference.moments import Population


def two_rounds():
    table = TableContribution(BETA, (coarse(BETA.schema.confidential[0], 1e5),))
    scores = ScoreContribution(BETA, np.array([-1.0, 1.0]), np.eye(2), np.zeros(2), 2 * UNIT)
    first = Measurement(table, np.full(24, 80), Noise(4.0), 0.25)
    second = Measurement(scores, np.array([3 * UNIT, -UNIT]), Noise(4.0 * UNIT), 0.5)
    return Evidence(Population(BETA, {}, 2000, False), (first, second))


def test_rounds_are_stacked_in_their_order_and_units():
    evidence = two_rounds()
    np.testing.assert_allclose(evidence.values, [*[80] * 24, 3, -1])
    np.testing.assert_allclose(evidence.variance[[0, -1]], [31.8, 32.0], rtol=0.01)


def test_rounds_are_correlated_because_their_records_are_the_same():
    predicted = two_rounds().predict(np.array([-1.0, 1.0, math.log(2000)]), 1, 20_000)
    between = predicted.covariance[:24, 24:]
    scale = np.sqrt(
        np.outer(*(np.diag(predicted.covariance)[part] for part in (slice(0, 24), slice(24, 26))))
    )
    assert np.abs(between / np.maximum(scale, 1e-9)).max() > 0.3


def test_the_prior_has_its_gradient_and_a_precision_that_is_positive():
    evidence = two_rounds()
    point = np.array([-0.7, 1.3, math.log(1500)])
    value, gradient, precision = evidence.prior(point)
    assert value == pytest.approx(evidence.log_prior(point[None])[0])
    for axis in range(3):
        step = 1e-5 * np.eye(3)[axis]
        ends = evidence.log_prior(np.array([point + step, point - step]))
        assert gradient[axis] == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-5, abs=1e-7)
    assert np.linalg.eigvalsh(precision).min() > 0


def test_a_number_of_records_that_is_known_is_no_coordinate():
    population, measured = answers(300, noisy=[120, 180], scale=1.0)
    evidence = Evidence(population, (measured,))
    z = np.array([0.4])
    np.testing.assert_array_equal(evidence.with_size(z), z)
    assert evidence.size(z) == 300
    own = float(population.model.log_prior_unconstrained(jnp.asarray(z)))
    assert evidence.log_prior(z[None])[0] == pytest.approx(own)


def test_a_number_of_records_that_is_not_known_is_one():
    evidence = two_rounds()
    point = evidence.with_size(np.zeros(2))
    assert evidence.size(point) == pytest.approx(2000)
    predicted = evidence.predict(point, 3, 4096)
    np.testing.assert_allclose(predicted.slope[:, -1], predicted.mean)
