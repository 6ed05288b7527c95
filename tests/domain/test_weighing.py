"""Rows as often as their survey weights say."""

import numpy as np
import pytest

from understudy.domain.weighing import by_weight

TABLE = {"y": np.array([1.0, 2.0, 3.0]), "w": np.array([1.0, 0.0, 3.0])}


def test_rows_are_there_as_often_as_their_weights_say():
    made = by_weight(TABLE, "w", 8)
    assert made["y"].tolist() == [1.0, 1.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0]
    assert made["w"].tolist() == [1.0] * 2 + [3.0] * 6


def test_their_mean_is_the_weighted_mean():
    generator = np.random.default_rng(0)
    table = {"y": generator.normal(size=5000), "w": generator.exponential(size=5000)}
    made = by_weight(table, "w", 100_000)
    assert made["y"].mean() == pytest.approx(np.average(table["y"], weights=table["w"]), abs=1e-3)


@pytest.mark.parametrize("weights", [[], [0.0, 0.0]])
def test_rows_without_any_weight_stay_as_they_are(weights):
    table = {"w": np.array(weights)}
    assert by_weight(table, "w", 10) is table
