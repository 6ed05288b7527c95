import numpy as np
import pytest
import scipy.special
import scipy.stats

from family_checks import Case, EdgeChecks, NumberChecks, continuous
from understudy._jax import jnp
from understudy.models.families.gaussian import log_normal_mass


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
