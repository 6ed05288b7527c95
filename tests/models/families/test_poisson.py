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
