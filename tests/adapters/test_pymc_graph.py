"""What is taken from a PyMC graph, against scipy, and what is refused of it."""

import numpy as np
import pytest
import scipy.stats

pm = pytest.importorskip("pymc")

import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402

from pymc_functions import REAL, SIZE, built, start  # noqa: E402
from understudy import from_pymc  # noqa: E402
from understudy._jax import jax, jnp  # noqa: E402
from understudy.domain.schema import Schema  # noqa: E402
from understudy.errors import BadInput  # noqa: E402

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
CALLS = []


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
    ours = model.record_loglik(theta, model.prepare(table))
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
    ours = model.record_loglik(theta, model.prepare({"y": values}))
    np.testing.assert_allclose(ours, np.log(parts), rtol=1e-9)
    drawn = model.simulate(jax.random.key(0), theta, {}, 20_000)["y"]
    assert np.mean(drawn > 1) == pytest.approx(0.7, abs=0.02)


def gaussian_process(y, w, centre):
    process = pm.gp.Marginal(cov_func=pm.gp.cov.ExpQuad(1, 1.0))
    process.marginal_likelihood("y", w[:, None], y, sigma=pt.exp(centre))


def latent_process(y, w, centre):
    process = pm.gp.Latent(cov_func=pm.gp.cov.ExpQuad(1, 1.0))
    pm.Normal("y", centre + process.prior("f", w[:, None]), 1, observed=y)


def counting(y, w, centre):
    CALLS.append(1)
    pm.Normal("y", centre, len(CALLS), observed=y)


def scaled_container(y, w):
    """The prior's scale is a number, learned from whatever table the function is given."""
    with pm.Model() as model:
        columns = pm.Data("y", y), pm.Data("w", w)
        centre = pm.Normal("centre", 0, np.std(y))
        pm.Normal("likelihood", centre, 1, observed=columns[0])
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
        (
            built(prior=lambda y, w: pm.Normal("centre", 0, 1, shape=y.shape)[0]),
            "size of the variable 'centre' depends on the table",
        ),
        (
            built(likelihood=lambda y, w, c: pm.Normal("y", c, -1, observed=y)),
            "likelihood that is no number",
        ),
        (scaled_container, "prior .* depends on the table"),
    ],
)
def test_a_pymc_model_that_cannot_be_trusted_is_told_what_to_change(function, sentence):
    with pytest.raises(BadInput, match=sentence) as fault:
        from_pymc(function, schema=REAL)
    assert "\n" not in str(fault.value)


def test_single_precision_throughout_is_refused(monkeypatch):

    monkeypatch.setattr(pytensor.config, "floatX", "float32")
    with pytest.raises(BadInput, match="single precision"):
        from_pymc(built(), schema=REAL)
