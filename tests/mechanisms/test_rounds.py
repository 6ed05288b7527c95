"""Rounds: what is measured depends on what is public alone, and says how to compute it again."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import understudy as us
from summaries import ANSWER, BETA, CONFIDENTIAL, PUBLIC, schema_of
from understudy.inference import tables
from understudy.inference.allowance import Allowance, together
from understudy.inference.contribution import TableContribution
from understudy.inference.grouping import cells_of, grouped, public_groups, shares_of_codes
from understudy.inference.noisy_tables import tables_of
from understudy.inference.tables import table_plan, variables_of
from understudy.mechanisms import Summary, rounds
from understudy.mechanisms.choosing import Choice
from understudy.synthesis.preparation import prepare

AMOUNT = CONFIDENTIAL | {"type": "continuous", "bounds": [0, 1000]}
WEEKS = CONFIDENTIAL | {"type": "integer", "bounds": [1, 52]}
JOINT = us.joint(schema_of(size=400, amount=AMOUNT, answer=ANSWER))
GENERATOR = np.random.default_rng(2)
TABLE = pd.DataFrame(
    {"amount": GENERATOR.gamma(3, 60, 400).clip(0, 1000), "answer": ["no", "yes"] * 200}
)


def asked(model, table, **settings):
    return prepare(model, table, Summary(**({"epsilon": 1.0} | settings)), seed=3)


def measured(request):
    return request.mechanism.plan(request).measure()


def pairs_of(measurement):
    return [(t.one.column.name, t.other.column.name) for t in measurement.contribution.tables]


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


@pytest.mark.parametrize("model", [JOINT, us.mixture(JOINT.schema)], ids=["joint", "mixture"])
def test_an_anchor_is_refused_for_a_whole_table(model):
    theta = {p.name: np.zeros(p.shape).tolist() for p in model.parameters}
    request = asked(model, TABLE, anchor=theta)
    with pytest.raises(us.BadInput, match="measured from the beginning"):
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


def test_what_is_published_has_choices_before_what_followed_from_them():
    choice = Choice((("a", "b"),), 3, 1.0, Allowance(epsilon=1.0), None)
    one, two, three, four = (object() for _ in range(4))
    found = rounds.Rounds(None, (one, two, three), None, np.zeros(0), (four,), (choice, choice))
    assert found.published == (four, one, choice, two, choice, three)
    assert replace(found, choices=()).published == found.measurements == (four, one, two, three)


def test_the_table_is_read_by_sums_alone(monkeypatch):
    """With the same counts, tables of other people lead to the same rounds and the same model."""

    def fixed(self, columns):
        return np.arange(self.width) * 1000 % 777

    monkeypatch.setattr(TableContribution, "total", fixed)
    others = pd.DataFrame({"amount": [1.0, 2.0, 1000.0], "answer": ["yes"] * 3})
    one, two = (measured(asked(JOINT, table)) for table in (TABLE, others))
    assert [m.to_dict() for m in one.published] == [m.to_dict() for m in two.published]
    assert one.population.model.spec == two.population.model.spec


def test_known_rows_and_their_number_belong_to_the_population():
    schema = schema_of(size=999, amount=AMOUNT, g=PUBLIC)
    table = TABLE[["amount"]].assign(g=["a", "b"] * 200)
    population = rounds.population_of(asked(us.joint(schema), table))
    assert (population.size, population.known) == (400, True)
    assert rounds.population_of(asked(BETA, pd.DataFrame({"x": [0.5] * 30}))).size == 2000


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("whole", [False, True])
def test_what_is_inferred_does_not_depend_on_the_order_of_the_table(whole, weighted):
    """A table may be sorted by what is confidential, beside public values that are copied."""
    generator = np.random.default_rng(4)
    columns = {"answer": ANSWER, "g": PUBLIC}
    table = pd.DataFrame({"g": generator.choice(["a", "b"], 300)})
    table["answer"] = np.where(generator.random(300) < 0.3 + 0.3 * (table["g"] == "b"), "yes", "no")
    if weighted:
        weight = {"type": "continuous", "bounds": [0, 4], "average": 1}
        columns["weight"] = weight | {"role": "survey-weight"}
        table["weight"] = generator.uniform(0.5, 2, 300)
    schema = schema_of(size=300, **columns)
    model = (
        us.joint(schema) if whole else us.formula("answer ~ g", family="bernoulli", schema=schema)
    )
    first, other = (
        us.synthesize(model, each.reset_index(drop=True), Summary(epsilon=1.0), seed=5)
        for each in (table, table.sort_values("answer"))
    )
    for key in ("rounds", "estimate", "draws"):
        assert first.parameters[0][key] == other.parameters[0][key], key
