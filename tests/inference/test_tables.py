"""Which tables are measured: what is public decides, and a record is in one cell of each."""

import numpy as np
import pandas as pd
import pytest

import understudy as us
from summaries import ANSWER, CONFIDENTIAL, PUBLIC, SHARE, schema_of
from understudy.inference import tables
from understudy.inference.allowance import Allowance
from understudy.inference.cells import Cells, Pair

AMOUNT = CONFIDENTIAL | {"type": "continuous", "bounds": [0, 1000]}
WEEKS = CONFIDENTIAL | {"type": "integer", "bounds": [2, 52], "missing": "model"}
SCHEMA = schema_of(amount=AMOUNT, weeks=WEEKS, answer=ANSWER, g=PUBLIC)
CODED = {
    "amount": np.array([0.0, 1000.0, 3.0, 999.0, 12.5]),
    "weeks": np.array([2.0, 52.0, np.nan, 40.0, 7.0]),
    "answer": np.array([0, 1, 1, 0, 1]),
    "g": np.array([0, 1, 0, 1, 1]),
}


LAPLACE = Allowance(epsilon=1.0)


def all_tables():
    columns = (*SCHEMA.confidential, *SCHEMA.public)
    values = np.random.default_rng(0).gamma(2.0, 30.0, 500)
    cells = {c.name: tables.grouped(c, np.minimum(values, 52), 6) for c in columns}
    return (*tables.one_way(SCHEMA, LAPLACE, 2000), *tables.pairs(SCHEMA, cells))


def test_pairs_are_of_two_columns_one_of_which_is_confidential():
    names = {frozenset((one.name, other.name)) for one, other in tables.paired(SCHEMA)}
    assert len(names) == len(tables.paired(SCHEMA)) == 6
    assert frozenset(("weeks", "g")) in names
    both = schema_of(x=SHARE, g=PUBLIC, h=PUBLIC)
    assert frozenset(("g", "h")) not in {
        frozenset((one.name, other.name)) for one, other in tables.paired(both)
    }


def test_every_record_contributes_exactly_the_bound():
    contribution = tables.weighted(us.joint(SCHEMA), all_tables(), 1)
    each = contribution.each(CODED)
    assert (each.sum(axis=1) == contribution.bound).all()
    assert (each >= 0).all()
    assert (each > 0).sum(axis=1).tolist() == [9] * 5


def test_the_counts_are_those_of_a_cross_tabulation():
    contribution = tables.weighted(us.joint(SCHEMA), all_tables(), 1)
    counts = contribution.total(CODED) / contribution.units
    start = sum(cells.count for cells in tables.one_way(SCHEMA, LAPLACE, 2000))
    pair = next(t for t in contribution.tables if isinstance(t, Pair))
    codes = {part: part.codes(CODED) for part in (pair.one, pair.other)}
    expected = pd.crosstab(codes[pair.one], codes[pair.other])
    own = counts[start : start + pair.count].reshape(pair.one.count, pair.other.count)
    for (i, j), times in expected.stack().items():
        assert own[i, j] == times
    assert own.sum() == 5


def test_more_cells_get_more_weight_by_their_root():
    contribution = tables.weighted(us.joint(SCHEMA), all_tables(), 1)
    for table, weight in zip(contribution.tables, contribution.weights, strict=True):
        assert weight == pytest.approx(16 * np.sqrt(table.count), abs=0.5)


@pytest.mark.parametrize("allowance", [LAPLACE, Allowance(epsilon=1e-4), Allowance(rho=0.01)])
@pytest.mark.parametrize("size", [1, 60, 2000, 10**6])
def test_shares_and_groups_stay_within_reason(allowance, size):
    assert 0.05 < tables.first_share(SCHEMA, allowance, size) < 0.95
    assert 3 <= tables.group_count(SCHEMA, allowance, size) <= 12


def test_a_single_column_has_no_pairs_and_takes_all():
    alone = schema_of(amount=AMOUNT)
    assert tables.paired(alone) == ()
    assert tables.first_share(alone, LAPLACE, 100) == 1.0


def test_groups_have_about_equal_mass():
    values = np.random.default_rng(1).beta(0.5, 3, 10_000) * 1000
    cells = tables.grouped(SCHEMA.column("amount"), values, 8)
    shares = np.bincount(cells.read(values), minlength=cells.count) / len(values)
    assert cells.count == 8
    assert np.abs(shares - 1 / 8).max() < 0.01


def test_whole_numbers_are_cut_between_them_and_missing_values_have_a_cell():
    cells = tables.grouped(SCHEMA.column("weeks"), np.array([2.0, 52.0, 52.0, np.nan]), 4)
    assert all(edge % 1 == 0.5 for edge in cells.edges)
    assert cells.read(np.array([np.nan]))[0] == cells.count - 1


def test_nothing_is_known_of_a_column_without_values():
    assert tables.grouped(SCHEMA.column("amount"), np.array([np.nan]), 4).edges == ()


def test_values_stand_for_noisy_counts():
    cells = Cells(SCHEMA.column("amount"), (100.0, 500.0))
    stand = tables.standing_for(cells, np.array([50.0, -3.0, 150.0]))
    assert np.mean(stand < 100) == pytest.approx(0.25, abs=0.01)
    assert not np.any((stand > 101) & (stand < 499))
    drowned = tables.standing_for(cells, np.array([-1.0, -2.0, -3.0]))
    assert np.mean(drowned < 100) == pytest.approx(1 / 3, abs=0.01)
