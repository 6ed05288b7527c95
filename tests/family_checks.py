"""What every family of formulas must do: be the density of what it simulates, over its domain.

A test file makes a class of its own from these, with the cases or the outcomes of its family. Cases
of a family and of one column share what is compiled for it.
"""

import functools
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.special
import scipy.stats

from understudy._jax import jax, jnp
from understudy.domain.schema import Column, Role, Schema, Type
from understudy.errors import BadInput
from understudy.models.families import FAMILIES
from understudy.models.formula import formula

ROWS = 3000
SHARES = (np.random.default_rng(3).permutation(ROWS) + 0.5) / ROWS
LEVEL = 0.001
"""Each of the tests by chance false-alarms once in a thousand seeds, and the seeds are fixed."""
FAR = np.array([1e-9, 0.01, 0.2, 0.5, 0.9, 0.999, 1 - 1e-9])


def continuous(lower=0.0, upper=1.0):
    return Column("y", Role.CONFIDENTIAL, Type.CONTINUOUS, (lower, upper))


def count(largest, lower=0):
    return Column("y", Role.CONFIDENTIAL, Type.COUNT, (float(lower), float(lower + largest)))


def levelled(number):
    levels = tuple("abcdefgh"[:number])
    return Column("y", Role.CONFIDENTIAL, Type.CATEGORICAL, levels=levels)


BINARY = Column("y", Role.CONFIDENTIAL, Type.BINARY, levels=("no", "yes"))


@functools.cache
def built(name, column):
    """Return a family, with its log-likelihood compiled once for all cases."""
    family = FAMILIES[name](column)
    return family, jax.jit(family.loglik)


@dataclass(frozen=True, eq=False)
class Case:
    """A family at one θ and η, with the distribution that SciPy has for it."""

    family: str
    column: Column
    eta: object
    theta: dict
    scipy: object = None

    def __str__(self):
        numbers = "-".join(f"{np.ravel(value)[0]:g}" for value in self.theta.values())
        width = f"-{self.column.width:g}" if self.column.numeric else ""
        return f"{self.family}{width}-{np.ravel(self.eta)[0]:g}-{numbers}"

    @property
    def jax_theta(self):
        return {name: jnp.asarray(value) for name, value in self.theta.items()}

    def predictor(self, rows):
        eta = np.asarray(self.eta, dtype=float)
        return jnp.asarray(np.broadcast_to(eta, (rows, *eta.shape)))

    def loglik(self, values):
        family, loglik = built(self.family, self.column)
        data = family.prepare(np.asarray(values))
        return np.asarray(loglik(self.predictor(len(values)), self.jax_theta, data))

    def simulate(self, rows=ROWS, seed=0):
        family, _ = built(self.family, self.column)
        return family.simulate(jax.random.key(seed), self.predictor(rows), self.jax_theta)

    def quantiles(self):
        """Return the outcome at each of `SHARES`."""
        family, _ = built(self.family, self.column)
        return family.quantile(SHARES, self.predictor(ROWS), self.jax_theta)

    @functools.cached_property
    def between(self):
        """Log densities at the nodes of a rule on [0, 1], and then at points up to its ends."""
        return np.split(self.loglik(np.concatenate([RULE[0], FAR])), [len(RULE[0])])

    @functools.cached_property
    def everywhere(self):
        """Log probabilities of all values of a column that has few."""
        return self.loglik(np.arange(len(self.column.levels or range(int(self.column.width) + 1))))


class Cut:
    """A SciPy distribution, given that it lies in [0, 1]; the tail further off gives the mass."""

    def __init__(self, uncut):
        self.uncut = uncut
        right = uncut.cdf(0.0) > 0.5
        self.mass = uncut.sf(0.0) - uncut.sf(1.0) if right else uncut.cdf(1.0) - uncut.cdf(0.0)

    def logpdf(self, u):
        return self.uncut.logpdf(u) - np.log(self.mass)

    def cdf(self, u):
        if self.uncut.cdf(0.0) > 0.5:
            return (self.uncut.sf(0.0) - self.uncut.sf(u)) / self.mass
        return (self.uncut.cdf(u) - self.uncut.cdf(0.0)) / self.mass


class CutCount:
    """A SciPy distribution of counts, given that it is at most so large."""

    def __init__(self, uncut, largest):
        self.uncut, self.largest = uncut, largest

    def logpmf(self, k):
        return self.uncut.logpmf(k) - self.uncut.logcdf(self.largest)


def double_exponential_rule():
    """Nodes and weights on [0, 1] that do not mind an infinite density at its ends."""
    # Down to the smallest number above 0, but only to the largest below 1.
    s = np.linspace(-6.1, 3.6, 6001)
    inner = np.pi / 2 * np.sinh(s)
    u = scipy.special.expit(2 * inner)
    slope = 2 * u * scipy.special.expit(-2 * inner) * np.pi / 2 * np.cosh(s)
    inside = (u > 0) & (u < 1)
    return u[inside], (slope * (s[1] - s[0]))[inside]


RULE = double_exponential_rule()


class Checks:
    """Runs every test that takes a case on each of the class's."""

    CASES = ()
    SIMULATED = None
    """Cases of which tables are simulated, where not all of them are."""
    SLOW_WIDTHS = ()
    """Widths of a column whose cases are left to the slow tests: each is compiled for itself."""
    PAIRS = ()
    SLOW = ()
    """Pairs that take long to compile."""

    def pytest_generate_tests(self, metafunc):
        cases = self.CASES if self.SIMULATED is None else self.SIMULATED
        for name, given in (("case", self.CASES), ("simulated", cases)):
            if name in metafunc.fixturenames:
                metafunc.parametrize(name, [self._asked(case) for case in given])
        if "outcome" in metafunc.fixturenames:
            slow = [pytest.param(*pair, marks=pytest.mark.slow) for pair in self.SLOW]
            metafunc.parametrize(("name", "outcome"), [*self.PAIRS, *slow])

    def _asked(self, case):
        slow = case.column.numeric and case.column.width in self.SLOW_WIDTHS
        return pytest.param(case, id=str(case), marks=pytest.mark.slow if slow else ())


class NumberChecks(Checks):
    def test_the_density_integrates_to_one_over_the_declared_domain(self, case):
        assert RULE[1] @ np.exp(case.between[0]) == pytest.approx(1.0, abs=2e-6)

    def test_scipy_has_the_same_density(self, case):
        np.testing.assert_allclose(case.between[1], case.scipy.logpdf(FAR), rtol=1e-9, atol=1e-9)

    def test_simulated_values_follow_the_density(self, simulated):
        values = simulated.simulate()
        assert scipy.stats.kstest(values, simulated.scipy.cdf).pvalue > LEVEL

    def test_quantiles_have_their_share_of_the_mass_below_them(self, simulated):
        below = simulated.scipy.cdf(simulated.quantiles())
        np.testing.assert_allclose(below, SHARES, atol=1e-8)


class ValueChecks(Checks):
    """Of counts and levels, whose values can be gone through."""

    def test_the_probabilities_add_up_to_one(self, case):
        precision = 1e-9 if case.column.numeric else 1e-14
        assert np.exp(case.everywhere).sum() == pytest.approx(1.0, abs=precision)

    def test_simulated_values_follow_their_probabilities(self, simulated):
        expected = ROWS * np.exp(simulated.everywhere)
        times = np.bincount(simulated.simulate().astype(int), minlength=len(expected))
        usual = expected >= 5
        expected = np.append(expected[usual], expected[~usual].sum() + 1e-9)
        times = np.append(times[usual], times[~usual].sum())
        statistic = np.sum((times - expected) ** 2 / expected)
        assert scipy.stats.chi2.sf(statistic, len(expected) - 1) > LEVEL

    def test_quantiles_have_their_share_of_the_probability_up_to_them(self, simulated):
        up_to = np.cumsum(np.exp(simulated.everywhere))
        clear = np.abs(SHARES[:, None] - up_to).min(axis=1) > 1e-8
        expected = np.searchsorted(up_to, SHARES[clear])
        np.testing.assert_array_equal(simulated.quantiles()[clear], expected)


class CountChecks(ValueChecks):
    def test_scipy_has_the_same_probabilities(self, case):
        largest = int(case.column.width)
        k = np.unique(np.clip([0, 1, 2, largest // 2, largest - 1, largest], 0, largest))
        np.testing.assert_allclose(case.everywhere[k], case.scipy.logpmf(k), rtol=1e-9, atol=1e-9)


COLUMNS = {
    "x": {"role": "public", "type": "continuous", "bounds": [-2, 3]},
    "g": {"role": "public", "type": "categorical", "levels": ["a", "b", "c"]},
}
OUTCOMES = {
    "continuous": {"role": "confidential", "type": "continuous", "bounds": [-10, 500]},
    "count": {"role": "confidential", "type": "count", "bounds": [2, 40]},
    "wide count": {"role": "confidential", "type": "count", "bounds": [0, 5000]},
    "integer": {"role": "confidential", "type": "integer", "bounds": [-5, 5]},
    "binary": {"role": "confidential", "type": "binary"},
    "categorical": {"role": "confidential", "type": "categorical", "levels": ["p", "q", "r", "s"]},
}
EDGES = {
    "continuous": [-10, 500, -10 + 1e-12, 500 - 1e-9, 100, 250],
    "count": [2, 3, 40, 39, 20, 7],
    "wide count": [0, 1, 5000, 4999, 64, 65],
    "integer": [-5, -4, 5, 4, 0, 1],
    "binary": [0, 1, 0, 1, 0, 1],
    "categorical": [0, 1, 2, 3, 0, 3],
}


def schema_of(outcome):
    return Schema.from_dict({"columns": {"y": OUTCOMES[outcome], **COLUMNS}})


@functools.cache
def regression(name, outcome):
    """Return a model with groups, its compiled log-likelihood as a function of z, and its table."""
    model = formula("y ~ x + (1 | g)", family=name, schema=schema_of(outcome))
    table = {
        "y": np.array(EDGES[outcome], dtype=int if outcome in ("binary", "categorical") else float),
        "x": np.array([-2.0, 3.0, 0.5, -2.0, 3.0, 0.2]),
        "g": np.arange(6) % 3,
    }
    return model, jax.jit(lambda z, data: model.record_loglik(model.constrain(z), data)), table


class EdgeChecks(Checks):
    """Of a regression by each family and type of outcome in `PAIRS`."""

    def test_gradients_are_finite_at_the_edges_of_the_domain(self, name, outcome):
        model, loglik, table = regression(name, outcome)
        data = model.prepare(table)
        slopes = jax.jit(jax.jacrev(lambda z: model.record_loglik(model.constrain(z), data)))
        prior_slope = jax.jit(jax.grad(model.log_prior_unconstrained))
        for seed, scale in enumerate([0.0, 1.0, 1.0, 3.0, 10.0, 30.0, 100.0]):
            z = jnp.asarray(scale * np.random.default_rng(seed).normal(size=model.dimension))
            assert not np.isnan(loglik(z, data)).any()
            assert np.isfinite(slopes(z)).all()
            if scale <= 30:
                assert np.isfinite(prior_slope(z)).all()

    def test_a_record_s_log_likelihood_does_not_depend_on_other_records(self, name, outcome):
        model, loglik, table = regression(name, outcome)
        z = model.starting_points(jax.random.key(3), 1)[0]
        together = loglik(z, model.prepare(table))
        for k in range(6):
            alone = {key: values[k : k + 1] for key, values in table.items()}
            np.testing.assert_allclose(loglik(z, model.prepare(alone))[0], together[k], rtol=1e-10)

    def test_a_column_of_another_type_is_refused(self):
        accepted = {}
        for name, outcome in (*self.PAIRS, *self.SLOW):
            accepted.setdefault(name, []).append(outcome)
        for name, outcomes in accepted.items():
            for outcome in OUTCOMES:
                if outcome not in outcomes:
                    with pytest.raises(BadInput, match=f"the family {name} needs a"):
                        formula("y ~ x", family=name, schema=schema_of(outcome))

    def test_simulated_values_lie_within_the_declared_domain(self):
        for name, outcome in dict(self.PAIRS).items():
            column = schema_of(outcome).column("y")
            if column.type is Type.CONTINUOUS:
                column = continuous(-0.1, 0.7)
            family = FAMILIES[name](column)
            for extreme in (0.02, 1.0, 50.0):
                theta = {e.name: jnp.asarray(_inside(e, extreme)) for e in family.extras}
                for eta in (-40.0, -0.5, 0.5, 40.0):
                    linear = jnp.full((50, *family.predictors), eta)
                    drawn = family.simulate(jax.random.key(1), linear, theta)
                    spread = family.quantile(np.linspace(0.0, 1 - 2**-53, 50), linear, theta)
                    values = np.concatenate([drawn, spread])
                    if column.numeric:
                        assert ((values >= column.lower) & (values <= column.upper)).all()
                    else:
                        assert np.isin(values, np.arange(len(column.levels))).all()


def _inside(extra, value):
    """Return a value of that size, as the parameter's support allows it."""
    if extra.shape:
        shares = value ** np.arange(extra.shape[0])
        return shares / shares.sum()
    if str(extra.prior.kind) == "between 0 and 1":
        return value / (1 + value)
    return max(value, extra.prior.start + 0.01)
