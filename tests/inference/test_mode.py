"""The mode, against a grid on which everything is worked out by quadrature."""

import math

import numpy as np
import pytest
import scipy.stats

from summaries import BETA, answers
from understudy._jax import jnp
from understudy.inference.cells import coarse
from understudy.inference.contribution import TableContribution
from understudy.inference.evidence import Evidence
from understudy.inference.measurement import Measurement, Noise
from understudy.inference.mode import find_mode
from understudy.inference.moments import Population
from understudy.inference.start import starting_point
from understudy.support.randomness import Source

CELLS = coarse(BETA.schema.confidential[0], 1e5)


def beta_evidence(seed, scale=3.0, shapes=(0.8, 5.0), size=2000):
    generator = np.random.default_rng(seed)
    table = TableContribution(BETA, (CELLS,))
    noise = scipy.stats.dlaplace(1 / scale).rvs(24, random_state=generator)
    noisy = table.total({"x": generator.beta(*shapes, size)}) + noise
    return Evidence(
        Population(BETA, {}, 2000, False), (Measurement(table, noisy, Noise(scale), 1),)
    )


def height_on_grid(evidence, point):
    """Return minus the log posterior of a table of cells, by distribution functions alone."""
    theta = BETA.constrain(jnp.asarray(point[:2]))
    mean, precision = float(theta["phi"]), float(theta["lambda"])
    beta = scipy.stats.beta(precision * mean, precision * (1 - mean))
    shares, size = np.diff(beta.cdf([0, *CELLS.edges, 1])), math.exp(point[2])
    covariance = size * (np.diag(shares) - np.outer(shares, shares)) + np.diag(evidence.variance)
    likelihood = scipy.stats.multivariate_normal(size * shares, covariance).logpdf(evidence.values)
    return -likelihood - evidence.log_prior(point[None])[0]


@pytest.mark.parametrize(
    "shapes",
    [
        (60.0, 15.0),
        pytest.param((0.8, 5.0), marks=pytest.mark.slow),
        pytest.param((150.0, 350.0), marks=pytest.mark.slow),
    ],
)
def test_the_mode_is_that_of_the_posterior(shapes):
    evidence = beta_evidence(1, shapes=shapes)
    source = Source(2)
    mode = find_mode(evidence, starting_point(evidence, source), source, records=2**18)
    assert mode.settled
    best = scipy.optimize.minimize(
        lambda point: height_on_grid(evidence, point), mode.point, method="Nelder-Mead"
    )
    spread = np.sqrt(np.diag(mode.covariance))
    assert (np.abs(mode.point - best.x) < 0.35 * spread).all()


@pytest.mark.slow
def test_the_precision_is_the_curvature_of_the_posterior():
    evidence = beta_evidence(3)
    source = Source(4)
    mode = find_mode(evidence, starting_point(evidence, source), source, records=65_536)
    step = 0.3 * np.sqrt(np.diag(mode.covariance))
    for axis in range(3):
        shift = step * np.eye(3)[axis]
        heights = [height_on_grid(evidence, mode.point + k * shift) for k in (-1, 0, 1)]
        curvature = (heights[0] - 2 * heights[1] + heights[2]) / step[axis] ** 2
        assert mode.precision[axis, axis] == pytest.approx(curvature, rel=0.25)


def test_a_model_that_cannot_produce_what_was_measured_has_a_large_misfit():
    population, _ = answers(300, noisy=[1, 1], scale=1.0)
    fits = [answers(300, noisy=noisy, scale=1.0)[1] for noisy in ([100, 200], [300, 300])]
    misfits = [
        find_mode(Evidence(population, (each,)), np.zeros(1), Source(5), records=2048).misfit
        for each in fits
    ]
    assert misfits[0] < 10
    assert misfits[1] > 100
