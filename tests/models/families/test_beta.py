import numpy as np
import pytest
import scipy.special
import scipy.stats

from family_checks import LEVEL, ROWS, RULE, SHARES, Case, EdgeChecks, NumberChecks, continuous


def beta(eta, precision):
    mean = scipy.special.expit(eta)
    same = scipy.stats.beta(precision * mean, precision * (1 - mean))
    return Case("beta", continuous(), eta, {"lambda": precision}, same)


INFLATED = [
    Case("zero-inflated-beta", continuous(), -1.0, {"lambda": 5.0, "at_lower": 0.2}),
    Case(
        "zero-one-inflated-beta",
        continuous(),
        0.5,
        {"lambda": 3.0, "at_bounds": 0.3, "upper_share": 0.25},
    ),
]


class TestBeta(NumberChecks, EdgeChecks):
    CASES = tuple(beta(*c) for c in [(-1.0, 0.5), (-1.0, 5.0), (2.0, 200.0)])
    PAIRS = tuple(
        (name, "continuous") for name in ("beta", "zero-inflated-beta", "zero-one-inflated-beta")
    )


@pytest.mark.parametrize("case", INFLATED, ids=str)
class TestInflatedBeta:
    def test_shares_at_the_bounds_and_the_density_between_them_add_up_to_one(self, case):
        at_lower, at_upper = np.exp(case.loglik([0.0, 1.0]))
        expected = case.theta.get("at_lower", case.theta.get("at_bounds"))
        both = at_lower + (at_upper if "at_bounds" in case.theta else 0.0)
        assert both == pytest.approx(expected)
        assert RULE[1] @ np.exp(case.between[0]) == pytest.approx(1 - expected, abs=1e-6)

    def test_it_is_beta_between_the_bounds(self, case):
        u = np.array([1e-9, 0.2, 0.9])
        share = case.theta.get("at_lower", case.theta.get("at_bounds"))
        inside = beta(case.eta, case.theta["lambda"]).scipy
        np.testing.assert_allclose(case.loglik(u), np.log(1 - share) + inside.logpdf(u), rtol=1e-10)

    def test_simulated_shares_at_the_bounds(self, case):
        values = case.simulate()
        at_lower, at_upper = np.exp(case.loglik([0.0, 1.0]))
        expected = [at_lower, at_upper if "at_bounds" in case.theta else 0.0]
        shares = [np.mean(values == 0.0), np.mean(values == 1.0)]
        np.testing.assert_allclose(shares, expected, atol=4 * np.sqrt(0.25 / ROWS))
        between = values[(values > 0) & (values < 1)]
        inside = beta(case.eta, case.theta["lambda"]).scipy
        assert scipy.stats.kstest(between, inside.cdf).pvalue > LEVEL

    def test_quantiles_leave_out_no_share(self, case):
        """At even shares, values are at the bounds and between them as often as is due."""
        values = case.quantiles()
        at_lower, at_upper = np.exp(case.loglik([0.0, 1.0]))
        expected = [at_lower, at_upper if "at_bounds" in case.theta else 0.0]
        shares = [np.mean(values == 0.0), np.mean(values == 1.0)]
        np.testing.assert_allclose(shares, expected, atol=1.5 / ROWS)
        assert (np.diff(values[np.argsort(SHARES)]) >= 0).all()
        between = values[(values > 0) & (values < 1)]
        inside = beta(case.eta, case.theta["lambda"]).scipy
        assert scipy.stats.kstest(between, inside.cdf).statistic < 2 / len(between)
