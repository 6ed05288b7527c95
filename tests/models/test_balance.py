"""Evenly spread rows: each of them uniform by itself, together even, and free of other columns."""

import numpy as np
import pytest
import scipy.stats

from understudy.domain.schema import Schema
from understudy.models.balance import among_public, codes_at, evenly

LEVEL = 0.001
GROUPS = np.repeat([2, 0, 1], [90, 100, 53])
NUMBERS = np.random.default_rng(5).normal(size=243)


def repeated(times, rows, by):
    generator = np.random.default_rng(7)
    return np.array([evenly(generator, rows, by) for _ in range(times)])


@pytest.mark.parametrize("rows", [1, 2, 11, 24, 29, 61])
@pytest.mark.parametrize("keyed", [False, True])
def test_every_row_by_itself_is_uniform(rows, keyed):
    """However many rows there are, and whatever is left over when they are put into blocks."""
    by = [GROUPS[:rows] % 2, NUMBERS[:rows]] if keyed else []
    u = repeated(1500, rows, by)
    assert u.min() >= 0
    assert u.max() < 1
    smallest = min(scipy.stats.kstest(u[:, row], "uniform").pvalue for row in range(rows))
    assert smallest > LEVEL / rows


def test_rows_that_are_alike_have_one_number_in_each_interval():
    u = evenly(np.random.default_rng(1), 517)
    assert np.array_equal(np.sort((517 * u).astype(int)), np.arange(517))
    assert np.ptp((517 * u) % 1) < 1e-9, "systematic: one shift for all"
    assert abs(np.corrcoef(u, np.arange(517))[0, 1]) < 0.2, "in no order"
    assert evenly(np.random.default_rng(1), 0).shape == (0,)


def test_neighbours_have_one_number_in_each_interval():
    """Of 240 rows, every twelve that follow each other by group, then by number, are even."""
    groups, numbers = GROUPS[:240], NUMBERS[:240]
    u = evenly(np.random.default_rng(2), 240, [groups, numbers])
    block = (12 * u[np.lexsort((numbers, groups))]).astype(int).reshape(20, 12)
    assert np.array_equal(np.sort(block, axis=1), np.tile(np.arange(12), (20, 1)))
    assert np.array_equal(np.sort((240 * u).astype(int)), np.arange(240))


def test_groups_are_evener_than_independent_rows():
    """Shares below any place vary by less than half as much in every group, and in the table."""
    u = repeated(400, len(GROUPS), [GROUPS])
    for place in (0.1, 0.37, 0.5, 0.8):
        for group in range(3):
            own = (u[:, group == GROUPS] < place).mean(axis=1)
            assert own.mean() == pytest.approx(place, abs=4 * own.std() / np.sqrt(400))
            chance = np.sqrt(place * (1 - place) / np.sum(group == GROUPS))
            assert own.std() < 0.5 * chance
        # Four of the 247 places in whole blocks stay empty, each within the interval or not.
        assert (u < place).sum(axis=1).std() < 1.2


@pytest.mark.parametrize("keys", [[GROUPS], [NUMBERS], [GROUPS, NUMBERS], []])
def test_two_columns_of_the_same_neighbours_are_as_good_as_independent(keys):
    """Their correlation varies as that of independent columns does, by 1/√(n − 1)."""
    generator, rows, times = np.random.default_rng(3), len(GROUPS), 600
    found = [
        np.corrcoef(evenly(generator, rows, keys), evenly(generator, rows, keys))[0, 1]
        for _ in range(times)
    ]
    assert np.mean(found) == pytest.approx(0, abs=4 / np.sqrt(times * rows))
    # Blocks of twelve and more raise the variance by a twelfth at most; the rest is chance.
    assert 0.8 < np.mean(np.square(found)) * (rows - 1) < 1.35


def test_codes_are_those_at_which_the_probability_up_to_them_passes_u():
    generator = np.random.default_rng(4)
    shares = generator.random((5, 7)) * (generator.random((5, 7)) < 0.7)
    shares[:, 3] += 0.1
    u, which = generator.random(3000), generator.integers(5, size=3000)
    codes, within = codes_at(u, shares, which)
    for row in range(300):
        own = shares[which[row]] / shares[which[row]].sum()
        code = codes[row]
        assert own[code] > 0
        assert own[:code].sum() <= u[row] <= own[: code + 1].sum()
        assert own[:code].sum() + within[row] * own[code] == pytest.approx(u[row])
    assert scipy.stats.kstest(within, "uniform").pvalue > LEVEL
    same = codes_at(u, shares[which])
    assert np.array_equal(codes, same[0])
    assert np.array_equal(within, same[1])


def test_the_ends_of_the_interval_are_codes_that_can_be():
    codes, within = codes_at(np.array([0.0, np.nextafter(1.0, 0.0)]), [[0.0, 0.4, 0.6, 0.0]] * 2)
    assert codes.tolist() == [1, 2]
    assert within.min() >= 0
    assert within.max() < 1


def test_levels_come_before_numbers_and_few_before_many():
    columns = {
        "age": {"role": "public", "type": "integer", "bounds": [0, 9]},
        "state": {"role": "public", "type": "categorical", "levels": ["a", "b", "c"]},
        "sex": {"role": "public", "type": "binary"},
        "pay": {"role": "confidential", "type": "continuous", "bounds": [0, 1]},
    }
    public = {"age": np.array([4.0]), "state": np.array([2]), "sex": np.array([1])}
    found = among_public(Schema.from_dict({"columns": columns}), public)
    assert [values.item() for values in found] == [1, 2, 4.0]
