"""Which tables are measured: what is public decides, and a record is in one cell of each."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import understudy as us
from summaries import ANSWER, CONFIDENTIAL, PUBLIC, SHARE, schema_of
from understudy.inference import tables
from understudy.inference.allowance import Allowance
from understudy.inference.cells import Pair
from understudy.inference.grouping import cells_of, grouped

AMOUNT = CONFIDENTIAL | {"type": "continuous", "bounds": [0, 1000]}
WEEKS = CONFIDENTIAL | {"type": "integer", "bounds": [2, 52], "missing": "model"}
SCHEMA = schema_of(amount=AMOUNT, weeks=WEEKS, answer=ANSWER, g=PUBLIC)
MODEL = us.joint(SCHEMA)
CODED = {
    "amount": np.array([0.0, 1000.0, 3.0, 999.0, 12.5]),
    "weeks": np.array([2.0, 52.0, np.nan, 40.0, 7.0]),
    "answer": np.array([0, 1, 1, 0, 1]),
    "g": np.array([0, 1, 0, 1, 1]),
}
LAPLACE = Allowance(epsilon=1.0)
NORMAL = Allowance(rho=0.1)
ALLOWANCES = [LAPLACE, Allowance(epsilon=1e-4), Allowance(epsilon=50.0), NORMAL]


def answers(count, **more):
    return us.joint(schema_of(**{f"y{k}": ANSWER for k in range(count)}, **more))


def pairs_of(schema, groups=6):
    cells = {
        name: cells_of(each, grouped(each, np.full(each.count, 1 / each.count), groups))
        for name, each in tables.variables_of(schema).items()
    }
    return tuple(Pair(cells[a], cells[b]) for a, b in tables.paired(schema))


def contributions(norm=1):
    own = [tables.variables_of(SCHEMA)[column.name] for column in SCHEMA.confidential]
    return tables.weighted(MODEL, own, (), norm), tables.weighted(MODEL, (), pairs_of(SCHEMA), norm)


def test_pairs_are_of_two_columns_one_of_which_is_confidential():
    names = {frozenset(pair) for pair in tables.paired(SCHEMA)}
    assert len(names) == len(tables.paired(SCHEMA)) == 6
    assert frozenset(("weeks", "g")) in names
    both = schema_of(x=SHARE, g=PUBLIC, h=PUBLIC)
    assert frozenset(("g", "h")) not in {frozenset(pair) for pair in tables.paired(both)}


@pytest.mark.parametrize("norm", [1, 2])
def test_every_record_contributes_exactly_the_bound(norm):
    for contribution, count in zip(contributions(norm), (3, 6), strict=True):
        each = contribution.each(CODED)
        lengths = np.linalg.norm(each, ord=norm, axis=1)
        assert lengths == pytest.approx([contribution.bound] * 5, rel=1e-12)
        assert (each >= 0).all()
        assert (each > 0).sum(axis=1).tolist() == [count] * 5


def test_the_counts_are_those_of_a_cross_tabulation():
    _, contribution = contributions()
    counts = contribution.total(CODED) / contribution.units
    start = 0
    for pair in contribution.tables:
        codes = [part.codes(CODED) for part in (pair.one, pair.other)]
        own = counts[start : start + pair.count].reshape(pair.one.count, pair.other.count)
        start += pair.count
        for (i, j), times in pd.crosstab(*codes).stack().items():
            assert own[i, j] == times
        assert own.sum() == 5


def test_single_columns_are_counted_code_by_code():
    contribution, _ = contributions()
    variables = tables.variables_of(SCHEMA)
    for cells in contribution.tables:
        one = variables[cells.column.name]
        assert cells.count == one.count
        np.testing.assert_array_equal(cells.codes(CODED), one.read(CODED))


@pytest.mark.parametrize(("norm", "power"), [(1, 1 / 2), (2, 1 / 3)])
def test_more_cells_get_more_weight_by_their_root(norm, power):
    single, double = contributions(norm)
    for table, weight in zip(double.tables, double.weights, strict=True):
        assert weight == pytest.approx(16 * table.count**power, abs=0.5)
    for table, weight in zip(single.tables, single.weights, strict=True):
        # Of a number, 32 cells count at most: its shape is smooth.
        counted = table.count if table.column.levels else min(table.count, 32)
        assert weight == pytest.approx(2 * 16 * counted**power, abs=0.5)


@pytest.mark.parametrize("norm", [1, 2])
def test_pairs_are_weighted_so_that_the_noise_of_all_cells_is_least(norm):
    """Any other weight of any table, for the same price, makes Σ cells · deviation larger."""
    _, made = contributions(norm)
    counts = np.array([table.count for table in made.tables])

    def noise(weights):
        return (counts / weights).sum() * np.linalg.norm(weights, ord=norm)

    for table in range(len(counts)):
        for factor in (0.8, 1.25):
            other = np.array(made.weights, dtype=float)
            other[table] *= factor
            assert noise(other) > noise(np.array(made.weights, dtype=float))


MODELS = {
    "few": MODEL,
    "alone": us.joint(schema_of(amount=AMOUNT)),
    "twelve": answers(12),
    "thirteen": answers(13),
    "many": us.joint(
        schema_of(g=PUBLIC, amount=AMOUNT, **{f"w{k}": WEEKS for k in range(10)},
                  **{f"y{k}": ANSWER for k in range(9)})
    ),
    "mixture": us.mixture(schema_of(**{f"y{k}": ANSWER for k in range(14)})),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("allowance", ALLOWANCES)
@pytest.mark.parametrize("size", [1, 60, 2000, 10**6])
def test_shares_add_up_to_the_allowance_and_never_to_more(name, allowance, size):
    plan = tables.table_plan(MODELS[name], allowance, size)
    spent = sum(Fraction(share.amount) for share in plan.shares)
    # A hair that floating point may add is kept back from every allowance (`HAIR`).
    assert spent <= Fraction(allowance.amount) * (1 + Fraction(1, 10**12))
    assert spent >= Fraction(allowance.amount) * (1 - Fraction(1, 10**12))
    assert all(share.amount > 0 for share in plan.shares)
    assert {share.norm for share in plan.shares} == {allowance.norm}
    assert 3 <= plan.groups <= 20
    assert plan == tables.table_plan(MODELS[name], allowance, size)


@pytest.mark.parametrize("allowance", [LAPLACE, NORMAL])
def test_all_pairs_are_measured_up_to_sixty_six_and_beyond_they_are_chosen(allowance):
    assert len(tables.paired(MODELS["twelve"].schema)) == tables.ALL_PAIRS
    twelve = tables.table_plan(MODELS["twelve"], allowance, 2000)
    assert (len(twelve.shares), twelve.picks) == (2, ())
    thirteen = tables.table_plan(MODELS["thirteen"], allowance, 2000)
    assert sum(thirteen.picks) == 26
    assert max(thirteen.picks) - min(thirteen.picks) <= 1
    assert len(thirteen.shares) == 1 + 2 * len(thirteen.picks)
    for choosing, own in zip(thirteen.shares[1::2], thirteen.shares[2::2], strict=True):
        assert choosing.amount == pytest.approx(0.15 * (choosing.amount + own.amount))
    # A round has as much as the pairs that it picks deserve.
    each = [own.amount / k for own, k in zip(thirteen.shares[2::2], thirteen.picks, strict=True)]
    assert each == pytest.approx([each[0]] * len(each))


def test_a_model_that_is_not_fitted_in_turn_has_all_pairs_measured():
    plan = tables.table_plan(MODELS["mixture"], LAPLACE, 2000)
    assert (len(plan.shares), plan.picks) == (2, ())


def test_public_columns_make_pairs_and_are_not_measured_alone():
    with_public = answers(12, g=PUBLIC)
    assert len(tables.paired(with_public.schema)) == 66 + 12
    assert tables.table_plan(with_public, LAPLACE, 2000).picks


def test_a_single_column_has_no_pairs_and_takes_all():
    alone = schema_of(amount=AMOUNT)
    assert tables.paired(alone) == ()
    plan = tables.table_plan(us.joint(alone), LAPLACE, 100)
    assert plan.shares == (LAPLACE,)


def test_more_records_or_more_epsilon_allow_more_groups():
    groups = [tables.table_plan(MODEL, LAPLACE, size).groups for size in (50, 500, 5000, 50_000)]
    assert groups == sorted(groups)
    assert groups[0] < groups[-1]
    more = [tables.table_plan(MODEL, Allowance(epsilon=e), 2000).groups for e in (0.01, 0.1, 1.0)]
    assert more == sorted(more)


def test_what_is_measured_depends_on_the_schema_the_size_and_the_allowance_alone():
    """A model that was fitted to anything, or whose columns are in another order, is planned for
    alike: θ and structure are no part of it."""
    order = us.joint(SCHEMA, order=["weeks", "answer", "amount"])
    for size in (10, 3000):
        assert tables.table_plan(MODEL, LAPLACE, size) == tables.table_plan(order, LAPLACE, size)


def counts_of(schema, **shares):
    """Return counts of 2,000 records by group: even, unless shares are told."""
    counts = {}
    for pair in pairs_of(schema):
        for cells in (pair.one, pair.other):
            name = cells.column.name
            told = shares.get(name, np.full(cells.count, 1 / cells.count))
            counts[name] = 2000 * np.asarray(told)
    return counts


@pytest.mark.parametrize("allowance", [LAPLACE, NORMAL])
def test_a_column_that_is_nearly_constant_is_not_worth_pairing(allowance):
    schema = answers(6).schema
    worth = tables.worth_pairing(
        counts_of(schema, y2=[0.9999, 0.0001]), pairs_of(schema), allowance, 2000
    )
    assert worth == {"y0", "y1", "y3", "y4", "y5"}


def test_much_information_makes_a_rare_answer_worth_pairing():
    schema = answers(6).schema
    counts = counts_of(schema, y2=[0.99, 0.01])
    few, many = (
        tables.worth_pairing(counts, pairs_of(schema), Allowance(epsilon=e), 2000)
        for e in (0.1, 50.0)
    )
    assert "y2" not in few
    assert "y2" in many


def test_one_in_ten_is_worth_pairing_however_large_the_noise():
    schema = answers(6).schema
    counts = counts_of(schema, y2=[0.89, 0.11])
    assert "y2" in tables.worth_pairing(counts, pairs_of(schema), Allowance(epsilon=1e-6), 2000)


def test_where_hardly_any_column_is_worth_it_all_are_paired():
    schema = answers(3).schema
    rare = [0.9999, 0.0001]
    for shares in ({"y0": rare, "y1": rare, "y2": rare}, {"y0": rare, "y1": rare}):
        counts = counts_of(schema, **shares)
        assert tables.worth_pairing(counts, pairs_of(schema), LAPLACE, 2000) == {"y0", "y1", "y2"}


def test_counts_below_zero_are_none():
    schema = answers(4).schema
    counts = counts_of(schema) | {"y1": np.array([2000.0, -50.0]), "y2": np.array([-3.0, -9.0])}
    worth = tables.worth_pairing(counts, pairs_of(schema), LAPLACE, 2000)
    assert "y1" not in worth
    assert {"y0", "y3"} <= worth
