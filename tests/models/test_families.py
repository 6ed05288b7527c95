"""Each family is the density of what it simulates, normalised over the declared domain."""

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.special
import scipy.stats

from understudy._jax import jax, jnp
from understudy.domain.schema import Column, Role, Schema, Type
from understudy.errors import BadInput
from understudy.models.families import FAMILIES
from understudy.models.families.gamma import log_gamma_mass
from understudy.models.families.gaussian import log_normal_mass
from understudy.models.families.student import log_student_mass
from understudy.models.formula import formula


def continuous(lower=0.0, upper=1.0):
    return Column("y", Role.CONFIDENTIAL, Type.CONTINUOUS, (lower, upper))


def count(largest, lower=0):
    return Column("y", Role.CONFIDENTIAL, Type.COUNT, (float(lower), float(lower + largest)))


def levelled(number):
    levels = tuple("abcdefgh"[:number])
    return Column("y", Role.CONFIDENTIAL, Type.CATEGORICAL, levels=levels)


BINARY = Column("y", Role.CONFIDENTIAL, Type.BINARY, levels=("no", "yes"))


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
    def built(self):
        return FAMILIES[self.family](self.column)

    @property
    def jax_theta(self):
        return {name: jnp.asarray(value) for name, value in self.theta.items()}

    def predictor(self, rows):
        eta = np.asarray(self.eta, dtype=float)
        return jnp.asarray(np.broadcast_to(eta, (rows, *eta.shape)))

    def loglik(self, values):
        data = self.built.prepare(np.asarray(values))
        return np.asarray(self.built.loglik(self.predictor(len(values)), self.jax_theta, data))

    def simulate(self, rows, seed=0):
        return self.built.simulate(jax.random.key(seed), self.predictor(rows), self.jax_theta)


class Cut:
    """A SciPy distribution, given that it lies in [0, 1]; the tail further off gives the mass."""

    def __init__(self, whole):
        self.whole = whole
        right = whole.cdf(0.0) > 0.5
        self.mass = whole.sf(0.0) - whole.sf(1.0) if right else whole.cdf(1.0) - whole.cdf(0.0)

    def logpdf(self, u):
        return self.whole.logpdf(u) - np.log(self.mass)

    def cdf(self, u):
        if self.whole.cdf(0.0) > 0.5:
            return (self.whole.sf(0.0) - self.whole.sf(u)) / self.mass
        return (self.whole.cdf(u) - self.whole.cdf(0.0)) / self.mass


class CutCount:
    """A SciPy distribution of counts, given that it is at most so large."""

    def __init__(self, whole, largest):
        self.whole, self.largest = whole, largest

    def logpmf(self, k):
        return self.whole.logpmf(k) - self.whole.logcdf(self.largest)


def gaussian(eta, sigma, column=None):
    return Case(
        "gaussian",
        column or continuous(),
        eta,
        {"sigma": sigma},
        scipy.stats.truncnorm(-eta / sigma, (1 - eta) / sigma, eta, sigma),
    )


def student(eta, sigma, nu):
    theta = {"sigma": sigma, "nu": nu}
    return Case("student", continuous(), eta, theta, Cut(scipy.stats.t(nu, eta, sigma)))


def lognormal(eta, sigma):
    whole = scipy.stats.lognorm(sigma, scale=np.exp(eta))
    return Case("lognormal", continuous(), eta, {"sigma": sigma}, Cut(whole))


def gamma(eta, shape):
    whole = scipy.stats.gamma(shape, scale=np.exp(eta) / shape)
    return Case("gamma", continuous(), eta, {"shape": shape}, Cut(whole))


def beta(eta, precision):
    mean = scipy.special.expit(eta)
    whole = scipy.stats.beta(precision * mean, precision * (1 - mean))
    return Case("beta", continuous(), eta, {"lambda": precision}, whole)


def poisson(eta, largest):
    whole = scipy.stats.poisson(largest * np.exp(eta))
    return Case("poisson", count(largest), eta, {}, CutCount(whole, largest))


def negative_binomial(eta, largest, shape):
    mean = largest * np.exp(eta)
    whole = scipy.stats.nbinom(shape, shape / (shape + mean))
    return Case(
        "negative-binomial", count(largest), eta, {"shape": shape}, CutCount(whole, largest)
    )


CUT = [
    *[gaussian(*c) for c in [(0.4, 0.2), (0.5, 5.0), (-3.0, 0.2), (4.0, 0.3), (0.2, 0.01)]],
    *[student(*c) for c in [(0.4, 0.1, 2.1), (0.5, 0.01, 4.0), (0.3, 3.0, 30.0), (-2.0, 0.2, 6.0)]],
    *[student(*c) for c in [(0.5, 0.1, 1000.0), (1.5, 0.1, 3.0)]],
    *[lognormal(*c) for c in [(-2.0, 1.0), (-6.0, 0.5), (2.0, 1.5), (-1.0, 0.05)]],
    *[gamma(*c) for c in [(-2.0, 0.5), (-2.0, 5.0), (0.0, 1.0), (2.0, 3.0), (-6.0, 0.05)]],
    *[gamma(*c) for c in [(-1.0, 100.0), (-0.05, 1000.0)]],
]
SMOOTH = [*CUT, *[beta(*c) for c in [(-1.0, 0.5), (-1.0, 5.0), (2.0, 200.0)]]]
INFLATED = [
    Case("zero-inflated-beta", continuous(), -1.0, {"lambda": 5.0, "at_lower": 0.2}),
    Case(
        "zero-one-inflated-beta",
        continuous(),
        0.5,
        {"lambda": 3.0, "at_bounds": 0.3, "upper_share": 0.25},
    ),
]
COUNTS = [
    *[poisson(eta, largest) for largest in (1, 5, 64, 65, 400) for eta in (-4.0, -1.0, 0.0, 0.5)],
    *[
        negative_binomial(eta, largest, shape)
        for largest in (1, 20, 65, 400)
        for eta in (-3.0, 0.0, 1.0)
        for shape in (0.05, 1.0, 30.0, 3000.0)
    ],
]
LEVELS = [
    Case("bernoulli", BINARY, 0.7, {}),
    Case("categorical", levelled(4), [0.5, -1.0, 2.0], {}),
    Case("categorical", BINARY, [-0.4], {}),
    Case("ordinal", levelled(4), 0.8, {"shares": [0.1, 0.2, 0.3, 0.4]}),
    Case("ordinal", BINARY, -0.8, {"shares": [0.3, 0.7]}),
]


def named(cases):
    return [pytest.param(case, id=str(case)) for case in cases]


def double_exponential_rule():
    """Nodes and weights on [0, 1] that do not mind an infinite density at its ends."""
    # Down to the smallest number above 0, but only to the largest below 1.
    s = np.linspace(-6.1, 3.6, 6001)
    inner = np.pi / 2 * np.sinh(s)
    u = scipy.special.expit(2 * inner)
    slope = 2 * u * scipy.special.expit(-2 * inner) * np.pi / 2 * np.cosh(s)
    inside = (u > 0) & (u < 1)
    return u[inside], (slope * (s[1] - s[0]))[inside]


class TestDensities:
    @pytest.mark.parametrize("case", named(SMOOTH))
    def test_a_density_integrates_to_one_over_the_declared_domain(self, case):
        u, weights = double_exponential_rule()
        assert weights @ np.exp(case.loglik(u)) == pytest.approx(1.0, abs=2e-6)

    @pytest.mark.parametrize("case", named(INFLATED))
    def test_shares_at_the_bounds_and_the_density_between_them_add_up_to_one(self, case):
        u, weights = double_exponential_rule()
        at_lower, at_upper = np.exp(case.loglik([0.0, 1.0]))
        expected = case.theta.get("at_lower", case.theta.get("at_bounds"))
        both = at_lower + (at_upper if "at_bounds" in case.theta else 0.0)
        assert both == pytest.approx(expected)
        assert weights @ np.exp(case.loglik(u)) == pytest.approx(1 - expected, abs=1e-6)

    @pytest.mark.parametrize("case", named(COUNTS))
    def test_the_probabilities_of_counts_add_up_to_one(self, case):
        values = np.arange(case.column.width + 1)
        assert np.exp(case.loglik(values)).sum() == pytest.approx(1.0, abs=1e-9)

    @pytest.mark.parametrize("case", named(LEVELS))
    def test_the_probabilities_of_levels_add_up_to_one(self, case):
        values = np.arange(len(case.column.levels))
        assert np.exp(case.loglik(values)).sum() == pytest.approx(1.0, abs=1e-14)

    @pytest.mark.parametrize("case", named(SMOOTH))
    def test_scipy_has_the_same_densities(self, case):
        u = np.array([1e-9, 0.01, 0.2, 0.5, 0.9, 0.999, 1 - 1e-9])
        np.testing.assert_allclose(case.loglik(u), case.scipy.logpdf(u), rtol=1e-9, atol=1e-9)

    @pytest.mark.parametrize("case", named(COUNTS))
    def test_scipy_has_the_same_probabilities(self, case):
        largest = case.column.width
        k = np.unique(np.clip([0, 1, 2, largest // 2, largest - 1, largest], 0, largest))
        np.testing.assert_allclose(case.loglik(k), case.scipy.logpmf(k), rtol=1e-9, atol=1e-9)

    def test_inflated_families_are_beta_between_the_bounds(self):
        u = np.array([1e-9, 0.2, 0.9])
        for case, eta, precision, share in (
            (INFLATED[0], -1.0, 5.0, 0.2),
            (INFLATED[1], 0.5, 3.0, 0.3),
        ):
            expected = np.log(1 - share) + beta(eta, precision).scipy.logpdf(u)
            np.testing.assert_allclose(case.loglik(u), expected, rtol=1e-10)

    def test_levels_have_the_probabilities_of_their_links(self):
        logits = np.array([0.0, 0.5, -1.0, 2.0])
        np.testing.assert_allclose(
            LEVELS[1].loglik(np.arange(4)), scipy.special.log_softmax(logits), rtol=1e-12
        )
        np.testing.assert_allclose(
            np.exp(LEVELS[0].loglik(np.arange(2))), scipy.special.expit([-0.7, 0.7]), rtol=1e-12
        )
        cumulative = scipy.special.expit(scipy.special.logit([0.1, 0.3, 0.6]) - 0.8)
        np.testing.assert_allclose(
            np.exp(LEVELS[3].loglik(np.arange(4))), np.diff([0, *cumulative, 1]), rtol=1e-12
        )

    def test_units_do_not_matter(self):
        u = np.array([0.0, 0.25, 1.0])
        scaled = gaussian(0.4, 0.2, continuous(-1000.0, 3000.0)).loglik(-1000.0 + 4000.0 * u)
        np.testing.assert_allclose(scaled, gaussian(0.4, 0.2).loglik(u), rtol=1e-13)
        shifted = Case("poisson", count(9, lower=3), -1.0, {}).loglik(np.arange(10) + 3)
        np.testing.assert_allclose(shifted, poisson(-1.0, 9).loglik(np.arange(10)), rtol=1e-13)


class TestMasses:
    """Normalising constants where the centre lies far outside, or the scale is extreme."""

    @pytest.mark.parametrize("shift", [-300.0, -30.0, -3.0, 0.0, 3.0, 30.0, 300.0])
    @pytest.mark.parametrize("width", [1e-3, 0.1, 10.0])
    def test_normal_tails(self, shift, width):
        ours = float(log_normal_mass(jnp.asarray(shift), jnp.asarray(shift + width)))
        if shift < 0 < shift + width:
            expected = np.log(np.diff(scipy.special.ndtr([shift, shift + width]))[0])
        else:
            distances = np.sort(np.abs([shift, shift + width]))
            near, far = scipy.special.log_ndtr(-distances)
            expected = near + np.log(-np.expm1(far - near))
        assert ours == pytest.approx(expected, rel=1e-9)

    @pytest.mark.parametrize("rate", [1e-12, 0.3, 40.0, 1e6])
    @pytest.mark.parametrize("shape", [1e-3, 0.4, 3.0, 500.0])
    def test_incomplete_gamma_functions(self, shape, rate):
        ours = float(log_gamma_mass(jnp.asarray(shape), jnp.asarray(rate)))
        if rate < shape:
            # The series of positive terms that converges fast there.
            terms = np.cumsum(np.log(rate) - np.log(shape + np.arange(1, 400)))
            series = np.log(np.sum(np.exp([0.0, *terms])))
            expected = -rate - np.log(shape) + series
        else:
            expected = np.log(scipy.special.gammainc(shape, rate))
            expected += scipy.special.gammaln(shape) - shape * np.log(rate)
        assert ours == pytest.approx(expected, rel=1e-9, abs=1e-9)

    def test_a_heavy_tail_beyond_the_bounds(self):
        # At ν = 2 the distribution function is t / √(2 + t²), up to a half.
        def exact(t):
            return t / np.sqrt(2 + t**2)

        for low, high in [(-5.0, 5.0), (10.0, 20.0), (-200.0, -100.0), (-1e4, 1e4)]:
            ours = float(log_student_mass(jnp.asarray(low), jnp.asarray(high), jnp.asarray(2.0)))
            expected = np.log(np.sqrt(2) * (exact(high) - exact(low)))
            assert ours == pytest.approx(expected, rel=1e-8, abs=1e-8)


class TestSimulation:
    ROWS = 3000
    # Each of these false-alarms once in a thousand seeds, and the seeds are fixed.
    LEVEL = 0.001

    @pytest.mark.parametrize("case", named(SMOOTH))
    def test_simulated_values_follow_the_density(self, case):
        values = case.simulate(self.ROWS)
        assert scipy.stats.kstest(values, case.scipy.cdf).pvalue > self.LEVEL

    @pytest.mark.parametrize("case", named([*COUNTS[::5], *LEVELS]))
    def test_simulated_counts_and_levels_follow_their_probabilities(self, case):
        domain = case.column.levels or range(int(case.column.width) + 1)
        expected = self.ROWS * np.exp(case.loglik(np.arange(len(domain))))
        seen = np.bincount(case.simulate(self.ROWS).astype(int), minlength=len(domain))
        usual = expected >= 5
        expected = np.append(expected[usual], expected[~usual].sum() + 1e-9)
        seen = np.append(seen[usual], seen[~usual].sum())
        statistic = np.sum((seen - expected) ** 2 / expected)
        assert scipy.stats.chi2.sf(statistic, len(expected) - 1) > self.LEVEL

    @pytest.mark.parametrize("case", named(INFLATED))
    def test_simulated_shares_at_the_bounds(self, case):
        values = case.simulate(self.ROWS)
        at_lower, at_upper = np.exp(case.loglik([0.0, 1.0]))
        expected = [at_lower, at_upper if "at_bounds" in case.theta else 0.0]
        shares = [np.mean(values == 0.0), np.mean(values == 1.0)]
        np.testing.assert_allclose(shares, expected, atol=4 * np.sqrt(0.25 / self.ROWS))

    @pytest.mark.parametrize("name", FAMILIES)
    def test_simulated_values_lie_within_the_declared_domain(self, name):
        column = next(c.column for c in [*SMOOTH, *INFLATED, *COUNTS, *LEVELS] if c.family == name)
        if column.type is Type.CONTINUOUS:
            column = continuous(-0.1, 0.7)
        family = FAMILIES[name](column)
        for extreme in (0.02, 1.0, 50.0):
            theta = {e.name: jnp.asarray(_inside(e, extreme)) for e in family.extras}
            for eta in (-40.0, -0.5, 0.5, 40.0):
                linear = jnp.full((50, *family.predictors), eta)
                values = family.simulate(jax.random.key(1), linear, theta)
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
ACCEPTED = {
    "gaussian": ["continuous"],
    "student": ["continuous"],
    "lognormal": ["continuous"],
    "gamma": ["continuous"],
    "beta": ["continuous"],
    "zero-inflated-beta": ["continuous"],
    "zero-one-inflated-beta": ["continuous"],
    "poisson": ["count", "wide count", "integer"],
    "negative-binomial": ["count", "wide count", "integer"],
    "bernoulli": ["binary"],
    "categorical": ["categorical", "binary"],
    "ordinal": ["categorical", "binary"],
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


def edge_table(outcome):
    return {
        "y": np.array(EDGES[outcome], dtype=float if outcome in EDGES_OF_NUMBERS else int),
        "x": np.array([-2.0, 3.0, 0.5, -2.0, 3.0, 0.2]),
        "g": np.arange(6) % 3,
    }


EDGES_OF_NUMBERS = ("continuous", "count", "wide count", "integer")
PAIRS = [(name, outcome) for name, outcomes in ACCEPTED.items() for outcome in outcomes]


@pytest.mark.parametrize(("name", "outcome"), PAIRS)
class TestEdges:
    def test_gradients_are_finite_at_the_edges_of_the_domain(self, name, outcome):
        model = formula("y ~ x + (1 | g)", family=name, schema=schema_of(outcome))
        data = model.prepare(edge_table(outcome))

        def loglik(z):
            return model.record_loglik(model.constrain(z), data)

        values_at, slopes_at = jax.jit(loglik), jax.jit(jax.jacrev(loglik))
        for seed, scale in enumerate([0.0, 1.0, 1.0, 3.0, 10.0, 30.0, 100.0]):
            z = jnp.asarray(scale * np.random.default_rng(seed).normal(size=model.dimension))
            assert not np.isnan(values_at(z)).any()
            assert np.isfinite(slopes_at(z)).all()
            if scale <= 30:
                assert np.isfinite(jax.grad(model.log_prior_unconstrained)(z)).all()

    def test_a_record_s_log_likelihood_does_not_depend_on_other_records(self, name, outcome):
        model = formula("y ~ x + (1 | g)", family=name, schema=schema_of(outcome))
        columns = edge_table(outcome)
        theta = model.constrain(model.starting_points(jax.random.key(3), 1)[0])
        whole = model.record_loglik(theta, model.prepare(columns))
        for k in range(6):
            alone = {key: values[k : k + 1] for key, values in columns.items()}
            record = model.record_loglik(theta, model.prepare(alone))
            np.testing.assert_allclose(record[0], whole[k], rtol=1e-10)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_column_of_another_type_is_refused(name):
    for outcome in OUTCOMES:
        if outcome not in ACCEPTED[name]:
            with pytest.raises(BadInput, match=f"the family {name} needs a"):
                formula("y ~ x", family=name, schema=schema_of(outcome))
    assert set(ACCEPTED) == set(FAMILIES)


def test_a_lognormal_density_is_zero_at_the_lower_bound():
    values = lognormal(-2.0, 1.0).loglik([0.0, 1e-300])
    assert values[0] == -np.inf
    assert values[1] < -1e4


@pytest.mark.parametrize(("shape", "limit"), [(0.5, np.inf), (2.0, -np.inf)])
def test_a_gamma_density_at_the_lower_bound_is_its_limit(shape, limit):
    assert gamma(-1.0, shape).loglik([0.0])[0] == limit
    assert np.isfinite(gamma(-1.0, 1.0).loglik([0.0])[0])
