"""Bambi models: nothing in them comes from the table."""

import numpy as np
import pandas as pd
import pytest
import scipy.stats

bmb = pytest.importorskip("bambi")

from bambi_models import schema_of, start  # noqa: E402
from understudy import formula, from_bambi  # noqa: E402
from understudy._jax import jax, jnp  # noqa: E402
from understudy.adapters.checks import example_table  # noqa: E402
from understudy.adapters.loading import from_any  # noqa: E402
from understudy.cli import run  # noqa: E402
from understudy.errors import BadInput  # noqa: E402


def hierarchy():
    return bmb.Prior("Normal", mu=0, sigma=bmb.Prior("HalfNormal", sigma=0.7))


def frame_of(rows, seed, stretch):
    generator = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "y": stretch * generator.normal(size=rows),
            "group": pd.Categorical(generator.choice(["b", "a", "c"], rows)),
            "w": generator.uniform(0, stretch, rows),
        }
    )


def test_priors_scaled_by_the_data_are_scaled_by_the_schema_instead():
    """Whichever table a finished model was built on, its prior is the same to the last bit."""
    schema = schema_of("y")
    one, other = (
        from_bambi(bmb.Model("y ~ group + scale(w)", frame_of(rows, rows, stretch)), schema=schema)
        for rows, stretch in ((50, 0.1), (80, 9.0))
    )
    assert [p.name for p in one.parameters] == ["Intercept", "group", "scale(w)", "sigma"]
    for seed in range(5):
        theta = start(one, seed)
        assert float(one.log_prior(theta)) == float(other.log_prior(theta))
    table = example_table(schema, 30)
    np.testing.assert_array_equal(
        one.record_loglik(theta, one.prepare(table)),
        other.record_loglik(theta, other.prepare(table)),
    )


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("y ~ group + w", {}),
        ("y ~ w", {"priors": {"sigma": 2.0}}),
        pytest.param("y ~ group + w", {"family": "t"}, marks=pytest.mark.slow),
        pytest.param("y ~ w", {"priors": {"sigma": 2}}, marks=pytest.mark.slow),
        pytest.param("y ~ offset(w)", {}, marks=pytest.mark.slow),
        pytest.param(bmb.Formula("y ~ w", "sigma ~ w"), {}, marks=pytest.mark.slow),
        pytest.param("y ~ w + (w | group)", {}, marks=pytest.mark.slow),
    ],
)
def test_a_finished_model_tells_nothing_of_the_table_it_was_built_on(text, options):
    """Neither its priors nor what is published of it, whether or not its graph was built."""
    schema = schema_of("y")
    finished = [
        bmb.Model(text, frame_of(rows, rows, stretch), **options)
        for rows, stretch in ((50, 0.1), (80, 9.0))
    ]
    finished[1].build()
    one, other = (from_bambi(each, schema=schema) for each in finished)
    assert one.spec == other.spec
    assert [p.name for p in one.parameters] == [p.name for p in other.parameters]
    for seed in range(3):
        theta = start(one, seed)
        assert float(one.log_prior(theta)) == float(other.log_prior(theta))


def wide():
    return bmb.Prior("Normal", mu=0, sigma=2)


def learned(frame):
    return bmb.Prior("Normal", mu=frame["y"].mean(), sigma=1e-3)


def followed():
    """A known family with a prior that was put into it."""
    likelihood = bmb.Likelihood("Normal", params=["mu", "sigma"], parent="mu")
    family = bmb.Family("gaussian", likelihood, "identity")
    family.set_default_priors({"sigma": bmb.Prior("HalfNormal", sigma=1.00001)})
    return family


def shifted(by):
    """A family whose likelihood has a number of its own."""
    import pymc as pm

    def moved(name, mu, sigma, **options):
        return pm.Normal(name, mu + by, sigma, **options)

    likelihood = bmb.Likelihood("Moved", params=["mu", "sigma"], parent="mu", dist=moved)
    return bmb.Family("moved", likelihood, "identity")


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("y ~ w", lambda frame: {"priors": {"Intercept": learned(frame)}}),
        ("y ~ w", lambda frame: {"priors": {"w": wide()}}),
        ("y ~ w", lambda frame: {"priors": {"mu": {"w": wide()}}}),
        ("y ~ w", lambda frame: {"priors": {"common": wide()}}),
        ("y ~ w", lambda frame: {"priors": {"sigma": bmb.Prior("HalfNormal", sigma=3)}}),
        ("y ~ w", lambda frame: {"priors": {"sigma": frame["y"].std()}}),
        (
            bmb.Formula("y ~ w", "sigma ~ w"),
            lambda frame: {"priors": {"sigma": {"w": wide()}}},
        ),
        ("y ~ w + (w | group)", lambda frame: {"priors": {"w|group": hierarchy()}}),
        ("y ~ w + (1 | group)", lambda frame: {"priors": {"group_specific": hierarchy()}}),
        ("y ~ w", lambda frame: {"family": followed()}),
        ("y ~ w", lambda frame: {"family": shifted(frame["y"].mean()), "priors": {"sigma": 1}}),
    ],
)
def test_numbers_in_a_finished_model_cannot_be_told_from_learned_ones(text, options):
    """Bambi turns each of them into an array; in a function, on a public frame, they are fine."""
    frame = frame_of(50, 1, 5.0)
    finished = bmb.Model(text, frame, **options(frame))
    with pytest.raises(BadInput, match=r"computed from the table.*: give a function") as fault:
        from_bambi(finished, schema=schema_of("y"))
    assert "'def build(data):' / 'return bambi.Model(" in str(fault.value)


@pytest.mark.parametrize(
    ("text", "priors"),
    [
        ("y ~ w", lambda: {"w": wide()}),
        ("y ~ w", lambda: {"mu": {"w": wide()}}),
        ("y ~ w", lambda: {"common": wide()}),
        ("y ~ w", lambda: {"sigma": bmb.Prior("HalfNormal", sigma=3)}),
        (bmb.Formula("y ~ w", "sigma ~ w"), lambda: {"sigma": {"w": wide()}}),
        ("y ~ w + (w | group)", lambda: {"w|group": hierarchy()}),
        ("y ~ w + (1 | group)", lambda: {"group_specific": hierarchy()}),
    ],
)
def test_a_function_may_set_priors_of_any_kind(text, priors):
    schema = schema_of("y")
    assert from_bambi(lambda data: bmb.Model(text, data, priors=priors()), schema=schema)


OUTSIDE = {"Intercept": learned(frame_of(50, 1, 5.0))}
MEAN = frame_of(50, 1, 5.0)["y"].mean()


def centre_by_the_table(values):
    return values - MEAN


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda data: bmb.Model("y ~ w", data, priors=OUTSIDE), "OUTSIDE"),
        (lambda data: bmb.Model("y ~ centre_by_the_table(w)", data), "MEAN"),
    ],
)
def test_numbers_from_outside_a_function_are_found(function, name):
    with pytest.raises(BadInput, match=f"has a computed number baked in, '{name}', from outside"):
        from_bambi(function, schema=schema_of("y"))


@pytest.mark.parametrize(
    "more",
    [lambda: {"priors": {"w": wide()}}, lambda: {"common": wide()}, dict],
    ids=["by name", "all", "none"],
)
def test_a_finished_model_whose_priors_were_set_later_is_refused(more):
    """Bambi takes all of its priors for set ones then, those it made up from the table too."""
    finished = bmb.Model("y ~ group + w", frame_of(50, 1, 5.0))
    finished.set_priors(**more())
    with pytest.raises(BadInput, match=r"no longer tells the priors .*: give a function"):
        from_bambi(finished, schema=schema_of("y"))

    def function(data):
        model = bmb.Model("y ~ group + w", data)
        model.set_priors(**more())
        return model

    assert from_bambi(function, schema=schema_of("y")).dimension == 5


def test_priors_that_a_person_set_are_kept():
    def function(data):
        priors = {
            "Intercept": bmb.Prior("Normal", mu=1.0, sigma=2.0),
            "w": bmb.Prior("Laplace", mu=0.0, b=3.0),
            "sigma": bmb.Prior("Exponential", lam=0.7),
        }
        return bmb.Model("y ~ w", data, priors=priors)

    model = from_bambi(function, schema=schema_of("y"))
    theta = {"Intercept": 0.5, "w": -1.0, "sigma": 1.5}
    expected = scipy.stats.norm.logpdf(0.5, 1, 2) + scipy.stats.laplace.logpdf(-1, 0, 3)
    expected += scipy.stats.expon.logpdf(1.5, scale=1 / 0.7)
    theta = {name: jnp.asarray(value) for name, value in theta.items()}
    assert float(model.log_prior(theta)) == pytest.approx(expected)


def test_a_bambi_beta_regression_agrees_with_the_formula():
    """μ and κ against μ and λ: the same density, once centring is undone."""
    schema = schema_of("u")
    theirs = from_bambi(
        lambda data: bmb.Model("u ~ group + w", data, family="beta", center_predictors=False),
        schema=schema,
    )
    ours = formula("u ~ group + w", family="beta", schema=schema)
    theta = {
        "Intercept": jnp.asarray(-0.4),
        "group": jnp.array([0.5, -0.8]),
        "w": jnp.asarray(0.12),
        "kappa": jnp.asarray(4.0),
    }
    same = {
        "Intercept": theta["Intercept"],
        "group[T.a]": theta["group"][0],
        "group[T.c]": theta["group"][1],
        "w": 10 * theta["w"],
        "lambda": theta["kappa"],
    }
    table = example_table(schema, 300)
    np.testing.assert_allclose(
        theirs.record_loglik(theta, theirs.prepare(table)),
        ours.record_loglik(same, ours.prepare(table)),
        atol=1e-8,
    )
    public = {name: values for name, values in example_table(schema, 20_000).items() if name != "u"}
    one = theirs.simulate(jax.random.key(0), theta, public, 20_000)["u"]
    other = ours.simulate(jax.random.key(1), same, public, 20_000)["u"]
    assert scipy.stats.ks_2samp(one, other).pvalue > 1e-3


TABLE = frame_of(40, 0, 1.0)


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (lambda data: bmb.Model("y ~ w", TABLE), "table baked in, 'TABLE'"),
        (lambda data: bmb.Model("y ~ w", data.iloc[:50]), "baked in, or changes the one"),
        (
            lambda data: bmb.Model("y ~ w", data.assign(w=data.w - data.w.mean())),
            "write transforms",
        ),
        (lambda data: None, "returned nothing, but it must return the bambi.Model"),
        (3, "takes a bambi.Model, or a function that returns one"),
        (lambda data: bmb.Model("y ~ w", data, auto_scale=False), "'Intercept' is improper"),
    ],
)
def test_a_function_that_cannot_be_trusted_is_told_what_to_change(function, sentence):
    with pytest.raises(BadInput, match=sentence):
        from_bambi(function, schema=schema_of("y"))


def test_a_function_of_columns_is_told_to_take_a_frame():
    def takes_columns(y, w):
        return bmb.Model("y ~ w", pd.DataFrame({"y": y, "w": w}))

    with pytest.raises(BadInput, match="takes one argument, 'data'"):
        from_any(takes_columns, schema=schema_of("y"))


MODEL = """\
import bambi as bmb
import pandas as pd


def pay(data):
    return bmb.Model("salary ~ age", data, family="gamma", link="log")


finished = pay(pd.DataFrame({"salary": [1.0, 2.0, 3.0], "age": [20, 30, 50]}))
"""


@pytest.mark.parametrize("name", [pytest.param("pay", marks=pytest.mark.slow), "finished"])
def test_a_bambi_model_in_a_file_is_recognised_and_synthesised(desk, capsys, name):
    (desk / "model.py").write_text(MODEL)
    job = ["synthesize", "survey.csv", "--schema", "public.toml", "--model", f"model.py:{name}"]
    code = run([*job, "--epsilon", "4", "--out", "out", "--seed", "1"])
    assert code == 0, capsys.readouterr().err
    assert (desk / "out/public/synthetic.csv").read_text().count("\n") == 121
