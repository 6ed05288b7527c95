import numpy as np
import pytest
import scipy.special
import scipy.stats

from family_checks import Case, Cut, EdgeChecks, NumberChecks, continuous
from understudy._jax import jax, jnp
from understudy.models.families.gamma import log_gamma_mass


def gamma(eta, shape):
    uncut = scipy.stats.gamma(shape, scale=np.exp(eta) / shape)
    return Case("gamma", continuous(), eta, {"shape": shape}, Cut(uncut))


class TestGamma(NumberChecks, EdgeChecks):
    CASES = (
        *[gamma(*c) for c in [(-2.0, 0.5), (-2.0, 5.0), (0.0, 1.0), (2.0, 3.0), (-6.0, 0.05)]],
        *[gamma(*c) for c in [(-1.0, 100.0), (-0.05, 1000.0)]],
    )
    PAIRS = (("gamma", "continuous"),)


@pytest.mark.parametrize(("shape", "limit"), [(0.5, np.inf), (2.0, -np.inf)])
def test_the_density_at_the_lower_bound_is_its_limit(shape, limit):
    assert gamma(-1.0, shape).loglik([0.0])[0] == limit
    assert np.isfinite(gamma(-1.0, 1.0).loglik([0.0])[0])


mass_of = jax.jit(log_gamma_mass)


@pytest.mark.parametrize("rate", [1e-12, 0.3, 40.0, 1e6])
@pytest.mark.parametrize("shape", [1e-3, 0.4, 3.0, 500.0])
def test_the_mass_is_an_incomplete_gamma_function(shape, rate):
    mass = float(mass_of(jnp.asarray(shape), jnp.asarray(rate)))
    if rate < shape:
        # The series of positive terms that converges fast there.
        terms = np.cumsum(np.log(rate) - np.log(shape + np.arange(1, 400)))
        series = np.log(np.sum(np.exp([0.0, *terms])))
        expected = -rate - np.log(shape) + series
    else:
        expected = np.log(scipy.special.gammainc(shape, rate))
        expected += scipy.special.gammaln(shape) - shape * np.log(rate)
    assert mass == pytest.approx(expected, rel=1e-9, abs=1e-9)
