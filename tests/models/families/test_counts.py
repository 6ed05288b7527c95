import numpy as np
import scipy.stats

from family_checks import Case, CountChecks, CutCount, EdgeChecks, count


def poisson(eta, largest):
    uncut = scipy.stats.poisson(largest * np.exp(eta))
    return Case("poisson", count(largest), eta, {}, CutCount(uncut, largest))


class TestPoisson(CountChecks, EdgeChecks):
    CASES = tuple(
        poisson(eta, width) for width in (1, 5, 64, 65, 400) for eta in (-4.0, -1.0, 0.0, 0.5)
    )
    SIMULATED = CASES[::5]
    SLOW_WIDTHS = (1, 400)
    PAIRS = tuple(("poisson", outcome) for outcome in ("count", "wide count", "integer"))


def test_counts_are_measured_from_the_lower_bound():
    shifted = Case("poisson", count(9, lower=3), -1.0, {}).loglik(np.arange(10) + 3)
    np.testing.assert_allclose(shifted, poisson(-1.0, 9).loglik(np.arange(10)), rtol=1e-13)


def negative_binomial(eta, largest, shape):
    mean = largest * np.exp(eta)
    uncut = CutCount(scipy.stats.nbinom(shape, shape / (shape + mean)), largest)
    return Case("negative-binomial", count(largest), eta, {"shape": shape}, uncut)


class TestNegativeBinomial(CountChecks, EdgeChecks):
    CASES = tuple(
        negative_binomial(eta, largest, shape)
        for largest in (1, 20, 65, 400)
        for eta in (-3.0, 0.0, 1.0)
        for shape in (0.05, 1.0, 30.0, 3000.0)
    )
    SIMULATED = CASES[::5]
    SLOW_WIDTHS = (1, 400)
    PAIRS = (("negative-binomial", "count"), ("negative-binomial", "integer"))
    SLOW = (("negative-binomial", "wide count"),)
