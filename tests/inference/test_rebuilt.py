"""What is read back from a file measures what was measured."""

import copy

import jax
import numpy as np
import pandas as pd
import pytest

import understudy as us
from summaries import ANSWER, BETA, PUBLIC, SHARE, schema_of
from understudy.inference.rebuilt import measurements
from understudy.models.record.declared import as_declared

GENERATOR = np.random.default_rng(1)
TABLE = pd.DataFrame(
    {
        "x": GENERATOR.beta(2, 5, 500),
        "g": GENERATOR.choice(["a", "b"], 500),
        "y": GENERATOR.choice(["no", "yes"], 500),
    }
)
REGRESSION = us.formula("x ~ g", family="beta", schema=schema_of(500, x=SHARE, g=PUBLIC))
JOINT = us.joint(schema_of(500, x=SHARE, y=ANSWER))
MODELS = {"beta": BETA, "regression": REGRESSION, "joint": JOINT}


def rounds_of(model, **given):
    table = TABLE[list(model.schema.names)]
    release = us.synthesize(model, table, us.Summary(epsilon=1.0, **given), seed=3)
    return release.parameters[0]["rounds"]


@pytest.fixture(scope="module")
def beta_rounds():
    return rounds_of(BETA)


@pytest.mark.parametrize(
    "name", ["beta", "regression", pytest.param("joint", marks=pytest.mark.slow)]
)
def test_a_round_trip_changes_nothing(name):
    model = MODELS[name]
    rounds = rounds_of(model)
    declared = as_declared(model)
    found = measurements(rounds, declared.row or declared)
    assert [each.to_dict() for each in found] == rounds
    again = measurements([each.to_dict() for each in found], declared.row or declared)
    public = {"g": np.arange(20) % 2} if model is REGRESSION else {}
    theta = declared.constrain(np.zeros(declared.dimension))
    columns = {**public, **model.simulate(jax.random.key(0), theta, public, 20)}
    for one, other in zip(found, again, strict=True):
        assert np.array_equal(one.contribution.each(columns), other.contribution.each(columns))
        assert np.array_equal(one.laplace, other.laplace)


@pytest.mark.slow
def test_normal_noise_is_read_back_as_such():
    rounds = rounds_of(BETA, delta=1e-6)
    found = measurements(rounds, BETA)
    assert all(each.normal for each in found)
    assert [each.to_dict() for each in found] == rounds


@pytest.mark.parametrize(
    "damage",
    [
        lambda rounds: rounds[0].pop("definition"),
        lambda rounds: rounds[0].update(kind="magic"),
        lambda rounds: rounds[0]["noisy"].pop(),
        lambda rounds: rounds[0]["noise"].update(scale=0.0),
        lambda rounds: rounds[0]["noise"].update(distribution="cauchy"),
        lambda rounds: rounds[0]["definition"]["tables"][0].update(column="nobody"),
        lambda rounds: rounds[1]["definition"].update(z=[0.0]),
        lambda rounds: rounds[1]["definition"].update(directions=[[1.0]]),
        lambda rounds: rounds[1]["definition"].update(norm=3),
        lambda rounds: rounds[1]["definition"].update(unit=1),
        lambda rounds: rounds.append(7),
    ],
)
def test_what_no_release_would_hold_is_damage(beta_rounds, damage):
    rounds = copy.deepcopy(beta_rounds)
    damage(rounds)
    with pytest.raises(us.BadInput, match="the file is damaged"):
        measurements(rounds, BETA)
