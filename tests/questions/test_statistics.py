"""Statistics against NumPy and pandas; their variances against repeated samples.

The variance of 1500 estimates has a standard error of 4 %, so a tolerance of 12 % is three of them.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from questioned import SCHEMA, records
from understudy.domain.parsing import parse
from understudy.questions.statistics import Correlation, Mean, Quantile, Share

RICH = parse("pay > 2500 and not job == 'x'", {column.name: column for column in SCHEMA.columns})


def test_values_are_those_that_pandas_computes():
    columns = records(np.random.default_rng(0), 500)
    frame = pd.DataFrame(columns)
    assert Mean("pay").value(columns) == pytest.approx(frame["pay"].mean())
    ordered, place = np.sort(columns["pay"]), 0.9 * 500 - 0.5
    below, above = ordered[int(place)], ordered[int(place) + 1]
    quantile = below + (place - int(place)) * (above - below)
    assert Quantile("pay", 0.9).value(columns) == pytest.approx(quantile)
    share = ((frame["pay"] > 2500) & (frame["job"] != 0)).mean()
    assert Share(RICH).value(columns) == pytest.approx(share)
    correlation = frame["pay"].corr(frame["age"])
    assert Correlation("pay", "age").value(columns) == pytest.approx(correlation)
    assert Correlation("age", "age").value(columns) == pytest.approx(1)


@pytest.mark.parametrize(
    "statistic",
    [
        Mean("pay"),
        Quantile("pay", 0.5),
        Quantile("pay", 0.9),
        Share(RICH),
        Correlation("pay", "age"),
        Correlation("pay", "visits"),
    ],
    ids=str,
)
def test_variances_are_those_of_repeated_samples(statistic):
    rng = np.random.default_rng(1)
    samples = [records(rng, 1500) for _ in range(1500)]
    spread = np.var([statistic.value(sample) for sample in samples])
    stated = np.mean([statistic.variance(sample) for sample in samples[:300]])
    assert stated == pytest.approx(spread, rel=0.12)


def test_correlations_of_other_than_normal_values_have_other_variances():
    """(1 − r²)²/n would be wrong by half for tails like these."""
    rng = np.random.default_rng(2)
    x, y = rng.standard_t(6, size=(2, 1500, 500))
    pairs = [{"x": a, "y": np.abs(a) + b} for a, b in zip(x, y, strict=True)]
    correlation = Correlation("x", "y")
    spread = np.var([correlation.value(pair) for pair in pairs])
    stated = np.mean([correlation.variance(pair) for pair in pairs])
    assert stated == pytest.approx(spread, rel=0.12)
    assert spread > 1.5 / 500


def test_a_quantile_close_to_the_end_has_the_variance_of_what_is_left():
    rng = np.random.default_rng(3)
    samples = [{"x": rng.uniform(size=60)} for _ in range(4000)]
    quantile = Quantile("x", 0.97)
    spread = np.var([quantile.value(sample) for sample in samples])
    stated = np.mean([quantile.variance(sample) for sample in samples])
    assert stated == pytest.approx(spread, rel=0.4)


def test_a_quantile_on_a_heap_does_not_move():
    assert Quantile("x", 0.5).variance({"x": np.repeat([1.0, 2.0, 3.0], [30, 60, 30])}) == 0


@pytest.mark.parametrize(
    "statistic", [Mean("pay"), Quantile("pay", 0.5), Share(RICH), Correlation("pay", "age")]
)
def test_without_records_nothing_can_be_told(statistic):
    nobody = records(np.random.default_rng(4), 0)
    assert np.isnan(statistic.value(nobody))
    assert np.isnan(statistic.variance(nobody))


def test_one_record_has_a_mean_and_no_variance_and_constants_no_correlation():
    one = {"x": np.array([3.0]), "y": np.array([1.0])}
    assert Mean("x").value(one) == Quantile("x", 0.3).value(one) == 3
    assert np.isnan(Mean("x").variance(one))
    assert np.isnan(Quantile("x", 0.3).variance(one))
    constant = {"x": np.full(9, 0.1), "y": np.arange(9.0)}
    assert np.isnan(Correlation("x", "y").value(constant))
