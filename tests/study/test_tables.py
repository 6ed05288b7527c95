"""The tables: the paper's summary of ours, beside its printed one."""

import numpy as np
import pandas as pd
import pytest

from study_results import R, changed
from understudy.study import paper
from understudy.study.arms import LABELS, arms
from understudy.study.tables import (
    counts_frame,
    standard_errors,
    summarise,
    supplement_table,
    table_1,
    utility_frame,
)


def test_counts_are_summarised_as_numpy_does_it(frame, results):
    chosen = frame[
        (frame.mechanism == "censor-uw") & (frame.epsilon == 3) & (frame.statistic == "records")
    ].value.to_numpy()
    row = next(r for r in table_1(results) if (r.mechanism, r.epsilon) == ("censor-uw", 3.0))
    expected = [
        *np.percentile(chosen, [0, 25, 50]),
        chosen.mean(),
        *np.percentile(chosen, [75, 100]),
    ]
    np.testing.assert_allclose(row.ours[:6], expected)
    assert row.ours.sd == pytest.approx(np.sqrt(((chosen - chosen.mean()) ** 2).sum() / (R - 1)))
    assert row.printed == paper.TABLE_1["censor-uw", 3.0]


def test_standard_errors_take_both_runs_into_account():
    ours = paper.Counts(0, 0, 0, 130, 0, 0, 30)
    printed = paper.Counts(0, 0, 0, 110, 0, 0, 40)
    assert standard_errors(ours, printed, 100) == pytest.approx(20 / np.sqrt(9 + 16))
    # A single replicate knows no standard deviation of its own.
    assert standard_errors(ours, printed, 1) == pytest.approx(20 / np.sqrt(1600 + 16))


def test_a_mean_five_standard_errors_away_is_marked_and_one_beside_the_paper_s_is_not(frame):
    far = changed(frame, lambda v: v + 30, mechanism="censor-uw", epsilon=4.0, statistic="records")
    marked = {(row.mechanism, row.epsilon) for row in table_1(far) if row.differs}
    assert marked == {("censor-uw", 4.0)}


def test_tables_hold_the_paper_s_numbers_beside_ours(results):
    written = counts_frame(supplement_table(results))
    sources = written.groupby(["mechanism", "c1"])["source"].apply(list)
    assert sources["weighted-e", 0.8] == ["this run", "paper"]
    assert sources["censor-w", 0.8] == ["this run", "paper", "this run, unweighted"]
    printed = written[(written.source == "paper") & (written.c1 == 0.8)]
    assert list(printed["mean"]) == [91, 144]


def test_the_utility_table_has_every_arm_and_statistic_once(results):
    table = utility_frame(results)
    assert not table.duplicated(["mechanism", "epsilon", "c1", "statistic"]).any()
    assert set(table.mechanism) == set(LABELS)
    row = table[(table.mechanism == "ph") & (table.epsilon == 5) & (table.statistic == "max_ecdf")]
    values = results.values("ph", "max_ecdf", epsilon=5.0)
    assert row["median"].item() == pytest.approx(np.median(values))
    assert row["mean"].item() == pytest.approx(np.mean(values))


def test_written_tables_can_be_read_back(written, results):
    table = pd.read_csv(written / "table-1.csv")
    assert len(table) == 2 * len(paper.TABLE_1) + 3
    assert len(pd.read_csv(written / "utility.csv")) == len(utility_frame(results))


def test_arm_values_are_those_of_the_table(results):
    for arm in arms():
        values = results.values(arm.mechanism, "median", epsilon=arm.epsilon, c1=arm.c1)
        assert summarise(values).maximum == values.max()
