import numpy as np
import pytest
import scipy.special
import scipy.stats

from family_checks import Case, Cut, EdgeChecks, NumberChecks, continuous
from understudy._jax import jax, jnp
from understudy.models.families.numbers import (
    log_gamma_mass,
    log_normal_mass,
    log_student_mass,
)


def gaussian(eta, sigma, column=None):
    return Case(
        "gaussian",
        column or continuous(),
        eta,
        {"sigma": sigma},
        scipy.stats.truncnorm(-eta / sigma, (1 - eta) / sigma, eta, sigma),
    )


class TestGaussian(NumberChecks, EdgeChecks):
    CASES = tuple(
        gaussian(*c) for c in [(0.4, 0.2), (0.5, 5.0), (-3.0, 0.2), (4.0, 0.3), (0.2, 0.01)]
    )
    PAIRS = (("gaussian", "continuous"),)


def test_units_do_not_matter():
    u = np.array([0.0, 0.25, 1.0])
    scaled = gaussian(0.4, 0.2, continuous(-1000.0, 3000.0)).loglik(-1000.0 + 4000.0 * u)
    np.testing.assert_allclose(scaled, gaussian(0.4, 0.2).loglik(u), rtol=1e-13)


@pytest.mark.parametrize("shift", [-300.0, -30.0, -3.0, 0.0, 3.0, 30.0, 300.0])
@pytest.mark.parametrize("width", [1e-3, 0.1, 10.0])
def test_the_mass_between_bounds_far_outside_is_that_of_the_tails(shift, width):
    mass = float(log_normal_mass(jnp.asarray(shift), jnp.asarray(shift + width)))
    if shift < 0 < shift + width:
        expected = np.log(np.diff(scipy.special.ndtr([shift, shift + width]))[0])
    else:
        distances = np.sort(np.abs([shift, shift + width]))
        near, far = scipy.special.log_ndtr(-distances)
        expected = near + np.log(-np.expm1(far - near))
    assert mass == pytest.approx(expected, rel=1e-9)


def student(eta, sigma, nu):
    theta = {"sigma": sigma, "nu": nu}
    return Case("student", continuous(), eta, theta, Cut(scipy.stats.t(nu, eta, sigma)))


class TestStudent(NumberChecks, EdgeChecks):
    CASES = (
        *[student(*c) for c in [(0.4, 0.1, 2.1), (0.5, 0.01, 4.0), (0.3, 3.0, 30.0)]],
        *[student(*c) for c in [(-2.0, 0.2, 6.0), (0.5, 0.1, 1000.0), (1.5, 0.1, 3.0)]],
    )
    PAIRS = (("student", "continuous"),)


def test_a_heavy_tail_beyond_the_bounds():
    # At ν = 2 the distribution function is t / √(2 + t²), up to a half.
    def exact(t):
        return t / np.sqrt(2 + t**2)

    for low, high in [(-5.0, 5.0), (10.0, 20.0), (-200.0, -100.0), (-1e4, 1e4)]:
        mass = float(log_student_mass(jnp.asarray(low), jnp.asarray(high), jnp.asarray(2.0)))
        expected = np.log(np.sqrt(2) * (exact(high) - exact(low)))
        assert mass == pytest.approx(expected, rel=1e-8, abs=1e-8)


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
