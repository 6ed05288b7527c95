"""How many rows there will be, and from which public values."""

from collections import Counter

import numpy as np
import pytest

from understudy.domain.records import Held
from understudy.domain.schema import Schema
from understudy.domain.skeleton import Skeleton, in_order, skeleton_for, with_public_size
from understudy.errors import BadInput
from understudy.privacy.guarantee import Adjacency

PAY = {"role": "confidential", "type": "continuous", "bounds": [0, 10]}
SEX = {"role": "public", "type": "binary"}
TABLE = {"pay": np.array([1.0, 2.0, 3.0]), "sex": np.array([0, 1, 1])}
ADD, REPLACE = Adjacency.ADD_REMOVE, Adjacency.REPLACE_ONE


def schema_of(size=None, unit=False, **columns):
    table = {} if size is None else {"size": size}
    if unit:
        table["rows_per_unit"] = 2
        columns["id"] = {"role": "unit"}
    return Schema.from_dict({"table": table, "columns": {"pay": PAY} | columns})


def test_public_columns_are_copied_and_the_release_says_that_membership_shows():
    skeleton = skeleton_for(schema_of(sex=SEX), Held(TABLE), ADD)
    assert (skeleton.rows, skeleton.copied, skeleton.membership) == (3, True, False)


def test_rows_of_another_file_are_refused_if_they_are_the_table_s_own_in_any_order():
    schema = schema_of(sex=SEX)
    with pytest.raises(BadInput, match="the table's own public rows: leave out `predictors`"):
        skeleton_for(schema, Held(TABLE), ADD, separate={"sex": np.array([1, 0, 1])})
    other = skeleton_for(schema, Held(TABLE), ADD, separate={"sex": np.array([1, 0])})
    assert (other.rows, other.copied, other.membership) == (2, False, True)


def test_the_declared_size_or_the_one_asked_for_hides_how_many_there_are():
    assert skeleton_for(schema_of(8), Held(TABLE), ADD) == Skeleton({}, 8)
    assert skeleton_for(schema_of(8), Held(TABLE), ADD, rows=5).rows == 5


def test_the_number_of_records_is_used_only_where_neighbours_share_it():
    skeleton = skeleton_for(schema_of(), Held(TABLE), REPLACE)
    assert (skeleton.rows, skeleton.true_size, skeleton.membership) == (3, True, False)
    for adjacency, unit in ((ADD, False), (ADD, True), (REPLACE, True)):
        schema = schema_of(unit=unit)
        with pytest.raises(BadInput, match="number of records is protected"):
            skeleton_for(schema, Held(TABLE), adjacency)
        with pytest.raises(BadInput, match="size of the table, which is protected"):
            with_public_size(Skeleton({}, 5), schema, Held(TABLE), adjacency)


def test_a_size_that_stages_depend_on_is_public_or_admitted():
    asked = Skeleton({}, 5)
    assert with_public_size(asked, schema_of(8), Held(TABLE), ADD) == (asked, 8)
    admitted, size = with_public_size(asked, schema_of(), Held(TABLE), REPLACE)
    assert (size, admitted.true_size, asked.true_size) == (3, True, False)
    copied = Skeleton({"sex": TABLE["sex"]}, 3, copied=True)
    assert with_public_size(copied, schema_of(sex=SEX), Held(TABLE), ADD) == (copied, 3)


def test_copied_rows_are_shuffled_and_others_stay_as_they_are():
    public = {"a": np.arange(50), "b": -np.arange(50)}
    generator = np.random.default_rng(1)
    own = Skeleton(public, 50, copied=True).drawn(generator)
    assert sorted(own["a"]) == list(range(50))
    assert own["a"].tolist() != list(range(50))
    assert np.array_equal(own["b"], -own["a"]), "columns of a row stay together"
    assert Skeleton(public, 50).drawn(generator)["b"].tolist() == public["b"].tolist()
    assert Skeleton({}, 50).drawn(generator) == {}


def test_another_number_of_rows_is_drawn_with_replacement():
    drawn = Skeleton({"a": np.arange(4)}, 4000).drawn(np.random.default_rng(2))
    counts = Counter(drawn["a"].tolist())
    assert set(counts) == {0, 1, 2, 3}
    # Six standard deviations of a binomial count of 4000 at 1/4.
    assert all(abs(count - 1000) < 6 * (4000 * 3 / 16) ** 0.5 for count in counts.values())


@pytest.mark.parametrize("rows", [0, -1, 1.5, True, "3", 1_000_000_001])
def test_a_number_of_rows_that_makes_no_sense_is_refused(rows):
    with pytest.raises(BadInput, match="`rows` must be a positive whole number"):
        Skeleton({}, rows)


def test_predictors_without_a_public_column_are_refused():
    with pytest.raises(BadInput, match="declares no public column"):
        skeleton_for(schema_of(), Held(TABLE), REPLACE, separate={})


def test_balanced_no_row_is_taken_once_more_before_all_others_are():
    public = {"a": np.arange(7), "b": -np.arange(7)}
    more = Skeleton(public, 24, copied=True).drawn(np.random.default_rng(2), balanced=True)
    assert set(Counter(more["a"].tolist()).values()) == {3, 4}
    assert np.array_equal(more["b"], -more["a"])
    taken = Counter()
    for seed in range(700):
        fewer = Skeleton(public, 3).drawn(np.random.default_rng(seed), balanced=True)["a"]
        assert len(set(fewer.tolist())) == 3
        taken[fewer[0].item()] += 1
    assert all(abs(taken[row] - 100) < 45 for row in range(7)), "in no order"
    whole = Skeleton(public, 7, copied=True).drawn(np.random.default_rng(1), balanced=True)
    assert sorted(whole["a"]) == list(range(7))


def test_several_times_the_size_is_of_whatever_is_known():
    assert skeleton_for(schema_of(8), Held(TABLE), ADD, times=10).rows == 80
    assert skeleton_for(schema_of(8), Held(TABLE), ADD, times=10, rows=5).rows == 5
    assert skeleton_for(schema_of(sex=SEX), Held(TABLE), ADD, times=10).rows == 30
    assert skeleton_for(schema_of(), Held(TABLE), REPLACE, times=10).rows == 30
    assert skeleton_for(schema_of(20_000_000), Held(TABLE), ADD, times=10).rows == 100_000_000


def test_reweighted_rows_are_those_of_a_bayesian_bootstrap():
    """Shares of n rows have the variances and covariances of Dirichlet(1, ..., 1)."""
    public, rows = {"a": np.arange(5), "b": -np.arange(5)}, 400
    skeleton = Skeleton(public, rows, copied=True, reweighted=True)
    generator = np.random.default_rng(3)
    shares = []
    for _ in range(4000):
        drawn = skeleton.drawn(generator)
        assert np.array_equal(drawn["b"], -drawn["a"])
        shares.append(np.bincount(drawn["a"], minlength=5) / rows)
    weights = (np.eye(5) / 5 - 1 / 25) / 6
    expected = weights + (np.eye(5) / 5 - 1 / 25 - weights) / rows
    # Entries are known to about 0.0005: half a standard error of a variance is 1/sqrt(8000).
    assert np.cov(np.transpose(shares)) == pytest.approx(expected, abs=0.002)
    assert np.mean(shares, axis=0) == pytest.approx(0.2, abs=0.01)


def test_public_rows_have_an_order_that_does_not_tell_that_of_the_table():
    generator = np.random.default_rng(1)
    rows = {"a": generator.integers(3, size=50), "b": generator.random(50).round(1)}
    again = generator.permutation(50)
    one, other = in_order(rows), in_order({name: each[again] for name, each in rows.items()})
    for name, values in one.items():
        assert values.tolist() == other[name].tolist()
        assert sorted(values) == sorted(rows[name])
    pairs = Counter(zip(rows["a"], rows["b"], strict=True))
    assert Counter(zip(one["a"], one["b"], strict=True)) == pairs
    assert in_order({}) == {}
