import numpy as np
import scipy.stats

from family_checks import Case, Cut, EdgeChecks, NumberChecks, continuous


def lognormal(eta, sigma):
    uncut = scipy.stats.lognorm(sigma, scale=np.exp(eta))
    return Case("lognormal", continuous(), eta, {"sigma": sigma}, Cut(uncut))


class TestLognormal(NumberChecks, EdgeChecks):
    CASES = tuple(lognormal(*c) for c in [(-2.0, 1.0), (-6.0, 0.5), (2.0, 1.5), (-1.0, 0.05)])
    PAIRS = (("lognormal", "continuous"),)


def test_the_density_is_zero_at_the_lower_bound():
    values = lognormal(-2.0, 1.0).loglik([0.0, 1e-300])
    assert values[0] == -np.inf
    assert values[1] < -1e4
