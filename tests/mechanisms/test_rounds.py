"""Rounds: what is measured depends on what is public alone, and says how to compute it again."""

import numpy as np
import pandas as pd
import pytest

import understudy as us
from summaries import ANSWER, BETA, CONFIDENTIAL, PUBLIC, schema_of
from understudy.inference.allowance import Allowance
from understudy.mechanisms import Summary, rounds
from understudy.synthesis.preparation import prepare

AMOUNT = CONFIDENTIAL | {"type": "continuous", "bounds": [0, 1000]}
JOINT = us.joint(schema_of(size=400, amount=AMOUNT, answer=ANSWER))
GENERATOR = np.random.default_rng(2)
TABLE = pd.DataFrame(
    {"amount": GENERATOR.gamma(3, 60, 400).clip(0, 1000), "answer": ["no", "yes"] * 200}
)


def asked(model, table, **settings):
    return prepare(model, table, Summary(epsilon=1.0, **settings), seed=3)


def measured(request):
    plan = request.mechanism.plan(request)
    return rounds.measure_tables(request, plan._shares, request.mechanism.anchor)


def test_whole_tables_are_measured_by_columns_first_and_then_by_pairs():
    one, two = measured(asked(JOINT, TABLE)).measurements
    assert [t.column.name for t in one.contribution.tables] == ["amount", "answer"]
    ((pair),) = two.contribution.tables
    assert (pair.one.column.name, pair.other.column.name) == ("amount", "answer")
    assert one.epsilon + two.epsilon == pytest.approx(1.0)


def test_groups_of_pairs_come_from_what_was_published():
    """The same noisy counts make the same groups, whatever table lies behind them."""
    one, two = measured(asked(JOINT, TABLE)).measurements
    cells, pair = one.contribution.tables[0], two.contribution.tables[0]
    again = rounds.grouped(
        cells.column,
        rounds.standing_for(cells, one.values[: cells.count]),
        rounds.group_count(JOINT.schema, Allowance(epsilon=1.0), 400),
    )
    assert pair.one.edges == again.edges


def test_with_an_anchor_one_round_measures_all_tables():
    theta = {p.name: np.zeros(p.shape).tolist() for p in JOINT.parameters}
    (only,) = measured(asked(JOINT, TABLE, anchor=theta)).measurements
    assert len(only.contribution.tables) == 3
    assert only.epsilon == pytest.approx(1.0)


def test_one_column_needs_one_round():
    alone = us.joint(schema_of(size=400, amount=AMOUNT))
    request = asked(alone, TABLE[["amount"]])
    (only,) = measured(request).measurements
    assert only.epsilon == pytest.approx(1.0)
    assert request.mechanism.plan(request).stages == 1


def test_public_columns_are_paired_with_confidential_ones_only():
    schema = schema_of(size=400, amount=AMOUNT, answer=ANSWER, g=PUBLIC)
    table = TABLE.assign(g=["a", "b"] * 200)
    _, pairs = measured(asked(us.joint(schema), table)).measurements
    names = [(t.one.column.name, t.other.column.name) for t in pairs.contribution.tables]
    assert names == [("amount", "answer"), ("amount", "g"), ("answer", "g")]


def test_known_rows_and_their_number_belong_to_the_population():
    schema = schema_of(size=999, amount=AMOUNT, g=PUBLIC)
    table = TABLE[["amount"]].assign(g=["a", "b"] * 200)
    population = rounds.population_of(asked(us.joint(schema), table))
    assert (population.size, population.known) == (400, True)
    assert rounds.population_of(asked(BETA, pd.DataFrame({"x": [0.5] * 30}))).size == 2000
