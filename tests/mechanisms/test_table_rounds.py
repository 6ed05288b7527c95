"""Rounds of whole tables: what is measured depends on what is public alone."""

import numpy as np
import pandas as pd
import pytest

import understudy as us
from summaries import ANSWER, CONFIDENTIAL, PUBLIC, schema_of
from understudy._jax import jnp
from understudy.inference import tables
from understudy.inference.allowance import together
from understudy.inference.contribution import TableContribution
from understudy.inference.grouping import cells_of, grouped, public_groups, shares_of_codes
from understudy.inference.noisy_tables import tables_of
from understudy.inference.tables import table_plan, variables_of
from understudy.mechanisms import Summary
from understudy.synthesis.preparation import prepare

AMOUNT = CONFIDENTIAL | {"type": "continuous", "bounds": [0, 1000]}
WEEKS = CONFIDENTIAL | {"type": "integer", "bounds": [1, 52]}
JOINT = us.joint(schema_of(size=400, amount=AMOUNT, answer=ANSWER))
GENERATOR = np.random.default_rng(2)
SUMMARY = Summary(epsilon=1.0)
TABLE = pd.DataFrame(
    {"amount": GENERATOR.gamma(3, 60, 400).clip(0, 1000), "answer": ["no", "yes"] * 200}
)


def asked(model, table, **settings):
    return prepare(model, table, Summary(**({"epsilon": 1.0} | settings)), seed=3)


def measured(request):
    return request.mechanism.plan(request).measure()


def pairs_of(measurement):
    return pairs_of_tables(measurement.contribution.tables)


def pairs_of_tables(tables):
    return [(table.one.column.name, table.other.column.name) for table in tables]


def test_whole_tables_are_measured_by_columns_first_and_then_by_pairs():
    one, two = measured(asked(JOINT, TABLE)).measurements
    assert [t.column.name for t in one.contribution.tables] == ["amount", "answer"]
    assert pairs_of(two) == [("amount", "answer")]
    assert one.epsilon + two.epsilon == pytest.approx(1.0)


@pytest.mark.parametrize("delta", [None, 1e-6])
def test_groups_of_pairs_come_from_what_was_published(delta):
    """The same noisy counts make the same groups, whatever table lies behind them."""
    schema = schema_of(size=400, amount=AMOUNT, weeks=WEEKS, answer=ANSWER)
    table = TABLE.assign(weeks=np.where(np.arange(400) % 3, 52, np.arange(400) % 52 + 1))
    request = asked(us.joint(schema), table, delta=delta)
    plan = request.mechanism.plan(request)
    one, two = plan.measure().measurements
    groups = table_plan(request.model, together(plan._shares), 400).groups
    variables, single = variables_of(schema), tables_of((one,)).single
    again = {
        name: cells_of(each, grouped(each, shares_of_codes(each, single[name]), groups))
        for name, each in variables.items()
    }
    for pair in two.contribution.tables:
        for cells in (pair.one, pair.other):
            assert cells == again[cells.column.name]


def test_the_model_of_a_release_has_the_groups_and_pairs_that_were_measured():
    found = measured(asked(JOINT, TABLE))
    model, (_, two) = found.population.model, found.measurements
    pair = two.contribution.tables[0]
    for cells in (pair.one, pair.other):
        own = model.in_turn.grouped[cells.column.name]
        assert cells_of(own.variable, own.groups) == cells
    assert [len(term.parents) for term in model.in_turn.terms] == [0, 1]


MIXTURE = us.mixture(JOINT.schema)


def theta_of(model):
    return {p.name: np.zeros(p.shape).tolist() for p in model.parameters}


@pytest.mark.parametrize("model", [JOINT, MIXTURE], ids=["joint", "mixture"])
def test_an_anchored_whole_table_is_measured_at_once(model):
    theta = dict(model.constrain(jnp.zeros(model.dimension)))
    request = asked(model, TABLE, anchor=theta)
    (only,) = measured(request).measurements
    assert only.epsilon == pytest.approx(1.0)
    assert request.mechanism.plan(request).stages == 1
    *single, pair = only.contribution.tables
    assert [table.column.name for table in single] == ["amount", "answer"]
    assert (pair.one.column.name, pair.other.column.name) == ("amount", "answer")


@pytest.mark.parametrize("model", [JOINT, MIXTURE], ids=["joint", "mixture"])
def test_groups_are_those_of_the_anchor_whatever_the_table_holds(model):
    """θ₀ has amounts near the upper bound; in the table they are near the lower one."""
    earlier = us.synthesize(model, TABLE.assign(amount=1000 - TABLE["amount"]), SUMMARY, seed=1)
    mechanism = SUMMARY.following(earlier.parameters[0]["parameters"], earlier.model)
    found = [
        prepare(model, table, mechanism, seed=3)
        for table in (TABLE, TABLE.assign(amount=GENERATOR.permutation(TABLE["amount"])))
    ]
    pairs = [measured(each).measurements[0].contribution.tables[-1] for each in found]
    assert pairs[0] == pairs[1]
    assert np.median(pairs[0].one.edges) > 600


def test_of_many_columns_the_pairs_are_the_anchor_s():
    names = [f"y{k}" for k in range(13)]
    schema = schema_of(size=400, **{name: ANSWER for name in names})
    drawn = np.random.default_rng(4).choice(["no", "yes"], (400, 13))
    table = pd.DataFrame(drawn, columns=names)
    earlier = us.synthesize(us.joint(schema), table, SUMMARY, seed=1)
    told = earlier.parameters[0]["rounds"]
    chosen = [pair for each in told if each["kind"] == "choice" for pair in each["noisy"]]
    mechanism = SUMMARY.following(earlier.parameters[0]["parameters"], earlier.model)
    found = measured(prepare(us.joint(schema), table, mechanism, seed=3))
    assert not found.choices
    (only,) = found.measurements
    kept = pairs_of_tables(only.contribution.tables[13:])
    assert len(kept) == 26
    assert {frozenset(pair) for pair in kept} == {frozenset(pair) for pair in chosen}


@pytest.mark.parametrize(
    ("anchor", "reason"),
    [
        ({"phi": 0.5, "lambda": 2.0}, "not a value of the model's parameters"),
        ({"model": JOINT.spec, "parameters": {}}, "not a value of the model's parameters"),
        ({"model": {"name": "mixture"}, "parameters": {}}, "of another model"),
        ({"model": "joint", "parameters": {}}, "of another model"),
        ({"model": JOINT.spec | {"groups": {}}, "parameters": {}}, "cannot be read"),
        (
            {"model": JOINT.spec | {"groups": {"amount": [7]}, "parents": {}}, "parameters": {}},
            "not groups of its codes",
        ),
    ],
)
def test_what_is_no_anchor_of_a_whole_table_is_refused(anchor, reason):
    request = asked(JOINT, TABLE, anchor=anchor)
    with pytest.raises(us.BadInput, match=reason):
        request.mechanism.plan(request)


def test_nothing_is_carried_over_to_a_whole_table():
    theta = theta_of(JOINT)
    request = asked(JOINT, TABLE, anchor=theta, carried=[theta] * 1000)
    with pytest.raises(us.BadInput, match="not carried over to a whole table"):
        request.mechanism.plan(request)


def test_one_column_needs_one_round():
    alone = us.joint(schema_of(size=400, amount=AMOUNT))
    request = asked(alone, TABLE[["amount"]])
    (only,) = measured(request).measurements
    assert only.epsilon == pytest.approx(1.0)
    assert request.mechanism.plan(request).stages == 1


def test_public_columns_are_paired_with_confidential_ones_only():
    schema = schema_of(size=400, amount=AMOUNT, answer=ANSWER, g=PUBLIC)
    table = TABLE.assign(g=["a", "b"] * 200)
    one, pairs = measured(asked(us.joint(schema), table)).measurements
    assert pairs_of(pairs) == [("amount", "answer"), ("g", "amount"), ("g", "answer")]
    assert [t.column.name for t in one.contribution.tables] == ["amount", "answer"]


def test_groups_of_a_public_number_come_from_its_rows():
    age = {"role": "public", "type": "integer", "bounds": [0, 120]}
    schema = schema_of(size=400, answer=ANSWER, age=age)
    table = TABLE[["answer"]].assign(age=20 + np.arange(400) % 50)
    request = asked(us.joint(schema), table)
    plan = request.mechanism.plan(request)
    _, pairs = plan.measure().measurements
    groups = table_plan(request.model, together(plan._shares), 400).groups
    one = variables_of(schema)["age"]
    public = {"age": table["age"].to_numpy(dtype=float)}
    (pair,) = pairs.contribution.tables
    assert pair.one == cells_of(one, public_groups(one, public, groups))


@pytest.mark.parametrize("delta", [None, 1e-6])
def test_a_column_that_is_nearly_constant_is_not_paired(delta):
    names = [f"y{k}" for k in range(5)]
    schema = schema_of(size=400, **{name: ANSWER for name in names})
    table = pd.DataFrame({n: np.random.default_rng(4).choice(["no", "yes"], 400) for n in names})
    request = asked(us.joint(schema), table.assign(y3="no"), epsilon=3.0, delta=delta)
    _, pairs = measured(request).measurements
    assert not [pair for pair in pairs_of(pairs) if "y3" in pair]
    assert len(pairs_of(pairs)) == 6


def test_a_model_that_is_not_fitted_in_turn_has_all_pairs_in_one_round(monkeypatch):
    monkeypatch.setattr(tables, "ALL_PAIRS", 0)
    model = us.mixture(JOINT.schema)
    found = measured(asked(model, TABLE))
    assert len(found.published) == 2
    assert pairs_of(found.measurements[1]) == [("amount", "answer")]
    assert found.population.model is model
    assert np.isfinite(found.far).all()


def test_the_table_is_read_by_sums_alone(monkeypatch):
    """With the same counts, tables of other people lead to the same rounds and the same model."""

    def fixed(self, columns):
        return np.arange(self.width) * 1000 % 777

    monkeypatch.setattr(TableContribution, "total", fixed)
    others = pd.DataFrame({"amount": [1.0, 2.0, 1000.0], "answer": ["yes"] * 3})
    one, two = (measured(asked(JOINT, table)) for table in (TABLE, others))
    assert [m.to_dict() for m in one.published] == [m.to_dict() for m in two.published]
    assert one.population.model.spec == two.population.model.spec
