"""What is read back from a file measures what was measured."""

import copy

import jax
import numpy as np
import pandas as pd
import pytest

import understudy as us
from summaries import ANSWER, BETA, CONFIDENTIAL, PUBLIC, SHARE, schema_of
from understudy.inference.allowance import Allowance
from understudy.inference.cells import Cells, Pair
from understudy.inference.contribution import TableContribution
from understudy.inference.measurement import Measurement, Noise
from understudy.inference.rebuilt import measurements
from understudy.mechanisms.choosing import Choice
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


def joint_rounds():
    """Return rounds of a whole table, with a choice among them and a spike that is apart."""
    heap = CONFIDENTIAL | {"type": "continuous", "bounds": [0, 900], "spikes": [0, 450]}
    schema = schema_of(500, x=heap, y=ANSWER)
    model = us.joint(schema)
    zeros = Cells(schema.column("x"), (100.0, 300.0), (0.0, 450.0))
    answer = Cells(schema.column("y"))
    found = []
    for tables in ((zeros, answer), (Pair(zeros, answer),)):
        made = TableContribution(model, tables, (3, 5)[: len(tables)], norm=2)
        noise = Noise(40.0, "discrete-gaussian")
        found.append(Measurement(made, np.arange(made.width), noise, None, 0.1).to_dict())
    choice = Choice((("x", "y"),), 1, 2.0, Allowance(rho=0.1), None).to_dict()
    return model, [found[0], choice, found[1]]


def test_tables_with_spikes_are_read_back_and_choices_are_no_measurement():
    model, rounds = joint_rounds()
    found = measurements(rounds, model)
    assert [each.to_dict() for each in found] == [rounds[0], rounds[2]]
    columns = {"x": np.array([0.0, 1.0, 450.0, 899.0]), "y": np.array([0, 1, 1, 0])}
    each = found[0].contribution.each(columns)
    assert each.argmax(axis=1).tolist() == [5, 6, 6, 5]
    assert each[:, :5].argmax(axis=1).tolist() == [3, 0, 4, 2]


@pytest.mark.parametrize(
    "damage",
    [
        lambda tables: tables[0].update(spikes=[450.0, 0.0]),
        lambda tables: tables[0].update(spikes=[0.0, 0.0]),
        lambda tables: tables[0].update(spikes=["x"]),
        lambda tables: tables[0].update(weight=0),
        lambda tables: tables[0].update(edges=[100.0]),
        lambda tables: tables[1].pop("column"),
        lambda tables: tables.pop(),
        lambda tables: tables.clear(),
    ],
)
def test_tables_that_no_release_would_hold_are_damage(damage):
    model, rounds = joint_rounds()
    damage(rounds[0]["definition"]["tables"])
    with pytest.raises(us.BadInput, match="the file is damaged"):
        measurements(rounds, model)


@pytest.mark.parametrize(
    "damage",
    [
        lambda rounds: rounds[0].pop("definition"),
        lambda rounds: rounds[0].update(kind="magic"),
        lambda rounds: rounds[0].pop("kind"),
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
