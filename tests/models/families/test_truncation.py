"""Integrals in log space against SciPy's quadrature, and draws by inversion."""

import numpy as np
import pytest
import scipy.integrate
import scipy.stats

from family_checks import LEVEL, continuous, count
from understudy._jax import jax, jnp
from understudy.models.families.truncation import (
    inverting,
    log_integral,
)


@pytest.mark.parametrize(
    ("low", "high"), [(-1.0, 2.0), (-40.0, 40.0), (3.0, 9.0), (0.2, 0.2001), (-12.0, -10.0)]
)
def test_the_integral_of_a_concave_function_s_exponential(low, high):
    def g(v):
        return -(v**2) / 2 - v**4 / 500

    ours = log_integral(
        g,
        mode=jnp.zeros(()),
        sd=jnp.ones(()),
        low=jnp.asarray(low),
        high=jnp.asarray(high),
    )
    top = g(np.clip(0.0, low, high))
    points = [np.clip(0.0, low, high)]
    exact, _ = scipy.integrate.quad(
        lambda v: np.exp(g(v) - top), low, high, points=points, epsabs=0, epsrel=1e-12, limit=500
    )
    assert float(ours) == pytest.approx(top + np.log(exact), rel=1e-9, abs=1e-9)


def never(generator, eta, theta):
    return np.full(len(eta), -1.0)


def seldom(generator, eta, theta):
    """One in ten thousand falls inside, so that nearly all are left to the inversion."""
    return 1e4 * generator.random(len(eta)) ** (1 / 3)


def cubic(free):
    """The mass of [0, u] is u³ whatever η and θ say, on a column from 10 to 30."""
    return inverting(continuous(10.0, 30.0), lambda eta, theta: lambda u: 3 * jnp.log(u), free)


CUBIC = cubic(never)
SHARES = np.array([1e-9, 0.2, 0.5, 0.7, 1 - 1e-9])


@pytest.mark.parametrize("free", [never, seldom])
def test_numbers_are_drawn_from_the_mass_below_them(free):
    values = cubic(free)["simulate"](jax.random.key(0), jnp.zeros(4000), {})
    assert scipy.stats.kstest((values - 10) / 20, lambda u: np.clip(u, 0, 1) ** 3).pvalue > LEVEL


def test_a_quantile_of_a_number_has_its_share_of_the_mass_below_it():
    values = CUBIC["quantile"](SHARES, jnp.zeros(5), {})
    np.testing.assert_allclose(values, 10 + 20 * np.cbrt(SHARES), rtol=1e-12)


@pytest.mark.parametrize("largest", [1, 6])
def test_counts_are_drawn_from_the_mass_up_to_them(largest):
    """Every count is as likely as any other, on a column that begins at 5."""
    column = count(largest, lower=5)
    level = inverting(column, lambda eta, theta: lambda k: jnp.log(k + 1), never)
    values = level["simulate"](jax.random.key(0), jnp.zeros(7000), {})
    times = np.bincount(values.astype(int) - 5, minlength=largest + 1)
    assert len(times) == largest + 1
    assert scipy.stats.chisquare(times).pvalue > LEVEL
    quantiles = level["quantile"](SHARES, jnp.zeros(5), {})
    np.testing.assert_array_equal(quantiles, 4 + np.ceil(SHARES * (largest + 1)))


def test_draws_before_the_cut_are_made_again_until_they_lie_inside():
    """An exponential variable that is cut at 1, and no mass to invert."""
    simulate = inverting(
        continuous(0.0, 1.0),
        lambda eta, theta: lambda u: jnp.full_like(u, jnp.nan),
        lambda generator, eta, theta: generator.exponential(1.0, len(eta)),
    )["simulate"]
    values = simulate(jax.random.key(1), jnp.zeros(4000), {})
    cut = scipy.stats.truncexpon(1.0)
    assert scipy.stats.kstest(values, cut.cdf).pvalue > LEVEL
