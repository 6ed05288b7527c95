"""Evenly spread rows: each of them uniform by itself, together even, and free of other columns."""

import numpy as np
import pytest
import scipy.stats

from understudy.domain.schema import Schema
from understudy.models import balance
from understudy.models.balance import _prime, along, among_public, codes_at, evenly

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


class TestAlong:
    """Rows in an order, each at the next place of a sequence that is even over any stretch."""

    @pytest.mark.parametrize("rows", [1, 2, 11, 61])
    @pytest.mark.parametrize("turn", [0, 7, 250])
    def test_every_row_by_itself_is_uniform(self, rows, turn):
        generator, by = np.random.default_rng(7), [GROUPS[:rows] % 2, NUMBERS[:rows]]
        u = np.array([along(generator, rows, by, turn) for _ in range(1500)])
        assert u.min() >= 0
        assert u.max() < 1
        smallest = min(scipy.stats.kstest(u[:, row], "uniform").pvalue for row in range(rows))
        assert smallest > LEVEL / rows

    def test_it_is_a_plain_loop_over_rows_in_their_order(self):
        u = along(np.random.default_rng(1), len(GROUPS), [GROUPS, NUMBERS], 1)
        ordered = sorted(range(len(GROUPS)), key=lambda row: (GROUPS[row], NUMBERS[row]))
        place = u[ordered[0]]
        for row in ordered:
            # On a circle, 0 is next to 1.
            assert abs((u[row] - place + 0.5) % 1 - 0.5) < 1e-9
            place = (place + np.sqrt(3)) % 1

    @pytest.mark.parametrize("most", [2**62, 1])
    def test_whole_numbers_are_put_in_order_as_one(self, monkeypatch, most):
        monkeypatch.setattr(balance, "_MOST_PLACES", most)
        by = [np.random.default_rng(k).integers(7, size=400) for k in range(4)]
        u = along(np.random.default_rng(1), 400, by, 3)
        others = [each.astype(float) for each in by]
        assert np.array_equal(u, along(np.random.default_rng(1), 400, others, 3))

    def test_there_may_be_no_row_and_nothing_that_makes_neighbours(self):
        assert along(np.random.default_rng(1), 0, [], 0).shape == (0,)
        u = along(np.random.default_rng(1), 517, [], 0)
        assert abs(np.corrcoef(u[1:], u[:-1])[0, 1]) < 0.2, "in no order"
        assert scipy.stats.kstest(u, "uniform").statistic < 4 / 517

    @pytest.mark.parametrize("turn", range(0, 300, 13))
    def test_short_stretches_are_evener_than_independent_rows(self, turn):
        """Of 1,000 rows, shares of each 50 that follow each other; and of all of them."""
        generator, rows = np.random.default_rng(2), np.arange(1000)
        for place in (0.2, 0.5):
            below = [along(generator, 1000, [rows], turn) < place for _ in range(10)]
            own = np.reshape(below, (200, 50)).mean(axis=1)
            assert np.mean((own - place) ** 2) < 0.4 * place * (1 - place) / 50
            assert np.abs(np.mean(below, axis=1) - place).max() < 0.015

    def test_groups_are_evener_than_independent_rows(self):
        generator = np.random.default_rng(3)
        u = np.array([along(generator, len(GROUPS), [GROUPS], 0) for _ in range(400)])
        for place in (0.1, 0.37, 0.5, 0.8):
            for group in range(3):
                own = (u[:, group == GROUPS] < place).mean(axis=1)
                assert own.mean() == pytest.approx(place, abs=4 * own.std() / np.sqrt(400))
                chance = np.sqrt(place * (1 - place) / np.sum(group == GROUPS))
                assert own.std() < 0.25 * chance

    @pytest.mark.parametrize("turns", [(0, 1), (1, 2), (3, 4), (0, 9)])
    def test_two_columns_in_the_same_order_are_evenly_spread_together(self, turns):
        """Shares of squares are nearer to the product than those of independent rows."""
        generator, by = np.random.default_rng(4), [np.arange(2000)]
        far = []
        for _ in range(50):
            one, other = (along(generator, 2000, by, turn) for turn in turns)
            squares = np.histogram2d(one, other, bins=4, range=[(0, 1), (0, 1)])[0] / 2000
            far.append(np.mean((squares - 1 / 16) ** 2))
        assert np.mean(far) < 0.5 * (1 / 16) * (15 / 16) / 2000

    @pytest.mark.parametrize("keys", [[GROUPS], []])
    def test_two_columns_of_the_same_neighbours_are_uncorrelated(self, keys):
        generator, rows, times = np.random.default_rng(5), len(GROUPS), 400
        found = [
            np.corrcoef(*(along(generator, rows, keys, turn) for turn in (0, 1)))[0, 1]
            for _ in range(times)
        ]
        assert np.mean(found) == pytest.approx(0, abs=4 / np.sqrt(times * rows))
        assert np.mean(np.square(found)) * (rows - 1) < 1.35

    def test_each_turn_has_a_prime_of_its_own_whose_root_is_no_simple_fraction(self):
        primes = [_prime(turn) for turn in range(300)]
        assert primes[:3] == [2, 3, 7]
        assert primes == sorted(set(primes))
        assert all(n % k for n in primes for k in range(2, int(n**0.5) + 1))
        for simple in (0, 1 / 2, 1 / 3, 2 / 3, 1 / 4, 1):
            assert np.abs(np.sqrt(primes) % 1 - simple).min() > 0.005
        assert not {37, 101, 257, 1297, 1601} & set(primes)

    def test_no_two_columns_have_nearly_the_same_step(self):
        steps = np.sqrt([_prime(turn) for turn in range(300)]) % 1
        either = np.sort(np.append(steps, 1 - steps))
        assert np.diff(either).min() > 0.0003


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
