"""Varying intercepts: read from a formula, scored by group, and refused where they would leak."""

import numpy as np
import pytest
from scipy.stats import kstest, norm

from understudy._jax import jax, jnp
from understudy.domain.schema import Role, Schema
from understudy.errors import BadInput
from understudy.models.formula import formula
from understudy.models.varying import Group, separate

COLUMNS = {
    "y": {"role": "confidential", "type": "continuous", "bounds": [0, 1]},
    "x": {"role": "public", "type": "continuous", "bounds": [0, 1]},
    "state": {"role": "public", "type": "categorical", "levels": ["AL", "AK", "AZ"]},
    "year of (birth | entry)": {"role": "public", "type": "binary"},
    "other": {"role": "ignore"},
}
SCHEMA = Schema.from_dict({"columns": COLUMNS})
STATE = Group("state", 3)
AWKWARD = Group("year of (birth | entry)", 2)


@pytest.mark.parametrize(
    ("text", "fixed", "groups"),
    [
        ("y ~ x", "y ~ x", ()),
        ("y ~ x + (1 | state)", "y ~ x ", (STATE,)),
        ("y ~ (1|state) + x", "y ~ x", (STATE,)),
        ("y ~ (1 | state)", "y ~ 1", (STATE,)),
        ("y ~ x + ( 1 |state ) + I(x + 1)", "y ~ x + I(x + 1)", (STATE,)),
        (f"y ~ x + (1 | `{AWKWARD.column}`)", "y ~ x ", (AWKWARD,)),
        (f"y ~ `{AWKWARD.column}` + x", f"y ~ `{AWKWARD.column}` + x", ()),
        (f"y ~ (1|state) + x + (1|`{AWKWARD.column}`)", "y ~ x ", (STATE, AWKWARD)),
        ("y ~ x | state", "y ~ x | state", ()),
    ],
)
def test_terms_are_taken_out_of_the_formula(text, fixed, groups):
    rest, found = separate(text, SCHEMA)
    assert (rest.split(), found) == (fixed.split(), groups)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("y ~ (x | state)", "lets more than the intercept vary"),
        ("y ~ (1 + x | state)", "lets more than the intercept vary"),
        ("y ~ (0 + x | state)", "lets more than the intercept vary"),
        ("y ~ (1 || state)", "lets more than the intercept vary"),
        ("y ~ x * (1 | state)", "mixes a varying intercept"),
        ("y ~ x - (1 | state)", "mixes a varying intercept"),
        ("y ~ I((1 | state))", "mixes a varying intercept"),
        ("y ~ (1 | state) + (1|state)", "the same varying intercept twice"),
        ("y ~ (1 | state/county)", "must name one column"),
        ("y ~ (1 | county)", "must name one column"),
        ("y ~ (1 | x)", "declare it categorical"),
        ("y ~ (1 | y)", "needs a public column, but 'y' has the role 'confidential'"),
        ("y ~ (1 | other)", "needs a public column, but 'other' has the role 'ignore'"),
        ("y ~ 0 + (1 | state)", "nothing on its right-hand side"),
    ],
)
def test_what_is_no_varying_intercept_is_refused(text, reason):
    with pytest.raises(BadInput, match=reason):
        formula(text, family="gaussian", schema=SCHEMA)


def test_the_unit_cannot_have_intercepts():
    person = {"person": {"role": "unit"}}
    schema = Schema.from_dict({"table": {"rows_per_unit": 2}, "columns": COLUMNS | person})
    with pytest.raises(BadInput, match="'person' is the unit that is protected"):
        formula("y ~ x + (1 | person)", family="gaussian", schema=schema)


@pytest.mark.parametrize(("family", "outcome"), [("beta", "y"), ("categorical", "kind")])
def test_each_group_shifts_the_predictor_by_its_own_intercept(family, outcome):
    kind = {"role": "confidential", "type": "categorical", "levels": ["p", "q", "r"]}
    columns = COLUMNS if outcome == "y" else {"kind": kind, **COLUMNS, "y": {"role": "ignore"}}
    schema = Schema.from_dict({"columns": columns})
    awkward = f"(1 | `{AWKWARD.column}`)"
    varying = formula(f"{outcome} ~ x + (1 | state) + {awkward}", family=family, schema=schema)
    dummies = f"{outcome} ~ 0 + x + state:C(`{AWKWARD.column}`)"
    fixed = formula(dummies, family=family, schema=schema)

    rows = 40
    generator = np.random.default_rng(0)
    table = {
        outcome: generator.integers(3, size=rows)
        if outcome == "kind"
        else generator.uniform(size=rows),
        "x": generator.uniform(size=rows),
        "state": generator.integers(3, size=rows),
        AWKWARD.column: generator.integers(2, size=rows),
    }
    theta = varying.constrain(varying.starting_points(jax.random.key(0), 1)[0])
    states = theta["1|state_sigma"] * theta["1|state_offset"]
    years = theta[AWKWARD.sigma] * theta[AWKWARD.offset]
    same = {name: theta[name] for name in ("x", "lambda") if name in theta}
    for code, state in enumerate(["AL", "AK", "AZ"]):
        for year in (0, 1):
            name = next(
                p.name
                for p in fixed.parameters
                if f"[{state}]" in p.name.replace("T.", "") and p.name.endswith(f"{year}]")
            )
            same[name] = theta["Intercept"] + states[code] + years[year]
    assert set(same) == {parameter.name for parameter in fixed.parameters}
    np.testing.assert_allclose(
        jax.jit(varying.record_loglik)(theta, varying.prepare(table)),
        jax.jit(fixed.record_loglik)(same, fixed.prepare(table)),
        rtol=1e-10,
    )


def test_every_declared_level_has_an_intercept_and_a_standard_normal_prior():
    model = formula("y ~ 1 + (1 | state)", family="bernoulli", schema=_binary())
    shapes = {parameter.name: parameter.shape for parameter in model.parameters}
    assert shapes == {"Intercept": (), "1|state_sigma": (), "1|state_offset": (3,)}
    theta = {"Intercept": 0.0, "1|state_sigma": 1.0, "1|state_offset": np.zeros(3)}
    one = model.log_prior({name: jnp.asarray(value) for name, value in theta.items()})
    theta["1|state_offset"] = np.array([1.0, -2.0, 0.0])
    other = model.log_prior({name: jnp.asarray(value) for name, value in theta.items()})
    assert float(one - other) == pytest.approx(2.5)


def test_simulated_groups_differ_by_their_intercepts():
    model = formula("y ~ 1 + (1 | state)", family="bernoulli", schema=_binary())
    theta = {"Intercept": 0.0, "1|state_sigma": 2.0, "1|state_offset": np.array([-1.0, 0.0, 1.0])}
    codes = np.arange(9000) % 3
    drawn = model.simulate(
        jax.random.key(0),
        {name: jnp.asarray(value) for name, value in theta.items()},
        {"state": codes},
        9000,
    )["y"]
    shares = [drawn[codes == k].mean() for k in range(3)]
    # Four standard errors of a share of 3000.
    np.testing.assert_allclose(shares, 1 / (1 + np.exp([2.0, 0.0, -2.0])), atol=0.037)


def _binary():
    outcome = {"role": str(Role.CONFIDENTIAL), "type": "binary"}
    return Schema.from_dict({"columns": {"y": outcome, "state": COLUMNS["state"]}})


def test_balanced_rows_are_even_in_every_group():
    """Where outcomes stand in their own distributions is even for each state, and altogether."""
    model = formula("y ~ x + (1 | state)", family="gaussian", schema=SCHEMA)
    theta = {
        "Intercept": jnp.asarray(0.4),
        "x": jnp.asarray(0.3),
        STATE.sigma: jnp.asarray(0.2),
        STATE.offset: jnp.asarray([-1.0, 0.0, 1.5]),
        "sigma": jnp.asarray(0.15),
    }
    public = {
        "x": np.linspace(0, 1, 720),
        "state": np.arange(720) % 3,
        AWKWARD.column: np.ones(720),
    }
    made = model.balanced(np.random.default_rng(0), theta, public, 720)["y"]
    centre = 0.4 + 0.3 * public["x"] + 0.2 * np.array([-1.0, 0.0, 1.5])[public["state"]]
    low, high = norm.cdf(-centre / 0.15), norm.cdf((1 - centre) / 0.15)
    u = (norm.cdf((made - centre) / 0.15) - low) / (high - low)
    assert np.array_equal(np.sort((720 * u + 1e-6).astype(int)), np.arange(720))
    for code in range(3):
        # Of independent rows the distance is this large in two of three tables.
        assert kstest(u[public["state"] == code], "uniform").statistic < 0.045
