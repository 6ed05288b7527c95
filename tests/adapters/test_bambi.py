"""Bambi models: nothing in them comes from the table, and they mean what Bambi means."""

import numpy as np
import pandas as pd
import pytest
import scipy.stats

bmb = pytest.importorskip("bambi")

from understudy import formula, from_bambi  # noqa: E402
from understudy._jax import jax, jnp  # noqa: E402
from understudy.adapters.bambi import as_frame  # noqa: E402
from understudy.adapters.checks import example_table  # noqa: E402
from understudy.adapters.recognise import from_any  # noqa: E402
from understudy.cli import run  # noqa: E402
from understudy.domain.schema import Schema  # noqa: E402
from understudy.errors import BadInput  # noqa: E402

PUBLIC = {
    "group": {"role": "public", "type": "categorical", "levels": ["b", "a", "c"]},
    "state": {"role": "public", "type": "categorical", "levels": [f"s{k}" for k in range(12)]},
    "w": {"role": "public", "type": "continuous", "bounds": [0, 10]},
}
OUTCOMES = {
    "y": {"role": "confidential", "type": "continuous", "bounds": [-20, 20]},
    "u": {"role": "confidential", "type": "continuous", "bounds": [0, 1]},
    "k": {"role": "confidential", "type": "binary"},
    "answer": {"role": "confidential", "type": "binary", "levels": ["yes", "no"]},
    "kind": {"role": "confidential", "type": "categorical", "levels": ["x", "q", "z"]},
    "count": {"role": "confidential", "type": "count", "bounds": [0, 40]},
}
OTHER = {"role": "ignore"}


def hierarchy():
    return bmb.Prior("Normal", mu=0, sigma=bmb.Prior("HalfNormal", sigma=0.7))


def schema_of(outcome, **more):
    ignored = {name: OTHER for name in OUTCOMES if name != outcome}
    return Schema.from_dict({"columns": {**PUBLIC, outcome: OUTCOMES[outcome], **ignored, **more}})


def start(model, seed=0, scale=0.3):
    return model.constrain(scale * model.starting_points(jax.random.key(seed), 1)[0])


def as_pymc_says(text, family, table, schema, theta, **options):
    """Return record log-likelihoods from PyMC's own graph of a Bambi model built on a table."""
    import pymc as pm

    built = bmb.Model(text, as_frame(table, schema), family=family, **options)
    built.build()
    model = built.backend.model
    known = {variable: np.asarray(theta[variable.name]) for variable in model.free_RVs}
    inputs = {variable: variable.type() for variable in known}
    found = pm.logprob.conditional_logp(
        {**inputs, **{each: model.rvs_to_values[each] for each in model.observed_RVs}}
    )
    (observed,) = model.observed_RVs
    density = found[model.rvs_to_values[observed]]
    function = pm.compile(
        list(inputs.values()), density, mode="FAST_COMPILE", on_unused_input="ignore"
    )
    return function(*known.values())


@pytest.mark.parametrize(
    ("text", "family", "outcome"),
    [
        ("y ~ group * w + (w | state)", "gaussian", "y"),
        pytest.param("y ~ 1", "t", "y", marks=pytest.mark.slow),
        pytest.param("u ~ w", "beta", "u", marks=pytest.mark.slow),
        pytest.param("k ~ w + (1 | state)", "bernoulli", "k", marks=pytest.mark.slow),
        pytest.param("kind ~ w + (1 | group)", "categorical", "kind", marks=pytest.mark.slow),
        ("count ~ 0 + group + offset(w)", "negativebinomial", "count"),
    ],
)
def test_a_bambi_model_has_the_likelihood_that_bambi_gives_it(text, family, outcome):
    """Without centring and learned constants, Bambi means the same on every table."""
    schema, options = schema_of(outcome), {"center_predictors": False}

    def function(data):
        return bmb.Model(text, data, family=family, **options)

    model = from_bambi(function, schema=schema)
    table, theta = example_table(schema, 400), start(model)
    expected = as_pymc_says(text, family, table, schema, theta, **options)
    ours = jax.jit(model.record_loglik)(theta, model.prepare(table))
    np.testing.assert_allclose(ours, expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize(
    "text",
    [
        "y ~ scale(w)",
        "y ~ center(w) + standardize(w)",
        "y ~ bs(w, df=5)",
        "y ~ poly(w, 3)",
        pytest.param("y ~ group + (scale(w) | state)", marks=pytest.mark.slow),
    ],
)
def test_learned_constants_come_from_the_schema(text):
    """A record's row of the design does not care which table it stands in."""
    schema = schema_of("y")
    model = from_bambi(lambda data: bmb.Model(text, data), schema=schema)
    table, theta = example_table(schema, 60), start(model)
    chosen = np.argsort(table["w"])[:9]
    part = {name: values[chosen] for name, values in table.items()}
    together = np.asarray(model.record_loglik(theta, model.prepare(table)))[chosen]
    np.testing.assert_array_equal(together, model.record_loglik(theta, model.prepare(part)))
    ends = {**{name: values[:2] for name, values in table.items()}, "w": np.array([0.0, 10.0])}
    assert np.isfinite(model.record_loglik(theta, model.prepare(ends))).all()


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
        jax.jit(one.record_loglik)(theta, one.prepare(table)),
        jax.jit(other.record_loglik)(theta, other.prepare(table)),
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
        jax.jit(theirs.record_loglik)(theta, theirs.prepare(table)),
        jax.jit(ours.record_loglik)(same, ours.prepare(table)),
        atol=1e-8,
    )
    public = {name: values for name, values in example_table(schema, 20_000).items() if name != "u"}
    one = theirs.simulate(jax.random.key(0), theta, public, 20_000)["u"]
    other = ours.simulate(jax.random.key(1), same, public, 20_000)["u"]
    assert scipy.stats.ks_2samp(one, other).pvalue > 1e-3


@pytest.mark.parametrize(
    ("outcome", "family"),
    [
        pytest.param("kind", "categorical", marks=pytest.mark.slow),
        ("kind", "cumulative"),
        ("answer", "bernoulli"),
        ("k", "bernoulli"),
    ],
)
@pytest.mark.filterwarnings("ignore:The intercept is omitted")
def test_simulated_levels_have_the_probabilities_of_their_likelihood(outcome, family):
    """Levels go into Bambi's codes and come back: each level as often as its likelihood says."""
    schema = schema_of(outcome)
    model = from_bambi(lambda data: bmb.Model(f"{outcome} ~ w", data, family=family), schema=schema)
    rows, theta = 20_000, start(model, seed=1)
    levels = len(schema.column(outcome).levels)
    public = {"w": np.full(rows, 3.0), "group": np.zeros(rows, int), "state": np.zeros(rows, int)}
    drawn = model.simulate(jax.random.key(3), theta, public, rows)[outcome]
    few = {name: values[:levels] for name, values in public.items()}
    loglik = jax.jit(model.record_loglik)(theta, model.prepare({**few, outcome: np.arange(levels)}))
    expected = np.exp(np.asarray(loglik))
    assert expected.sum() == pytest.approx(1)
    counts = np.bincount(drawn, minlength=levels)
    assert scipy.stats.chisquare(counts, rows * expected).pvalue > 1e-3


TABLE = frame_of(40, 0, 1.0)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("y ~ w + u", "'u' is on the right-hand side, but predictors .* must be public"),
        ("y ~ w + y", "'y' is on the right-hand side"),
        ("y ~ (1 | u)", "'u' is on the right-hand side"),
        ("np.log(y + 21) ~ w", "on the left-hand side, but that must be a confidential column"),
        ("w ~ group", "'w' is on the left-hand side"),
        ("y ~ np.cumsum(w)", "depends on other records"),
        ("y ~ I(w - np.mean(w))", "depends on other records"),
        ("y ~ hsgp(w, m=5, c=2)", r"something that is not known here, as it does for hsgp\(\)"),
        ("y ~ nothing", "raised .*nothing"),
    ],
)
def test_a_formula_that_cannot_be_trusted_is_told_what_to_change(text, sentence):
    schema = Schema.from_dict({"columns": {**PUBLIC, "y": OUTCOMES["y"], "u": OTHER}})
    with pytest.raises(BadInput, match=sentence):
        from_bambi(
            lambda data: bmb.Model(text, data.assign(u=np.linspace(0, 1, len(data)))),
            schema=schema,
        )


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


def test_other_confidential_columns_are_refused():
    schema = schema_of("y", u=OUTCOMES["u"])
    with pytest.raises(BadInput, match="'u' is on the right-hand side"):
        from_bambi(lambda data: bmb.Model("y ~ w + u", data), schema=schema)
    with pytest.raises(BadInput, match="synthesises 'y' alone"):
        from_bambi(lambda data: bmb.Model("y ~ w", data), schema=schema)


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
    code = run([*job, "--epsilon", "4", "--out", "out", "--seed", "1", "--candidates", "256"])
    assert code == 0, capsys.readouterr().err
    assert (desk / "out/public/synthetic.csv").read_text().count("\n") == 121
