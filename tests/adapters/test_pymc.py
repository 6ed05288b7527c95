"""PyMC models: against the other languages, and what their functions may not be made of."""

import numpy as np
import numpyro
import numpyro.distributions as dist
import pandas as pd
import pytest
import scipy.stats

pm = pytest.importorskip("pymc")

import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402

from pymc_functions import REAL, SIZE, built, start  # noqa: E402
from understudy import Anchored, formula, from_pymc, synthesize  # noqa: E402
from understudy._jax import jax, jnp  # noqa: E402
from understudy.adapters.loading import from_any  # noqa: E402
from understudy.adapters.numpyro import from_numpyro  # noqa: E402
from understudy.cli import run  # noqa: E402
from understudy.domain.schema import Schema  # noqa: E402
from understudy.errors import BadInput  # noqa: E402
from understudy.score import Row, log_target  # noqa: E402

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
TABLE = pd.DataFrame({"y": np.zeros(SIZE)})
MEAN = np.zeros(SIZE).mean()


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


def table_from_outside(y, w):
    with pm.Model() as model:
        centre = pm.Normal("centre", TABLE["y"].mean(), 1)
        pm.Normal("y", centre, 1, observed=y)
    return model


CONSTANT, SHARED = pt.constant(0.25), pytensor.shared(0.25)


with pm.Model() as FINISHED:
    pm.Normal("y", pm.Normal("centre", 0, 1), 1, observed=pm.Data("y_held", np.zeros(5)))


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
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
    ],
)
def test_a_pymc_model_that_cannot_be_trusted_is_told_what_to_change(function, sentence):
    with pytest.raises(BadInput, match=sentence) as fault:
        from_pymc(function, schema=REAL)
    assert "\n" not in str(fault.value)


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
    code = run([*job, "--epsilon", "4", "--out", "out", "--seed", "1"])
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
