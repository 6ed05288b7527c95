"""Bambi models mean what Bambi means, on any table, and take public columns only."""

import numpy as np
import pytest
import scipy.stats

bmb = pytest.importorskip("bambi")

from bambi_models import OTHER, OUTCOMES, PUBLIC, schema_of, start  # noqa: E402
from understudy import from_bambi  # noqa: E402
from understudy._jax import jax  # noqa: E402
from understudy.adapters.bambi import as_frame  # noqa: E402
from understudy.adapters.checks import example_table  # noqa: E402
from understudy.domain.schema import Schema  # noqa: E402
from understudy.errors import BadInput  # noqa: E402


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
    ours = model.record_loglik(theta, model.prepare(table))
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
    loglik = model.record_loglik(theta, model.prepare({**few, outcome: np.arange(levels)}))
    expected = np.exp(np.asarray(loglik))
    assert expected.sum() == pytest.approx(1)
    counts = np.bincount(drawn, minlength=levels)
    assert scipy.stats.chisquare(counts, rows * expected).pvalue > 1e-3


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


def test_other_confidential_columns_are_refused():
    schema = schema_of("y", u=OUTCOMES["u"])
    with pytest.raises(BadInput, match="'u' is on the right-hand side"):
        from_bambi(lambda data: bmb.Model("y ~ w + u", data), schema=schema)
    with pytest.raises(BadInput, match="synthesises 'y' alone"):
        from_bambi(lambda data: bmb.Model("y ~ w", data), schema=schema)
