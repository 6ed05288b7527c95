"""PyMC models: what is taken from them, against PyMC itself, scipy and the other languages."""

import numpy as np
import numpyro
import numpyro.distributions as dist
import pandas as pd
import pytest
import scipy.stats

pm = pytest.importorskip("pymc")

import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from pytensor.printing import Print  # noqa: E402

from understudy import Anchored, formula, from_pymc, synthesize  # noqa: E402
from understudy._jax import jax, jnp  # noqa: E402
from understudy.adapters.numpyro import from_numpyro  # noqa: E402
from understudy.adapters.recognise import from_any  # noqa: E402
from understudy.cli import run  # noqa: E402
from understudy.domain.schema import Schema  # noqa: E402
from understudy.errors import BadInput  # noqa: E402
from understudy.score import Row, log_target  # noqa: E402

SIZE = 500
UNIT = Schema.from_dict(
    {
        "table": {"size": 400},
        "columns": {
            "x": {"role": "confidential", "type": "continuous", "bounds": [0, 1]},
            "group": {"role": "public", "type": "categorical", "levels": ["a", "b", "c"]},
            "w": {"role": "public", "type": "continuous", "bounds": [0, 10]},
        },
    }
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
REAL = Schema.from_dict(
    {
        "table": {"size": SIZE},
        "columns": {
            "y": {"role": "confidential", "type": "continuous", "bounds": [-20, 20]},
            "w": {"role": "public", "type": "continuous", "bounds": [0, 10]},
        },
    }
)
TABLE = pd.DataFrame({"y": np.zeros(SIZE)})
MEAN = np.zeros(SIZE).mean()
CALLS = []


def start(model, seed=0):
    return model.constrain(model.starting_points(jax.random.key(seed), 1)[0])


# A beta regression in three languages.


def pymc_beta(x, group, w):
    with pm.Model() as model:
        intercept = pm.Normal("Intercept", 0, 2.5)
        b, c = pm.Normal("group[T.b]", 0, 2.5), pm.Normal("group[T.c]", 0, 2.5)
        slope = pm.Normal("slope", 0, 2.5)
        precision = pm.Pareto("lambda", alpha=1.5, m=0.1)
        linear = intercept + b * pt.eq(group, 1) + c * pt.eq(group, 2) + slope * w / 10
        mean, other = pm.math.invlogit(linear), pm.math.invlogit(-linear)
        pm.Beta("x", precision * mean, precision * other, observed=x)
    return model


def numpyro_beta(x, group, w, n):
    intercept = numpyro.sample("Intercept", dist.Normal(0, 2.5))
    b = numpyro.sample("group[T.b]", dist.Normal(0, 2.5))
    c = numpyro.sample("group[T.c]", dist.Normal(0, 2.5))
    slope = numpyro.sample("slope", dist.Normal(0, 2.5))
    precision = numpyro.sample("lambda", dist.Pareto(0.1, 1.5))
    with numpyro.plate("records", n):
        linear = intercept + b * (group == 1) + c * (group == 2) + slope * w / 10
        mean, other = jax.nn.sigmoid(linear), jax.nn.sigmoid(-linear)
        numpyro.sample("x", dist.Beta(precision * mean, precision * other), obs=x)


@pytest.fixture(scope="module")
def three():
    """The same regression as a formula, as a NumPyro function and as a PyMC function."""
    return (
        formula("x ~ group + w", family="beta", schema=UNIT),
        from_numpyro(numpyro_beta, schema=UNIT),
        from_pymc(pymc_beta, schema=UNIT),
    )


def in_terms_of(model, theta):
    """Give a formula's θ the names of another model's parameters."""
    names = {parameter.name for parameter in model.parameters}
    return theta if "w" in names else {**theta, "slope": theta["w"]}


def beta_table(rows=2000, seed=0):
    generator = np.random.default_rng(seed)
    return {
        "x": generator.beta(0.5, 3, rows),
        "group": generator.integers(3, size=rows),
        "w": generator.uniform(0, 10, rows),
    }


def test_record_log_likelihoods_agree_in_three_languages(three):
    table = beta_table()
    thetas = [start(three[0], seed) for seed in range(5)]

    def logliks(model):
        loglik, data = jax.jit(model.record_loglik), model.prepare(table)
        return [loglik(in_terms_of(model, theta), data) for theta in thetas]

    ours, *others = map(logliks, three)
    for other in others:
        np.testing.assert_allclose(other, ours, rtol=0, atol=1e-8)


def test_targets_agree_in_three_languages_up_to_nothing(three):
    table = beta_table(200)
    row = Row(jnp.ones(200), jnp.zeros(200), jnp.asarray(2.5))
    thetas = [start(three[0], seed) for seed in range(3)]

    def heights(model):
        data = model.prepare(table)
        target = jax.jit(lambda z: log_target(model, z, data, row))
        return [float(target(model.unconstrain(in_terms_of(model, theta)))) for theta in thetas]

    ours, *others = map(heights, three)
    for other in others:
        assert other == pytest.approx(ours, abs=1e-7)


def test_synthetic_distributions_agree_in_three_languages(three):
    rows = 30_000
    public = {name: values for name, values in beta_table(rows, 3).items() if name != "x"}
    theta = {
        "Intercept": jnp.asarray(-0.5),
        "group[T.b]": jnp.asarray(0.8),
        "group[T.c]": jnp.asarray(-1.0),
        "w": jnp.asarray(1.2),
        "lambda": jnp.asarray(3.0),
    }
    drawn = [
        model.simulate(jax.random.key(7 + k), in_terms_of(model, theta), public, rows)["x"]
        for k, model in enumerate(three)
    ]
    for other in drawn[1:]:
        for chosen in (public["group"] == 0, public["group"] == 1, public["w"] < 3):
            assert scipy.stats.ks_2samp(drawn[0][chosen], other[chosen]).pvalue > 1e-3


@pytest.mark.slow
def test_an_anchored_synthesis_is_the_same_in_distribution(three):
    table = beta_table(400)
    frame = pd.DataFrame({**table, "group": np.array(["a", "b", "c"])[table["group"]]})
    mechanism = Anchored(epsilon=8.0, candidates=256)
    ours, theirs = (
        synthesize(model, frame, mechanism, seed=3).synthetic for model in (three[0], three[2])
    )
    assert scipy.stats.ks_2samp(ours["x"], theirs["x"]).pvalue > 1e-3
    # Both have learned the table, of which a prior draw knows nothing.
    assert [ours["x"].mean(), theirs["x"].mean()] == pytest.approx(
        [table["x"].mean()] * 2, abs=0.05
    )


def test_a_record_counts_the_same_whatever_the_others_are(three):
    theta, kept = start(three[0]), np.arange(200) % 7 == 0
    table, others = beta_table(200, 1), beta_table(200, 2)
    changed = {name: np.where(kept, table[name], others[name]) for name in table}
    model = three[2]
    loglik = jax.jit(model.record_loglik)
    one, other = (
        np.asarray(loglik(in_terms_of(model, theta), model.prepare(each)))
        for each in (table, changed)
    )
    np.testing.assert_array_equal(one[kept], other[kept])
    assert (one[~kept] != other[~kept]).all()


def test_at_the_edges_gradients_are_finite(three):
    table = {
        "x": np.array([0.0, 1.0, 1e-300, 0.3]),
        "group": np.array([0, 1, 2, 0]),
        "w": np.array([0.0, 10.0, 5.0, 5.0]),
    }
    row = Row(jnp.ones(4), jnp.zeros(4), jnp.asarray(2.5))
    model = three[2]
    data = model.prepare(table)
    target = jax.jit(jax.value_and_grad(lambda z: log_target(model, z, data, row)))
    for seed in range(3):
        height, slope = target(model.starting_points(jax.random.key(seed), 1)[0])
        assert np.isfinite(height)
        assert np.isfinite(slope).all()


# What is taken from a model.


def mixed(y, k, group, w):
    """Two outcomes, one of them given the other by its column, and a hierarchy over groups."""
    with pm.Model() as model:
        spread = pm.HalfNormal("spread", 1)
        level = pm.Normal("level", 0, spread, shape=3)
        slope = pm.Normal("slope", 0, 1)
        centre = level[group] + slope * (w - 5) / 5
        pm.Normal("y", centre, 1, observed=y)
        pm.Bernoulli("k", logit_p=centre + y, observed=k)
    return model


def mixed_in_containers(y, k, group, w):
    """The same with `pm.Data`, dimensions, and the observed variable instead of its column."""
    with pm.Model(coords={"record": np.arange(len(y)), "group": ["a", "b", "c"]}) as model:
        outcome = pm.Data("y", y, dims="record")
        answer = pm.Data("answers", k, dims="record")
        index = pm.Data("group_index", group, dims="record")
        weeks = pm.Data("w", w, dims="record")
        spread = pm.HalfNormal("spread", 1)
        level = pm.Normal("level", 0, spread, dims="group")
        slope = pm.Normal("slope", 0, 1)
        centre = pm.Deterministic("centre", level[index] + slope * (weeks - 5) / 5, dims="record")
        likelihood = pm.Normal("likelihood", centre, 1, observed=outcome, dims="record")
        pm.Bernoulli("k", logit_p=centre + likelihood, observed=answer, dims="record")
    return model


def mixed_in_named_containers(y, k, group, w):
    """The same with containers that bear the names of columns, and variables that do not."""
    table = {"y": y, "k": k, "group": group, "w": w}
    with pm.Model() as model:
        columns = {name: pm.Data(name, values) for name, values in table.items()}
        spread = pm.HalfNormal("spread", 1)
        level = pm.Normal("level", 0, spread, shape=3)
        slope = pm.Normal("slope", 0, 1)
        centre = level[columns["group"]] + slope * (columns["w"] - 5) / 5
        likelihood = pm.Normal("y_likelihood", centre, 1, observed=columns["y"])
        pm.Bernoulli("k_likelihood", logit_p=centre + likelihood, observed=columns["k"])
    return model


def mixed_table(rows=40, seed=0):
    generator = np.random.default_rng(seed)
    return {
        "y": generator.normal(size=rows),
        "k": generator.integers(2, size=rows),
        "group": generator.integers(3, size=rows),
        "w": generator.uniform(0, 10, rows),
    }


@pytest.fixture(
    scope="module",
    params=[mixed, mixed_in_containers, mixed_in_named_containers],
    ids=["columns", "containers", "named"],
)
def model(request):
    return from_pymc(request.param, schema=MIXED)


def centre_of(theta, table):
    level = np.asarray(theta["level"])[table["group"]]
    return level + float(theta["slope"]) * (table["w"] - 5) / 5


def test_observed_variables_add_up_to_one_record_log_likelihood(model):
    table, theta = mixed_table(), start(model)
    centre = centre_of(theta, table)
    expected = scipy.stats.norm.logpdf(table["y"], centre)
    expected += scipy.stats.bernoulli.logpmf(table["k"], 1 / (1 + np.exp(-centre - table["y"])))
    ours = jax.jit(model.record_loglik)(theta, model.prepare(table))
    np.testing.assert_allclose(ours, expected, rtol=1e-9)


def test_the_prior_is_that_of_every_parameter(model):
    theta = start(model)
    spread = float(theta["spread"])
    expected = scipy.stats.halfnorm.logpdf(spread)
    expected += scipy.stats.norm.logpdf(np.asarray(theta["level"]), scale=spread).sum()
    expected += scipy.stats.norm.logpdf(float(theta["slope"]))
    assert float(model.log_prior(theta)) == pytest.approx(expected)


def test_simulated_columns_follow_each_other(model):
    rows, theta = 20_000, start(model)
    public = {name: mixed_table(rows)[name] for name in ("group", "w")}
    drawn = model.simulate(jax.random.key(1), theta, public, rows)
    centre = centre_of(theta, public)
    assert scipy.stats.kstest(drawn["y"] - centre, "norm").pvalue > 1e-3
    surprise = drawn["k"] - 1 / (1 + np.exp(-centre - drawn["y"]))
    assert abs(surprise.mean()) < 4 * surprise.std() / np.sqrt(rows)
    assert abs(np.mean(surprise * drawn["y"])) < 4 * np.std(surprise * drawn["y"]) / np.sqrt(rows)


def test_a_key_decides_what_is_simulated(model):
    theta, public = start(model), {name: mixed_table(50)[name] for name in ("group", "w")}
    one, same, other = (
        model.simulate(jax.random.key(seed), theta, public, 50)["y"] for seed in (1, 1, 2)
    )
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_compiled_densities_hold_no_records():
    """Columns are arguments of the program: none of their values may be among its constants."""
    model = from_pymc(mixed_in_named_containers, schema=MIXED)
    data = model.prepare({**mixed_table(33), "y": np.full(33, 0.123456789)})
    lowered = jax.jit(model.record_loglik).lower(start(model), data)
    text = lowered.as_text()
    assert "tensor<33xf64>" in text
    assert "1.2345678" not in text


def every_range(y):
    """A parameter with each of PyMC's transforms that reach all of the real line."""
    ordered = pm.distributions.transforms.ordered
    with pm.Model() as model:
        parts = [
            pm.Normal("real", 0, 1),
            pm.HalfNormal("positive", 1),
            pm.Beta("unit", 2, 2),
            pm.Uniform("interval", -1, 3),
            pm.Pareto("above", 1.5, 0.1),
            pm.Dirichlet("simplex", np.ones(3))[0],
            pm.Normal("ordered", 0, 2, shape=3, transform=ordered)[0],
            pm.ZeroSumNormal("zerosum", 1, shape=4)[0],
            pm.StudentT("matrix", nu=3, mu=0, sigma=1, shape=(2, 2)).sum(),
        ]
        chol, _, _ = pm.LKJCholeskyCov("chol", n=2, eta=2, sd_dist=pm.Exponential.dist(1))
        parts.append(pm.MvNormal("correlated", np.zeros(2), chol=chol)[0])
        pm.Normal("y", sum(parts), 1, observed=y)
    return model


def few_ranges(y):
    """Those of them that most models have."""
    with pm.Model() as model:
        parts = [
            pm.HalfNormal("positive", 1),
            pm.Uniform("interval", -1, 3),
            pm.Dirichlet("simplex", np.ones(3))[0],
        ]
        pm.Normal("y", sum(parts), 1, observed=y)
    return model


@pytest.mark.parametrize("ranges", [few_ranges, pytest.param(every_range, marks=pytest.mark.slow)])
def test_every_transform_is_pymcs_own(ranges):
    schema = Schema.from_dict({"columns": {"y": REAL.column("y").to_dict()}})
    ours, theirs = from_pymc(ranges, schema=schema), ranges(np.zeros(3))
    density = theirs.compile_logp(vars=theirs.free_RVs, mode="FAST_COMPILE")
    names = [theirs.rvs_to_values[variable].name for variable in theirs.free_RVs]
    prior = jax.jit(jax.value_and_grad(ours.log_prior_unconstrained))
    there_and_back = jax.jit(lambda z: ours.unconstrain(ours.constrain(z)))
    for seed in range(3):
        z = ours.starting_points(jax.random.key(seed), 1)[0]
        height, slope = prior(z)
        point = {name: np.asarray(u) for name, (_, u) in zip(names, ours._pieces(z), strict=True)}
        # PyMC keeps the logarithm of a small whole number in single precision.
        assert float(height) == pytest.approx(density(point), abs=1e-6)
        np.testing.assert_allclose(there_and_back(z), z, atol=1e-9)
        assert np.isfinite(slope).all()


def test_a_mixture_is_a_model():
    def mixture(y):
        with pm.Model() as model:
            share = pm.Dirichlet("share", np.ones(2))
            centre = pm.Normal("centre", [-3, 3], 1)
            parts = pm.Normal.dist(centre, 1, shape=(2,))
            pm.Mixture("y", share, parts, observed=y)
        return model

    schema = Schema.from_dict({"columns": {"y": REAL.column("y").to_dict()}})
    model = from_pymc(mixture, schema=schema)
    theta = {"share": jnp.array([0.3, 0.7]), "centre": jnp.array([-2.0, 4.0])}
    values = np.linspace(-5, 6, 30)
    parts = scipy.stats.norm.pdf(values[:, None], [-2, 4]) @ [0.3, 0.7]
    ours = jax.jit(model.record_loglik)(theta, model.prepare({"y": values}))
    np.testing.assert_allclose(ours, np.log(parts), rtol=1e-9)
    drawn = model.simulate(jax.random.key(0), theta, {}, 20_000)["y"]
    assert np.mean(drawn > 1) == pytest.approx(0.7, abs=0.02)


# What is refused.


def built(*, prior=None, likelihood=None, more=None):
    """Return a function that builds a normal model, with one part of it replaced."""

    def model(y, w):
        with pm.Model() as found:
            centre = pm.Normal("centre", 0, 1) if prior is None else prior(y, w)
            if more is not None:
                more(y, w, centre)
            if likelihood is None:
                pm.Normal("y", centre, 1, observed=y)
            else:
                likelihood(y, w, centre)
        return found

    return model


def gaussian_process(y, w, centre):
    process = pm.gp.Marginal(cov_func=pm.gp.cov.ExpQuad(1, 1.0))
    process.marginal_likelihood("y", w[:, None], y, sigma=pt.exp(centre))


def latent_process(y, w, centre):
    process = pm.gp.Latent(cov_func=pm.gp.cov.ExpQuad(1, 1.0))
    pm.Normal("y", centre + process.prior("f", w[:, None]), 1, observed=y)


def counting(y, w, centre):
    CALLS.append(1)
    pm.Normal("y", centre, len(CALLS), observed=y)


def changing(y, w):
    w[0] = 0
    return built()(y, w)


def no_return(y, w):
    built()(y, w)


def pair_returned(y, w):
    return built()(y, w), 3


def needs_a_length(y, w):
    return built(likelihood=lambda y, w, c: pm.Normal("y", c, 1, shape=len(y), observed=y))(y, w)


def table_from_outside(y, w):
    with pm.Model() as model:
        centre = pm.Normal("centre", TABLE["y"].mean(), 1)
        pm.Normal("y", centre, 1, observed=y)
    return model


def scaled_container(y, w):
    """The prior's scale is a number, learned from whatever table the function is given."""
    with pm.Model() as model:
        columns = pm.Data("y", y), pm.Data("w", w)
        centre = pm.Normal("centre", 0, np.std(y))
        pm.Normal("likelihood", centre, 1, observed=columns[0])
    return model


CONSTANT, SHARED = pt.constant(0.25), pytensor.shared(0.25)
with pm.Model() as FINISHED:
    pm.Normal("y", pm.Normal("centre", 0, 1), 1, observed=pm.Data("y_held", np.zeros(5)))


circular = pm.distributions.transforms.circular


def interval_up_to(end):
    """Return a transform whose range ends at a graph, which is not among the prior's arguments."""
    return pm.distributions.transforms.Interval(bounds_fn=lambda *_: (pt.constant(0.0), end))


def range_by_container(y, w):
    with pm.Model() as model:
        columns = pm.Data("y", y), pm.Data("w", w)
        centre = pm.Normal("centre", 0, 1, transform=interval_up_to(columns[0].max()))
        pm.Normal("likelihood", centre, 1, observed=columns[0])
    return model


def range_by_size(y, w):
    with pm.Model(coords={"record": np.arange(len(y))}) as model:
        columns = pm.Data("y", y, dims="record"), pm.Data("w", w, dims="record")
        end = 1.0 * model.dim_lengths["record"]
        centre = pm.Normal("centre", 0, 1, transform=interval_up_to(end))
        pm.Normal("likelihood", centre, 1, observed=columns[0], dims="record")
    return model


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (built(likelihood=gaussian_process), "does not split by record.*exchangeable"),
        (built(likelihood=latent_process), "'f_rotated_' depends on the table.*exchangeable"),
        (
            built(likelihood=lambda y, w, c: pm.Normal("y", c, 1, shape=SIZE, observed=y)),
            "has 500 entries .*, so a size or a table is baked in: use the columns",
        ),
        (
            built(likelihood=lambda y, w, c: pm.Normal("y", c * np.arange(57.0), 1, observed=y)),
            "57.*: use its arguments as they are, and no other array",
        ),
        (built(likelihood=lambda y, w, c: pm.Normal("z", c, 1, observed=w)), "'z' is observed, b"),
        (built(likelihood=lambda y, w, c: None), "no observed variable: pass a column"),
        (
            built(likelihood=lambda y, w, c: pm.Normal("y", c, 1, observed=pt.tanh(y))),
            "observes something other than the column",
        ),
        (
            built(likelihood=lambda y, w, c: pm.Normal("y", c + y.mean(), 1, observed=y)),
            "depends on other records",
        ),
        (
            built(likelihood=lambda y, w, c: pm.Normal("y", c + 0.5 * y, 1, observed=y)),
            "uses the column 'y' itself",
        ),
        (
            built(
                likelihood=lambda y, w, c: pm.Normal("y", c * w.astype("float32"), 1, observed=y)
            ),
            "single precision",
        ),
        (built(likelihood=counting), "two answers to the same table"),
        (built(prior=lambda y, w: pm.Normal("centre", 0, y.std())), "prior .* depends on the tab"),
        (built(prior=lambda y, w: pm.Normal("centre", np.nan, 1)), "prior of 'centre' is not a f"),
        (built(prior=lambda y, w: pm.Flat("centre")), "prior of 'centre' is improper"),
        (built(prior=lambda y, w: pm.HalfFlat("centre")), "prior of 'centre' is improper"),
        (built(prior=lambda y, w: pm.Poisson("centre", 3)), "'centre' is discrete: sum it out"),
        (built(prior=lambda y, w: pm.Normal("w", 0, 1)), "'w' has the name of a column: rename"),
        (
            built(prior=lambda y, w: pm.Normal("centre", 0, 1, default_transform=circular)),
            "'CircularTransform', which does not reach",
        ),
        (
            built(prior=lambda y, w: pm.Uniform("centre", 0, pm.HalfNormal("top", 1))),
            "range of the parameter 'centre' depends on",
        ),
        (
            built(
                prior=lambda y, w: pm.Normal("centre", 0, 1, transform=interval_up_to(pt.max(y)))
            ),
            "range of the parameter 'centre' depends on",
        ),
        (range_by_container, "range of the parameter 'centre' depends on"),
        (range_by_size, "range of the parameter 'centre' depends on"),
        (
            built(prior=lambda y, w: pm.Normal("centre", 0, 1, shape=y.shape)[0]),
            "size of the variable 'centre' depends on the table",
        ),
        (
            built(more=lambda y, w, c: pm.Potential("bump", -(c**2))),
            "pm.Potential 'bump' is neither",
        ),
        (
            built(likelihood=lambda y, w, c: pm.Normal("y", c + Print("w")(w), 1, observed=y)),
            "No JAX conversion .*: leave that operation out",
        ),
        (
            built(likelihood=lambda y, w, c: pm.Normal("y", c + pt.kve(1.0, w + 1), 1, observed=y)),
            "No JAX implementation .*: leave that operation out",
        ),
        (
            built(likelihood=lambda y, w, c: pm.Normal("y", c, -1, observed=y)),
            "likelihood that is no number",
        ),
        (built(more=lambda y, w, c: pm.Normal("centre", 0, 1)), "already exists .*: rename one"),
        (changing, "raised ValueError: .*read-only .*: use its arguments as they are"),
        (no_return, "returned nothing, but a PyMC function must return the pm.Model"),
        (pair_returned, "returned a tuple, but a PyMC function must return the pm.Model"),
        (needs_a_length, "PyTensor vectors: put all of them into pm.Data"),
        (table_from_outside, "table baked in, 'TABLE'"),
        (
            built(prior=lambda y, w: pm.Normal("centre", MEAN, 1)),
            "has a computed number baked in, 'MEAN', from outside",
        ),
        (
            built(prior=lambda y, w: pm.Normal("centre", CONSTANT, 1)),
            "has a variable baked in, 'CONSTANT', from outside",
        ),
        (
            built(prior=lambda y, w: pm.Normal("centre", SHARED, 1)),
            "has a variable baked in, 'SHARED', from outside",
        ),
        (lambda y, w: FINISHED, "has a variable baked in, 'FINISHED', from outside"),
        (scaled_container, "prior .* depends on the table"),
    ],
)
def test_a_pymc_model_that_cannot_be_trusted_is_told_what_to_change(function, sentence):
    with pytest.raises(BadInput, match=sentence) as fault:
        from_pymc(function, schema=REAL)
    assert "\n" not in str(fault.value)


def test_single_precision_throughout_is_refused(monkeypatch):
    import pytensor

    monkeypatch.setattr(pytensor.config, "floatX", "float32")
    with pytest.raises(BadInput, match="single precision"):
        from_pymc(built(), schema=REAL)


def finished(table, centre, width=1.0):
    """A model that was built already, with its columns in containers of their names."""
    with pm.Model() as model:
        columns = {name: pm.Data(name, values) for name, values in table.items()}
        start = pm.Normal("centre", centre(table["y"]), width)
        pm.Normal("likelihood", start, 1, observed=columns["y"])
    return model


def one_record_more():
    """Two neighbouring tables."""
    small = pd.DataFrame({"y": np.linspace(-1.0, 1.0, 20)})
    return small, pd.concat([small, pd.DataFrame({"y": [15.0]})], ignore_index=True)


@pytest.mark.parametrize(
    "centre",
    [
        lambda y: y.mean(),
        lambda y: pm.Data("start", y.mean()),
        lambda y: float(y.quantile(0.75)),
        lambda y: 0.0,
    ],
    ids=["mean", "container", "quantile", "constant"],
)
def test_a_finished_model_is_refused_whatever_its_prior_was_made_of(centre):
    """One record more moves the prior, and nothing in the finished model shows why."""
    for table in one_record_more():
        for convert in (from_pymc, from_any):
            with pytest.raises(
                BadInput, match=r"finished pm\.Model is not taken.*computed"
            ) as fault:
                convert(finished(table, centre, 1e-3), schema=REAL)
            assert "def build(y, w):' / 'with pm.Model() as model: ...' / 'return model'" in str(
                fault.value
            )
            assert "\n" not in str(fault.value)


def following(mean):
    """The same model as a function, with a centre from outside."""
    return lambda y, w: finished({"y": y, "w": w}, lambda y: mean, 1e-3)


@pytest.mark.parametrize("table", one_record_more(), ids=["without", "with"])
def test_a_prior_that_follows_the_table_is_refused_as_a_function_too(table):
    def learning(y, w):
        return finished({"y": y, "w": w}, lambda y: y.mean(), 1e-3)

    learned = table["y"].mean()

    def defaulting(y, w, mean=learned):
        return finished({"y": y, "w": w}, lambda y: mean, 1e-3)

    for function, sentence in (
        (learning, "the prior of the model 'learning' depends on the table"),
        (defaulting, "asks for 'mean'"),
        (following(learned), "has a computed number baked in, 'mean', from outside"),
        (following(table["y"]), "has a table baked in, 'mean', from outside"),
    ):
        with pytest.raises(BadInput, match=sentence):
            from_pymc(function, schema=REAL)
    assert from_pymc(following(0.0), schema=REAL).dimension == 1


def test_more_columns_than_fit_a_sentence_are_left_open():
    column = REAL.column("y").to_dict()
    schema = Schema.from_dict({"columns": {f"y{k}": column for k in range(9)}})
    with pytest.raises(BadInput, match=r"def build\(y0, y1, y2, y3, \.\.\.\):"):
        from_pymc(FINISHED, schema=schema)


def test_neither_a_model_nor_a_function_is_refused():
    with pytest.raises(BadInput, match=r"takes a function of columns that returns a pm\.Model"):
        from_pymc(3, schema=REAL)


# On the command line.

MODEL = """\
import numpy as np
import pymc as pm


def pay(salary, age):
    with pm.Model() as model:
        base = pm.Normal("base", 0, 2)
        slope = pm.Normal("slope", 0, 2)
        precision = pm.Gamma("precision", 2, 0.5)
        mean = pm.math.invlogit(base + slope * (age - 18) / 52)
        pm.CustomDist("salary", mean, precision, dist=scaled, observed=salary)
    return model


def scaled(mean, precision, size):
    return 1_000_000 * pm.Beta.dist(precision * mean, precision * (1 - mean), size=size)


def contained(salary, age):
    with pm.Model() as model:
        columns = pm.Data("salary", salary), pm.Data("age", age)
        base = pm.Normal("base", 0, 2)
        pm.LogNormal("pay", 11 + base + columns[1] / 50, 1, observed=columns[0])
    return model


finished = contained(np.full(3, 1000.0), np.full(3, 40.0))
"""


def test_a_finished_model_in_a_file_is_refused_before_anything_is_written(desk, capsys):
    (desk / "model.py").write_text(MODEL)
    job = ["synthesize", "survey.csv", "--schema", "public.toml", "--model", "model.py:finished"]
    assert run([*job, "--epsilon", "4", "--out", "out"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "a finished pm.Model is not taken" in said
    assert "'def build(salary, gender, age):' / 'with pm.Model() as model: ...' / 'ret" in said
    assert not (desk / "out").exists()


@pytest.mark.parametrize("name", [pytest.param("pay", marks=pytest.mark.slow), "contained"])
def test_a_pymc_model_in_a_file_is_recognised_synthesised_and_sampled_from(desk, capsys, name):
    (desk / "model.py").write_text(MODEL)
    job = ["synthesize", "survey.csv", "--schema", "public.toml", "--model", f"model.py:{name}"]
    code = run([*job, "--epsilon", "4", "--out", "out", "--seed", "1", "--candidates", "256"])
    assert code == 0, capsys.readouterr().err
    sample = [
        "sample",
        "out/public",
        "--rows",
        "7",
        "-o",
        "more.csv",
        "--model",
        f"model.py:{name}",
    ]
    assert run(sample) == 0, capsys.readouterr().err
    assert (desk / "more.csv").read_text().count("\n") == 8
    (desk / "model.py").write_text(MODEL.replace('Normal("base", 0, 2)', 'Normal("base", 0, 3)'))
    assert run([*sample, "--force"]) == 2
    assert "not the one this release was made with" in capsys.readouterr().err


def test_a_function_that_needs_vectors_gets_them():
    def vectors(y, w):
        with pm.Model() as model:
            centre = pm.Normal("centre", 0, 1)
            pm.Normal("y", centre + w.dimshuffle(0), 1, observed=y)
        return model

    model = from_any(vectors, schema=REAL)
    values = {"y": np.array([1.0, 2.0]), "w": np.array([0.5, 3.0])}
    ours = model.record_loglik({"centre": jnp.asarray(0.2)}, model.prepare(values))
    np.testing.assert_allclose(ours, scipy.stats.norm.logpdf([1.0, 2.0], [0.7, 3.2]))


def test_a_pymc_function_that_forgets_to_return_is_told_so():
    def forgets(y, w):
        built()(y, w)

    with pytest.raises(BadInput, match=r"a PyMC function must return its pm.Model"):
        from_any(forgets, schema=REAL)
