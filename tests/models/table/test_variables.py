"""What a model sees of columns: groups of codes, draws, and what is refused before it is built."""

import time

import numpy as np
import pytest

import understudy as us
from refusals import refusal
from table_models import GENDER, KINDS, PAY, WEEKS, schema
from understudy.models.table.coding import variable
from understudy.models.table.variables import (
    MOST_COLUMNS,
    check_columns,
    draw_codes,
    evenly_grouped,
    neighbours,
    shares_of,
    with_others,
)

each_kind = pytest.mark.parametrize("declared", KINDS.values(), ids=KINDS)
either = pytest.mark.parametrize("build", [us.joint, us.mixture], ids=["joint", "mixture"])


def coded(declared):
    return variable(schema(x=declared).column("x"))


def test_codes_are_drawn_as_often_as_their_log_probabilities_say():
    shares = np.array([[0.5, 0.3, 0.2], [0.0, 0.1, 0.9]])
    rows = np.repeat([1, 0], 50_000)
    with np.errstate(divide="ignore"):
        # Up to a constant, which each row may have of its own.
        logs = np.log(shares) + np.array([[3.0], [-7.0]])
    codes = draw_codes(np.random.default_rng(0), logs, rows)
    for row in range(2):
        observed = np.bincount(codes[rows == row], minlength=3) / 50_000
        assert np.abs(observed - shares[row]).max() < 5 * np.sqrt(0.25 / 50_000)


def test_shares_are_exponentials_however_large_their_logarithms_are():
    found = shares_of([[1000.0, 1000.0 + np.log(2)], [-1000.0, -np.inf]])
    assert found == pytest.approx(np.array([[0.5, 1.0], [1.0, 0.0]]))


def test_neighbours_are_told_by_the_columns_of_the_fewest_values_first():
    codes = {"x": np.array([1]), "y": np.array([2]), "z": np.array([3])}
    columns = schema(x=PAY, y=GENDER, z=WEEKS).columns
    assert [each.item() for each in neighbours(codes, map(variable, columns))] == [2, 3, 1]


class TestGroups:
    @each_kind
    @pytest.mark.parametrize("groups", [1, 3, 8])
    def test_neighbouring_codes_are_one_and_what_is_missing_is_apart(self, declared, groups):
        each = coded(declared)
        found = evenly_grouped(each, groups)
        inner, last = found[: each.inner], found[: each.count - each.kinds].max()
        assert found.shape == (each.count,)
        assert np.array_equal(np.unique(found), np.arange(found.max() + 1))
        assert set(np.diff(inner)) <= {0, 1}
        assert np.array_equal(found[each.count - each.kinds :], last + 1 + np.arange(each.kinds))
        if each.column.levels is not None:
            assert np.array_equal(inner, np.arange(each.inner))
        else:
            assert inner.max() + 1 <= groups
            sizes = np.bincount(inner)
            assert (sizes[:-1] == sizes[0]).all()
            assert sizes[-1] <= sizes[0]

    @each_kind
    def test_a_spike_is_with_the_interval_that_it_lies_in(self, declared):
        each = coded(declared)
        found = evenly_grouped(each, 5)
        for spike, group in zip(each.spikes, found[each.inner :], strict=False):
            there = np.sum(each.edges[1:-1] <= spike)
            assert group == found[there]

    def test_spikes_that_are_apart_follow_and_then_kinds(self):
        each = coded(KINDS["numbers with spikes"])
        own = np.repeat([0, 1], each.inner // 2)
        found = with_others(each, own, np.array([True, False, True]))
        assert np.array_equal(found[: each.inner], own)
        assert found[each.inner :].tolist() == [2, 0, 3, 4, 5]
        together = with_others(each, own, np.zeros(3, dtype=bool))
        assert together[each.inner :].tolist() == [0, 0, 1, 2, 3]


def test_names_that_make_two_parameters_one_are_refused():
    with pytest.raises(us.BadInput, match="two parameters of the joint model 'a by b'"):
        us.joint(schema(**{"b": GENDER, "a": GENDER, "a by b": GENDER}))
    with pytest.raises(us.BadInput, match="two parameters of the joint model 'a values'"):
        us.joint(schema(**{"a": WEEKS, "a values": GENDER}))
    with pytest.raises(us.BadInput, match="two parameters of the joint model 'a groups'"):
        us.joint(schema(**{"a": PAY, "a groups": GENDER}))


@either
def test_columns_and_levels_are_counted_before_anything_is_built(build):
    deep = GENDER | {"levels": [f"level {k}" for k in range(20_000)]}
    wide = {f"column {k}": GENDER for k in range(MOST_COLUMNS + 1)}
    begun = time.monotonic()
    assert "too many levels" in (said := refusal(build, schema(deep=deep)))
    assert "'deep' alone 20,000" in said
    assert "has 301 columns, more than 300" in refusal(build, schema(**wide))
    # The contrasts among 20,000 levels alone would be 3 GB.
    assert time.monotonic() - begun < 5


@either
def test_levels_of_all_columns_together_are_counted(build):
    deep = GENDER | {"levels": [f"level {k}" for k in range(5000)]}
    assert "'deep' alone 5,000: declare fewer" in refusal(build, schema(x=PAY, deep=deep))
    some = GENDER | {"levels": [f"level {k}" for k in range(3000)]}
    assert "too many levels" in refusal(build, schema(one=some, other=some))
    public = some | {"role": "public"}
    assert "too many levels" in refusal(build, schema(one=some, other=public))


def test_as_many_columns_as_may_be_are_let_through():
    columns = {f"column {k}": GENDER for k in range(MOST_COLUMNS)}
    check_columns("joint", schema(**columns, no={"role": "ignore"}))
    check_columns("joint", schema(x=GENDER | {"levels": [f"level {k}" for k in range(4000)]}))
