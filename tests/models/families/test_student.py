import numpy as np
import pytest
import scipy.stats

from family_checks import Case, Cut, EdgeChecks, NumberChecks, continuous
from understudy._jax import jnp
from understudy.models.families.student import log_student_mass


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
