"""Means from a reweighted pool, against distribution functions."""

import numpy as np
import scipy.stats

from inference.test_mode import CELLS, beta_evidence
from summaries import BETA
from understudy._jax import jnp
from understudy.inference.mode import find_mode
from understudy.inference.pool import Pool
from understudy.inference.start import starting_point
from understudy.support.randomness import Source


def shares(z):
    theta = BETA.constrain(jnp.asarray(z))
    a, b = (float(theta["lambda"] * each) for each in (theta["phi"], 1 - theta["phi"]))
    return np.diff(scipy.stats.beta(a, b).cdf([0, *CELLS.edges, 1]))


def test_it_stands_for_the_mode_and_for_what_is_near_it():
    evidence, source = beta_evidence(1), Source(2)
    mode = find_mode(evidence, starting_point(evidence, source), source, records=32_768)
    pool = Pool.around(evidence, mode, source, records=8192)
    z = evidence.position(mode.point)
    own = mode.prediction.mean / evidence.size(mode.point)
    np.testing.assert_allclose(pool.means(z[None])[0], own, atol=1e-9)
    away = z + np.sqrt(np.diag(mode.covariance))[:2]
    exact = shares(away) - shares(z)
    assert np.abs(exact).max() > 0.005
    found = np.diff(pool.means(np.array([z, away])), axis=0)[0]
    np.testing.assert_allclose(found, exact, atol=0.2 * np.abs(exact).max())
