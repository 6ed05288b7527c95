"""Utility: the measures against their definitions, written out."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp

from understudy.domain.schema import Schema
from understudy.errors import BadInput
from understudy.utility.marginal import (
    CategoricalUtility,
    ColumnStatistics,
    MissingShares,
    Utility,
    avg_ecdf,
    compare,
    level_shares,
    max_ecdf,
    measure_levels,
    summarise,
)

numbers = st.one_of(
    st.integers(-4, 4).map(float),
    st.floats(-1e6, 1e6, allow_nan=False, allow_infinity=False),
)
samples = st.lists(numbers, min_size=1, max_size=40)


def gaps_by_definition(x: list[float], y: list[float]) -> list[float]:
    return [
        sum(value <= t for value in x) / len(x) - sum(value <= t for value in y) / len(y)
        for t in x + y
    ]


@given(samples, samples)
def test_the_ecdf_measures_equal_their_definition(x, y):
    gaps = gaps_by_definition(x, y)
    assert max_ecdf(x, y) == pytest.approx(max(abs(gap) for gap in gaps), abs=1e-12)
    assert avg_ecdf(x, y) == pytest.approx(sum(g * g for g in gaps) / len(gaps), abs=1e-12)


# scipy approximates a p-value on the way, which fails for the smallest samples.
larger_samples = st.lists(numbers, min_size=4, max_size=40)


@given(larger_samples, larger_samples)
def test_max_ecdf_is_the_kolmogorov_smirnov_statistic(x, y):
    assert max_ecdf(x, y) == pytest.approx(ks_2samp(x, y, method="asymp").statistic, abs=1e-12)


@given(samples, samples)
def test_the_ecdf_measures_are_symmetric_and_within_0_and_1(x, y):
    assert max_ecdf(x, y) == max_ecdf(y, x)
    assert avg_ecdf(x, y) == pytest.approx(avg_ecdf(y, x), abs=1e-15)
    assert 0 <= avg_ecdf(x, y) <= max_ecdf(x, y) <= 1


@given(samples, st.integers(1, 5), st.randoms(use_true_random=False))
def test_a_sample_repeated_and_reordered_is_at_distance_exactly_0(x, times, random):
    y = x * times
    random.shuffle(y)
    assert max_ecdf(x, y) == 0
    assert avg_ecdf(x, y) == 0


@given(samples, samples)
def test_the_ecdf_measures_depend_on_the_order_of_the_values_alone(x, y):
    ranks = {value: rank for rank, value in enumerate(sorted({*x, *y}))}
    moved_x, moved_y = ([3.0 * ranks[v] - 7 for v in sample] for sample in (x, y))
    assert max_ecdf(moved_x, moved_y) == max_ecdf(x, y)
    assert avg_ecdf(moved_x, moved_y) == pytest.approx(avg_ecdf(x, y), abs=1e-15)


def test_tied_records_each_count():
    # At the value 1 the functions are 3/4 and 1/2; at 2 both are 1. Six records are pooled: three
    # plus one lie at 1 and have a gap of 1/4, the other two lie at 2 and have none.
    assert max_ecdf([1, 1, 1, 2], [1, 2]) == 0.25
    assert avg_ecdf([1, 1, 1, 2], [1, 2]) == pytest.approx(4 * 0.0625 / 6)


def test_samples_without_overlap_are_at_distance_1():
    assert max_ecdf([1, 2, 3], [4, 5]) == 1


def test_a_large_table_is_compared_quickly():
    rng = np.random.default_rng(0)
    x, y = rng.random(400_000), rng.random(300_000)
    assert max_ecdf(x, y) < 0.01


@pytest.mark.parametrize("measure", [max_ecdf, avg_ecdf])
@pytest.mark.parametrize("broken", [np.nan, np.inf, -np.inf])
def test_a_missing_or_infinite_value_is_refused_by_its_place(measure, broken):
    with pytest.raises(BadInput, match=r"synthetic table is missing or infinite in record 2;"):
        measure([1.0, 2.0], [1.0, broken, 3.0])


@pytest.mark.parametrize("measure", [max_ecdf, avg_ecdf])
def test_an_empty_sample_is_refused(measure):
    with pytest.raises(BadInput, match="the confidential table has no records"):
        measure([], [1.0])


def test_summaries_are_numpys_quantiles_and_mean():
    values = np.random.default_rng(0).lognormal(size=101)
    assert summarise(values) == ColumnStatistics(
        mean=values.mean(),
        median=np.median(values),
        q15=np.quantile(values, 0.15),
        q90=np.quantile(values, 0.9),
    )


levels = st.lists(st.sampled_from("abc"), min_size=1, max_size=30)


@given(levels, levels)
def test_total_variation_is_the_largest_difference_over_sets_of_levels(x, y):
    def share(sample, chosen):
        return sum(value in chosen for value in sample) / len(sample)

    subsets = ["", "a", "b", "c", "ab", "ac", "bc", "abc"]
    largest = max(abs(share(x, chosen) - share(y, chosen)) for chosen in subsets)
    found = measure_levels(x, y, ["a", "b", "c"]).total_variation
    assert found == pytest.approx(largest, abs=1e-12)


def test_identical_levels_are_at_distance_exactly_0():
    assert measure_levels(list("abcab"), list("baacb"), ["a", "b", "c"]).total_variation == 0


def test_a_declared_level_that_never_occurs_has_share_0():
    assert level_shares(list("aab"), ["a", "b", "z"], "synthetic") == {
        "a": pytest.approx(2 / 3),
        "b": pytest.approx(1 / 3),
        "z": 0,
    }


def test_an_undeclared_level_is_refused_without_being_quoted():
    with pytest.raises(BadInput, match="record 2") as refusal:
        level_shares(["a", "secret", "a"], ["a", "b"], "confidential")
    assert "secret" not in str(refusal.value)


@pytest.fixture
def schema() -> Schema:
    return Schema.from_dict(
        {
            "table": {"size": 4},
            "columns": {
                "pay": {"role": "confidential", "type": "continuous", "bounds": [0, 9]},
                "job": {"role": "confidential", "type": "categorical", "levels": ["x", "y"]},
                "age": {"role": "public", "type": "integer", "bounds": [0, 99]},
            },
        }
    )


def test_compare_measures_every_confidential_column_and_no_public_one(schema):
    confidential = pd.DataFrame({"pay": [1.0, 2, 3, 4], "job": list("xxyy"), "age": [1, 2, 3, 4]})
    synthetic = pd.DataFrame({"pay": [3.0, 4, 5, 6, 7, 8], "job": list("xyyyyy")})
    utilities = compare(confidential, synthetic, schema)
    assert list(utilities) == ["pay", "job"]
    assert utilities["pay"] == Utility(
        max_ecdf=pytest.approx(2 / 3),
        avg_ecdf=avg_ecdf(confidential["pay"], synthetic["pay"]),
        confidential=summarise([1, 2, 3, 4]),
        synthetic=summarise([3, 4, 5, 6, 7, 8]),
    )
    assert utilities["job"] == CategoricalUtility(
        total_variation=pytest.approx(1 / 3),
        confidential={"x": 0.5, "y": 0.5},
        synthetic={"x": pytest.approx(1 / 6), "y": pytest.approx(5 / 6)},
    )


def test_utilities_can_be_written_as_json(schema):
    table = pd.DataFrame({"pay": [1.0, 2.0], "job": ["x", "y"]})
    written = {name: found.to_dict() for name, found in compare(table, table, schema).items()}
    assert json.loads(json.dumps(written)) == {
        "pay": {
            "max_ecdf": 0.0,
            "avg_ecdf": 0.0,
            "confidential": {"mean": 1.5, "median": 1.5, "q15": 1.15, "q90": 1.9},
            "synthetic": {"mean": 1.5, "median": 1.5, "q15": 1.15, "q90": 1.9},
        },
        "job": {
            "total_variation": 0.0,
            "confidential": {"x": 0.5, "y": 0.5},
            "synthetic": {"x": 0.5, "y": 0.5},
        },
    }


class TestMissing:
    """Shares of missing values, and distances of the rest."""

    SCHEMA = Schema.from_dict(
        {
            "columns": {
                "pay": {
                    "role": "confidential",
                    "type": "continuous",
                    "bounds": [0, 9],
                    "missing": "model",
                },
                "job": {
                    "role": "confidential",
                    "type": "categorical",
                    "levels": ["x", "y"],
                    "missing": "model",
                },
            }
        }
    )
    OURS = pd.DataFrame({"pay": [1.0, np.nan, 3, 4], "job": ["x", None, "y", "y"]})
    THEIRS = pd.DataFrame({"pay": [3.0, 4, 5, 6, np.nan, np.nan], "job": list("xyyyyy")})

    def test_distances_are_those_of_the_values_that_are_there(self):
        found = compare(self.OURS, self.THEIRS, self.SCHEMA)
        assert found["pay"].max_ecdf == max_ecdf([1, 3, 4], [3, 4, 5, 6])
        assert found["pay"].missing == MissingShares(
            confidential=0.25, synthetic=pytest.approx(1 / 3)
        )
        assert found["job"].total_variation == pytest.approx(1 / 6)
        assert found["job"].confidential == {"x": pytest.approx(1 / 3), "y": pytest.approx(2 / 3)}
        assert found["job"].missing == MissingShares(confidential=0.25, synthetic=0.0)
        assert found["pay"].to_dict()["missing"]["confidential"] == 0.25

    def test_a_column_without_any_value_agrees_with_nothing_but_another_such(self):
        empty = self.OURS.assign(pay=np.nan, job=pd.Series([None] * 4, dtype="str"))
        for one, other in ((empty, self.THEIRS), (self.OURS, empty)):
            found = compare(one, other, self.SCHEMA)
            assert found["pay"].max_ecdf == found["job"].total_variation == 1.0
            json.dumps([each.to_dict() for each in found.values()], allow_nan=False)
        found = compare(empty, empty, self.SCHEMA)
        assert found["pay"].max_ecdf == found["job"].total_variation == 0.0
        assert found["pay"].missing == MissingShares(confidential=1.0, synthetic=1.0)


def test_compare_names_the_table_and_the_column_that_it_refuses(schema):
    table = pd.DataFrame({"pay": [1.0, np.nan], "job": ["x", "y"]})
    with pytest.raises(BadInput, match=r"column 'pay': the confidential table .* record 2"):
        compare(table, table.assign(pay=1.0), schema)
    with pytest.raises(BadInput, match="the synthetic table has no column 'job'"):
        compare(table.assign(pay=1.0), table.assign(pay=1.0)[["pay"]], schema)
