"""NumPyro functions: their densities by hand, discrete variables summed out, and threads."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest
import scipy.special
import scipy.stats

from numpyro_functions import REAL, SCHEMA, SIZE, raises, table_likelihood
from understudy._jax import jax, jnp
from understudy.adapters.numpyro import from_numpyro, log_sum
from understudy.domain.schema import Schema
from understudy.errors import BadInput
from understudy.models.beta import beta as shipped_beta
from understudy.score import Row, log_target

UNIT = Schema.from_dict(
    {"columns": {"x": {"role": "confidential", "type": "continuous", "bounds": [0, 1]}}}
)
MIXED = Schema.from_dict(
    {
        "columns": {
            "y": {"role": "confidential", "type": "continuous", "bounds": [-20, 20]},
            "k": {"role": "confidential", "type": "binary"},
            "group": {"role": "public", "type": "categorical", "levels": ["a", "b", "c"]},
            "w": {"role": "public", "type": "continuous", "bounds": [0, 10]},
        }
    }
)


def beta(x, n):
    """The shipped Beta model, written in NumPyro."""
    phi = numpyro.sample("phi", dist.Uniform(0, 1))
    precision = numpyro.sample("lambda", dist.Pareto(0.1, 1.5))
    with numpyro.plate("records", n):
        numpyro.sample("x", dist.Beta(precision * phi, precision * (1 - phi)), obs=x)


def mixed(y, k, group, w, n):
    """Two outcomes, a hierarchy over groups, and a plate that is not that of the records."""
    spread = numpyro.sample("spread", dist.HalfNormal(1.0))
    with numpyro.plate("groups", 3):
        level = numpyro.sample("level", dist.Normal(0.0, spread))
    slope = numpyro.sample("slope", dist.Normal(0.0, 1.0))
    with numpyro.plate("records", n):
        centre = level[group] + slope * (w - 5) / 5
        numpyro.sample("y", dist.Normal(centre, 1.0), obs=y)
        numpyro.sample("k", dist.Bernoulli(logits=centre), obs=k)


def mixed_table(rows=40, seed=0):
    generator = np.random.default_rng(seed)
    return {
        "y": generator.normal(size=rows),
        "k": generator.integers(2, size=rows),
        "group": generator.integers(3, size=rows),
        "w": generator.uniform(0, 10, rows),
    }


def test_a_numpyro_model_has_the_density_of_the_same_model_by_hand():
    ours, theirs = shipped_beta(UNIT), from_numpyro(beta, schema=UNIT)
    values = np.random.default_rng(1).beta(0.5, 3, 50)
    flat = {"x": values}
    row = Row(jnp.ones(50), jnp.zeros(50), jnp.asarray(2.5))
    differences, target = [], jax.jit(log_target, static_argnums=0)
    for seed in range(5):
        theta = ours.constrain(ours.starting_points(jax.random.key(seed), 1)[0])
        one = target(ours, ours.unconstrain(theta), ours.prepare(flat), row)
        other = target(theirs, theirs.unconstrain(theta), theirs.prepare(flat), row)
        differences.append(float(one - other))
    assert differences == pytest.approx([0.0] * 5, abs=1e-9)


@pytest.fixture(scope="module")
def model():
    return from_numpyro(mixed, schema=MIXED)


def slope_of(model, data, row):
    """Return a compiled function of z: the target's height and its gradient."""
    return jax.jit(jax.value_and_grad(lambda z: log_target(model, z, data, row)))


def test_observed_sites_add_up_to_one_record_log_likelihood(model):
    table = mixed_table()
    theta = model.constrain(model.starting_points(jax.random.key(2), 1)[0])
    centre = np.asarray(theta["level"])[table["group"]]
    centre = centre + float(theta["slope"]) * (table["w"] - 5) / 5
    expected = scipy.stats.norm.logpdf(table["y"], centre)
    expected += scipy.stats.bernoulli.logpmf(table["k"], 1 / (1 + np.exp(-centre)))
    ours = jax.jit(model.record_loglik)(theta, model.prepare(table))
    np.testing.assert_allclose(ours, expected, rtol=1e-9)


def test_the_prior_is_that_of_every_parameter(model):
    theta = model.constrain(model.starting_points(jax.random.key(2), 1)[0])
    spread = float(theta["spread"])
    expected = scipy.stats.halfnorm.logpdf(spread)
    expected += scipy.stats.norm.logpdf(np.asarray(theta["level"]), scale=spread).sum()
    expected += scipy.stats.norm.logpdf(float(theta["slope"]))
    assert float(model.log_prior(theta)) == pytest.approx(expected)


def test_simulation_gives_every_confidential_column(model):
    theta = model.constrain(jnp.zeros(model.dimension))
    public = {name: mixed_table(2000)[name] for name in ("group", "w")}
    simulated = model.simulate(jax.random.key(0), theta, public, 2000)
    assert set(simulated) == {"y", "k"}
    assert scipy.stats.kstest(simulated["y"], "norm").pvalue > 0.001
    assert set(np.unique(simulated["k"])) == {0, 1}


def test_infinite_log_likelihoods_keep_their_value_and_lose_their_gradient():
    model = from_numpyro(beta, schema=UNIT)
    data = model.prepare({"x": np.array([0.0, 1.0, 1e-300, 0.3])})
    row = Row(jnp.ones(4), jnp.zeros(4), jnp.asarray(2.5))
    target = slope_of(model, data, row)
    for z in ([-2.0, 1.0], [2.0, 1.0], [0.0, 3.0]):
        loglik = jax.jit(model.record_loglik)(model.constrain(jnp.asarray(z)), data)
        assert np.isinf(loglik[:2]).all()
        height, slope = target(jnp.asarray(z))
        assert np.isfinite(height)
        assert np.isfinite(slope).all()
        assert np.any(np.asarray(slope) != 0)


def marginalised(y, n):
    """A mixture over components that are summed out, with priors that do not tell them apart."""
    weights = numpyro.sample("weights", dist.Dirichlet(jnp.ones(2)))
    with numpyro.plate("components", 2):
        centres = numpyro.sample("centres", dist.Normal(0.0, 5.0))
    with numpyro.plate("records", n):
        mixture = dist.MixtureSameFamily(dist.Categorical(probs=weights), dist.Normal(centres, 1.0))
        numpyro.sample("y", mixture, obs=y)


def test_a_mixture_with_its_components_summed_out_is_a_model():
    model = from_numpyro(marginalised, schema=REAL)
    assert [p.name for p in model.parameters] == ["weights", "centres"]
    assert model.dimension == 3


def summed_out(y, n):
    """The same mixture with a variable for each record, and one that depends on it."""
    weights = numpyro.sample("weights", dist.Dirichlet(jnp.ones(2)))
    with numpyro.plate("components", 2):
        centres = numpyro.sample("centres", dist.Normal(0.0, 5.0))
    with numpyro.plate("records", n):
        component = numpyro.sample("component", dist.Categorical(weights))
        flipped = numpyro.sample("flipped", dist.Bernoulli(jnp.array([0.1, 0.4])[component]))
        numpyro.sample("y", dist.Normal(centres[component] * (1 - 2 * flipped), 1.0), obs=y)


def mixture_theta():
    return {"weights": jnp.array([0.3, 0.7]), "centres": jnp.array([-2.0, 4.0])}


@pytest.fixture(scope="module")
def mixture():
    return from_numpyro(summed_out, schema=REAL)


def test_discrete_variables_of_a_record_are_summed_out(mixture):
    model = mixture
    assert [p.name for p in model.parameters] == ["weights", "centres"]
    values = np.linspace(-8, 8, 41)
    shares = np.array([0.3 * 0.9, 0.3 * 0.1, 0.7 * 0.6, 0.7 * 0.4])
    parts = scipy.stats.norm.pdf(values[:, None], [-2, 2, 4, -4]) @ shares
    ours = jax.jit(model.record_loglik)(mixture_theta(), model.prepare({"y": values}))
    np.testing.assert_allclose(ours, np.log(parts), rtol=1e-9)
    prior = scipy.stats.norm.logpdf([-2, 4], scale=5).sum()
    assert float(model.log_prior(mixture_theta())) == pytest.approx(prior)


def test_discrete_variables_of_a_record_are_drawn_when_simulating(mixture):
    drawn = mixture.simulate(jax.random.key(0), mixture_theta(), {}, 20_000)["y"]

    def cumulative(values):
        shares = np.array([0.3 * 0.9, 0.3 * 0.1, 0.7 * 0.6, 0.7 * 0.4])
        return scipy.stats.norm.cdf(np.asarray(values)[:, None], [-2, 2, 4, -4]) @ shares

    assert scipy.stats.kstest(drawn, cumulative).pvalue > 0.001


def edged(x, n):
    """A mixture of two Beta densities, of which one or both may be infinite at the edge."""
    first = numpyro.sample("first", dist.Gamma(2.0, 2.0))
    second = numpyro.sample("second", dist.Gamma(2.0, 2.0))
    with numpyro.plate("records", n):
        which = numpyro.sample("which", dist.Bernoulli(0.5))
        numpyro.sample("x", dist.Beta(jnp.where(which, first, second), 2.0), obs=x)


def test_a_sum_with_infinite_terms_keeps_a_finite_gradient():
    model = from_numpyro(edged, schema=UNIT)
    data = model.prepare({"x": np.array([0.0, 1.0, 0.4])})
    row = Row(jnp.ones(3), jnp.zeros(3), jnp.asarray(2.5))
    target = slope_of(model, data, row)
    for z in ([0.7, 0.9], [-0.7, 0.9], [-0.7, -0.9]):
        height, slope = target(jnp.asarray(z))
        assert np.isfinite(height)
        assert np.isfinite(slope).all()
        assert np.any(np.asarray(slope) != 0)


def uses_the_column(y, n):
    """The column is None when simulating: what was sampled should have been used."""
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre + 0.5 * y, 1), obs=y)


def needs_the_table(y):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    with numpyro.plate("records", len(y)):
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (uses_the_column, "asked to simulate 200 records, with None for the confidential columns"),
        (needs_the_table, "raised TypeError"),
        (raises, "raised KeyError: 'thing'"),
    ],
)
def test_a_function_that_is_not_a_model_of_records_is_refused(function, reason):
    with pytest.raises(BadInput, match=reason):
        from_numpyro(function, schema=REAL)


def test_even_unchecked_a_record_is_scored_alone(monkeypatch):
    """The comparison with whole tables is for the user; the guarantee does not rest on it."""
    monkeypatch.setattr("understudy.adapters.numpyro.check", lambda model, evaluate: None)
    model = from_numpyro(table_likelihood, schema=REAL)
    theta = model.constrain(jnp.zeros(model.dimension))
    table = np.array([1.0, 2.0, 30.0])
    together = jax.jit(model.record_loglik)(theta, model.prepare({"y": table}))
    for k in range(3):
        alone = jax.jit(model.record_loglik)(theta, model.prepare({"y": table[k : k + 1]}))
        assert float(alone[0]) == pytest.approx(float(together[k]))


def test_a_record_counts_the_same_whatever_the_others_are(model):
    theta = model.constrain(model.starting_points(jax.random.key(3), 1)[0])
    loglik = jax.jit(model.record_loglik)
    table, others = mixed_table(seed=1), mixed_table(seed=2)
    kept = np.arange(40) % 7 == 0
    changed = {name: np.where(kept, table[name], others[name]) for name in table}
    one, other = (np.asarray(loglik(theta, model.prepare(each))) for each in (table, changed))
    np.testing.assert_array_equal(one[kept], other[kept])
    assert (one[~kept] != other[~kept]).all()


def test_threads_do_not_mix_their_sites():
    """All threads share NumPyro's stack of handlers, and chains and settings run in threads."""
    model = from_numpyro(beta, schema=UNIT)
    phis = np.linspace(0.1, 0.9, 64)

    def log_prior(phi):
        return float(model.log_prior({"phi": jnp.asarray(phi), "lambda": jnp.asarray(1.0)}))

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(log_prior, phis))
    np.testing.assert_allclose(found, scipy.stats.pareto(1.5, scale=0.1).logpdf(1.0), rtol=1e-12)


def wrong_plate_size_inside(y, w, n):
    slope = numpyro.sample("slope", dist.Normal(0, 1))
    with numpyro.plate("records", SIZE):
        numpyro.sample("y", dist.Normal(slope * w, 1), obs=y)


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (wrong_plate_size_inside, r"'records' \(500\), has as many .* write numpyro.plate"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_badly_written_numpyro_model_is_told_what_to_change(function, sentence):
    with pytest.raises(BadInput, match=sentence) as fault:
        from_numpyro(function, schema=SCHEMA)
    assert "\n" not in str(fault.value)
    assert str(fault.value).endswith(".")


def test_a_sum_of_terms_is_scipy_s_and_has_no_slope_where_it_is_infinite():
    terms = jnp.array([[-np.inf, 1.0, np.inf, -np.inf], [-np.inf, 2.0, 1.0, 0.5]])
    np.testing.assert_allclose(log_sum(terms), scipy.special.logsumexp(terms, axis=0))
    slopes = jax.jacrev(lambda terms: jnp.sum(jnp.nan_to_num(log_sum(terms))))(terms)
    expected = [[0.0, 1 / (1 + np.e), 0.0, 0.0], [0.0, np.e / (1 + np.e), 0.0, 1.0]]
    np.testing.assert_allclose(slopes, expected, atol=1e-12)
