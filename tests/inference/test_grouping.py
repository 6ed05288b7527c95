"""Groups have about equal mass, are those of the cells that are counted, and follow from shares."""

import numpy as np
import pytest

from summaries import CONFIDENTIAL, schema_of
from understudy.inference.cells import Pair
from understudy.inference.grouping import (
    cells_of,
    grouped,
    public_cells,
    public_groups,
    shares_of_codes,
)
from understudy.inference.noisy_tables import NoisyTable
from understudy.models.table.coding import variable
from understudy.models.table.conditional import Grouped

CODES = {"missing": "model", "codes": {"N": "does not apply", "B": "refused"}}
MISSING = {"missing": "model"}
TYPES = {
    "levels": {"type": "categorical", "levels": ["p", "q", "r"]},
    "levels, missing": {"type": "categorical", "levels": ["p", "q", "r"]} | CODES,
    "in order": {"type": "categorical", "levels": list("pqrst"), "ordered": True} | MISSING,
    "answer": {"type": "binary", "levels": ["no", "yes"]},
    "few": {"type": "count", "bounds": [0, 8]},
    "few, missing": {"type": "count", "bounds": [2, 15]} | CODES,
    "ages": {"type": "integer", "bounds": [0, 99]},
    "weeks": {"type": "integer", "bounds": [1, 52]} | CODES,
    "count": {"type": "count", "bounds": [0, 5000]} | MISSING,
    "amount": {"type": "continuous", "bounds": [0, 1000]},
    "spikes": {"type": "continuous", "bounds": [-20, 1000], "spikes": [-20, 0, 137, 1000]},
    "heaps": {"type": "count", "bounds": [0, 2000], "spikes": [0, 7], "grid": 100} | CODES,
    "grid": {"type": "continuous", "bounds": [0, 100], "grid": 2.5} | MISSING,
    "date": {"type": "date", "bounds": ["1970-01-01", "1990-12-31"]} | MISSING,
}


def declared(name):
    return variable(schema_of(x=CONFIDENTIAL | TYPES[name]).confidential[0])


def values_of(one, generator, rows=600):
    """Return values of all codes, with edges of the intervals among them."""
    codes = np.append(np.arange(one.count), generator.integers(one.count, size=rows))
    written = one.write(generator, codes)
    if one.edges is not None:
        ends = np.flatnonzero(codes < one.inner)
        place = one.edges[codes[ends]]
        at = np.ceil(place) if one.column.whole else place
        written["x"][ends[::2]] = np.clip(at, one.column.lower, one.column.upper)[::2]
    return written


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("groups", [None, 2, 5, 12])
def test_cells_count_exactly_the_groups_that_a_variable_has(name, groups):
    """The model and the tables that it is fitted to speak of the same groups, value by value."""
    one, generator = declared(name), np.random.default_rng(3)
    for _ in range(3):
        shares = generator.dirichlet(np.full(one.count, 0.3))
        found = np.arange(one.count) if groups is None else grouped(one, shares, groups)
        columns = values_of(one, generator)
        cells = cells_of(one, None if groups is None else found)
        read = Grouped(one, found).read(columns)
        np.testing.assert_array_equal(cells.codes(columns), read)
        assert cells.count == found.max() + 1
        assert set(found.tolist()) == set(range(cells.count))


@pytest.mark.parametrize("name", TYPES)
def test_groups_are_of_neighbours_and_kinds_of_missing_values_stay_apart(name):
    one = declared(name)
    found = grouped(one, np.random.default_rng(4).dirichlet(np.ones(one.count)), 4)
    assert set(np.diff(found[: one.inner]).tolist()) <= {0, 1}
    last = found[one.count - one.kinds :]
    assert len(set(last.tolist())) == one.kinds
    assert not set(last.tolist()) & set(found[: one.count - one.kinds].tolist())


def test_two_columns_are_counted_by_the_groups_of_both():
    schema = schema_of(x=CONFIDENTIAL | TYPES["heaps"], y=CONFIDENTIAL | TYPES["levels, missing"])
    one, other = map(variable, schema.confidential)
    generator = np.random.default_rng(5)
    columns = {**one.write(generator, np.arange(50) % one.count),
               **other.write(generator, np.arange(50) % other.count)}  # fmt: skip
    found = grouped(one, np.full(one.count, 1 / one.count), 6)
    pair = Pair(cells_of(one, found), cells_of(other))
    expected = found[one.read(columns)] * other.count + other.read(columns)
    np.testing.assert_array_equal(pair.codes(columns), expected)
    assert pair.count == (found.max() + 1) * other.count


def test_groups_of_an_amount_have_about_equal_mass():
    one = declared("amount")
    values = np.random.default_rng(1).beta(0.5, 3, 10_000) * 1000
    shares = np.bincount(one.read({"x": values}), minlength=one.count) / len(values)
    found = grouped(one, shares, 8)
    mass = np.bincount(found, shares)
    assert len(mass) == 8
    # A group takes whole codes: it is off by less than the largest of them.
    assert np.abs(mass - 1 / 8).max() <= shares.max()


def test_a_smooth_distribution_over_ages_is_cut_at_round_ones():
    one = declared("ages")
    found = grouped(one, np.full(100, 0.01), 20)
    np.testing.assert_array_equal(found, np.arange(100) // 5)
    np.testing.assert_array_equal(grouped(one, np.full(100, 0.01), 10), np.arange(100) // 10)
    assert cells_of(one, found).edges[:2] == (4.5, 9.5)


def test_bounds_that_are_too_wide_make_groups_no_wider():
    """Groups are counted where records are, not where they could have been."""
    one = declared("ages")
    shares = np.where((np.arange(100) >= 20) & (np.arange(100) < 60), 1 / 40, 0.0)
    found = grouped(one, shares, 8)
    np.testing.assert_array_equal(found[20:60], np.arange(40) // 5)
    assert set(found.tolist()) == set(range(8))


def test_an_age_that_stands_out_is_a_group_of_its_own():
    one = declared("ages")
    shares = np.full(100, 0.7 / 99)
    shares[52] = 0.3
    found = grouped(one, shares, 20)
    assert (found == found[52]).sum() == 1
    # The others of its five are apart on either side: the order of values is kept.
    assert (np.diff(found) >= 0).all()
    assert found[51] < found[52] < found[53]


def test_rare_groups_are_joined_to_a_neighbour():
    one = declared("ages")
    shares = np.where(np.arange(100) < 60, 1 / 60, 0.0)
    found = grouped(one, shares, 20)
    assert len(set(found[60:].tolist())) == 1
    mass = np.bincount(found, shares)
    assert mass.min() >= 0.25 / len(mass)
    first = grouped(one, shares[::-1], 20)
    assert len(set(first[:41].tolist())) == 1


def test_a_spike_is_apart_if_it_has_the_mass_for_it_and_with_its_interval_otherwise():
    one = declared("spikes")
    base = np.full(one.count, 0.5 / one.count)
    for heavy in range(4):
        shares = base.copy()
        shares[one.inner + heavy] = 0.5
        cells = cells_of(one, grouped(one, shares, 8))
        assert cells.spikes == (float(one.spikes[heavy]),)
    assert cells_of(one, grouped(one, base, 8)).spikes == ()


def test_few_codes_and_levels_are_left_as_they_are():
    for name in ("levels", "in order", "few"):
        one = declared(name)
        found = grouped(one, np.full(one.count, 1 / one.count), 9)
        np.testing.assert_array_equal(found, np.arange(one.count))


def test_nothing_is_known_of_a_column_without_values():
    """All mass may be on missing values, as far as a noisy table tells."""
    for name in ("weeks", "count", "heaps"):
        one = declared(name)
        shares = np.zeros(one.count)
        shares[-1] = 1.0
        found = grouped(one, shares, 4)
        assert cells_of(one, found).count == found.max() + 1
        assert set(found.tolist()) == set(range(found.max() + 1))


@pytest.mark.parametrize("normal", [False, True])
@pytest.mark.parametrize("name", ["levels", "weeks", "amount", "heaps"])
def test_shares_follow_a_clear_table_and_are_the_same_every_time(name, normal):
    one = declared(name)
    codes = np.random.default_rng(6).choice(one.count, 50_000)
    counts = np.bincount(codes, minlength=one.count).astype(float)
    table = NoisyTable(counts, 1.0, normal)
    shares = shares_of_codes(one, table)
    assert shares.sum() == pytest.approx(1.0)
    assert (shares >= 0).all()
    assert np.abs(np.cumsum(shares) - np.cumsum(counts) / counts.sum()).max() < 0.02
    np.testing.assert_array_equal(shares, shares_of_codes(one, table))


def test_counts_that_noise_has_drowned_still_make_shares():
    one = declared("amount")
    shares = shares_of_codes(one, NoisyTable(np.full(one.count, -500.0), 300.0, False))
    assert np.isfinite(shares).all()
    assert shares.sum() == pytest.approx(1.0)


def test_groups_of_a_public_column_come_from_its_rows():
    one = declared("amount")
    public = {"x": np.random.default_rng(7).gamma(2.0, 30.0, 5000).clip(0, 1000)}
    found = public_groups(one, public, 8)
    counts = np.bincount(one.read(public), minlength=one.count)
    np.testing.assert_array_equal(found, grouped(one, counts / 5000, 8))
    assert public_cells(one, public, 8) == cells_of(one, found)
    empty = public_groups(one, {"x": np.empty(0)}, 8)
    assert set(empty.tolist()) == set(range(empty.max() + 1))
