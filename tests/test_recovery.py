"""Simulate from every family at a known θ, fit the ordinary posterior, and find θ again."""

import numpy as np
import pytest

import understudy as us
from understudy._jax import jax, jnp
from understudy.samplers import nuts
from understudy.score import Row
from understudy.support.randomness import Source

N = 500
GROUPS = 8
LEVELS = [f"g{k}" for k in range(GROUPS)]
PREDICTORS = {
    "x": {"role": "public", "type": "continuous", "bounds": [0, 1]},
    "g": {"role": "public", "type": "categorical", "levels": LEVELS},
}
NUMBER = {"role": "confidential", "type": "continuous", "bounds": [-50, 150]}
COUNT = {"role": "confidential", "type": "count", "bounds": [0, 30]}
WIDE = {"role": "confidential", "type": "count", "bounds": [0, 300]}
BINARY = {"role": "confidential", "type": "binary"}
KIND = {"role": "confidential", "type": "categorical", "levels": ["p", "q", "r"]}

TRUTHS = [
    ("gaussian", NUMBER, {"Intercept": 0.3, "x": 0.4, "sigma": 0.2}),
    ("student", NUMBER, {"Intercept": 0.3, "x": 0.3, "sigma": 0.06, "nu": 3.0}),
    ("lognormal", NUMBER, {"Intercept": -2.0, "x": 1.0, "sigma": 0.7}),
    ("gamma", NUMBER, {"Intercept": -2.0, "x": 1.0, "shape": 2.0}),
    ("beta", NUMBER, {"Intercept": -0.5, "x": 1.0, "lambda": 6.0}),
    (
        "zero-inflated-beta",
        NUMBER,
        {"Intercept": -0.5, "x": 1.0, "lambda": 6.0, "at_lower": 0.2},
    ),
    (
        "zero-one-inflated-beta",
        NUMBER,
        {"Intercept": -0.5, "x": 1.0, "lambda": 6.0, "at_bounds": 0.3, "upper_share": 0.4},
    ),
    ("poisson", COUNT, {"Intercept": -2.5, "x": 1.0}),
    ("poisson", WIDE, {"Intercept": -1.0, "x": 0.8}),
    ("negative-binomial", COUNT, {"Intercept": -2.0, "x": 1.0, "shape": 2.0}),
    ("negative-binomial", WIDE, {"Intercept": -1.5, "x": 1.0, "shape": 3.0}),
    ("bernoulli", BINARY, {"Intercept": -0.5, "x": 1.5}),
    ("categorical", KIND, {"Intercept": [0.5, -0.5], "x": [-1.0, 1.0]}),
    ("ordinal", KIND, {"x": 1.5, "shares": [0.3, 0.5, 0.2]}),
]


@pytest.fixture(autouse=True)
def short_chains(monkeypatch):
    monkeypatch.setattr(nuts, "ROUND", 50)
    monkeypatch.setattr(nuts, "BLOCK", 250)


def fitted(model, truth, seed=0):
    """Return the posterior draws by name, given records simulated at the truth."""
    generator = np.random.default_rng(seed)
    public = {"x": generator.uniform(size=N), "g": generator.integers(GROUPS, size=N)}
    theta = {name: jnp.asarray(value) for name, value in truth.items()}
    outcome = model.simulate(jax.random.key(seed + 1), theta, public, N)
    row = Row(jnp.ones(N), jnp.zeros(N), jnp.asarray(np.inf))
    fit = nuts.nuts(
        model, model.prepare({**public, **outcome}), row, Source(seed), largest_blocks=1
    )
    return {name: draws.reshape(-1, *draws.shape[2:]) for name, draws in fit.theta.items()}


FAST = (("gaussian", NUMBER), ("bernoulli", BINARY))
"""A number and a level; compiling the chains of a family takes seconds."""


@pytest.mark.parametrize(
    ("family", "outcome", "truth"),
    [
        pytest.param(
            *(family, outcome, truth),
            id=f"{family}-{outcome.get('bounds', '')}",
            marks=[] if (family, outcome) in FAST else pytest.mark.slow,
        )
        for family, outcome, truth in TRUTHS
    ],
)
def test_the_truth_lies_within_four_posterior_standard_deviations(family, outcome, truth):
    schema = us.Schema.from_dict({"columns": {"y": outcome, **PREDICTORS}})
    model = us.formula("y ~ x", family=family, schema=schema)
    for name, draws in fitted(model, truth).items():
        distance = np.abs(draws.mean(axis=0) - truth[name]) / draws.std(axis=0)
        assert np.all(distance < 4), name
        # A posterior that had learned nothing would hold any truth.
        assert np.all(draws.std(axis=0) < 0.5 * np.maximum(1, np.abs(truth[name]))), name


@pytest.mark.slow
def test_varying_intercepts_are_recovered():
    truth = {
        "Intercept": 0.2,
        "x": 0.5,
        "1|g_sigma": 1.0,
        "1|g_offset": np.array([-1.5, -1.0, -0.5, 0.0, 0.3, 0.7, 1.0, 1.6]),
    }
    schema = us.Schema.from_dict({"columns": {"y": COUNT, **PREDICTORS}})
    model = us.formula("y ~ x + (1 | g)", family="poisson", schema=schema)
    truth["Intercept"] = -2.5
    draws = fitted(model, truth)
    # What a group adds to the intercept is identified; its split between the two less so.
    together = draws["Intercept"][:, None] + draws["1|g_sigma"][:, None] * draws["1|g_offset"]
    expected = truth["Intercept"] + truth["1|g_sigma"] * truth["1|g_offset"]
    distance = np.abs(together.mean(axis=0) - expected) / together.std(axis=0)
    assert np.all(distance < 4)
    assert np.all(together.std(axis=0) < 0.3)
    assert draws["1|g_sigma"].mean() == pytest.approx(1.0, abs=0.6)
