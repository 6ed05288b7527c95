"""Results are read arm by arm, in the order of the replicates, or refused."""

import numpy as np
import pytest
from scipy import stats

from understudy.errors import BadInput
from understudy.study import paper
from understudy.study.arms import (
    COLUMNS,
    DOWNSCALED,
    LABELS,
    STATISTICS,
    Results,
    arms,
    has,
    short,
    true_value,
)


def test_arms_without_target_or_weights_are_the_same_in_every_panel(results, frame):
    plain = frame[(frame.mechanism == "unweighted") & (frame.statistic == "max_ecdf")]
    for epsilon in paper.EPSILONS:
        found = results.values("unweighted", "max_ecdf", epsilon=epsilon, c1=0.8)
        np.testing.assert_array_equal(found, plain.value)


def test_values_come_in_the_order_of_the_replicates(frame):
    shuffled = Results(frame.sample(frac=1, random_state=3))
    expected = Results(frame).values("ph", "median", epsilon=4.0)
    np.testing.assert_array_equal(shuffled.values("ph", "median", epsilon=4.0), expected)


@pytest.mark.parametrize("column", COLUMNS)
def test_results_without_a_column_are_refused(frame, column):
    with pytest.raises(BadInput, match=column):
        Results(frame.drop(columns=column))


def test_results_that_lack_a_replicate_of_an_arm_are_refused(frame):
    torn = Results(frame.drop(frame[frame.mechanism == "ph"].index[0]))
    with pytest.raises(BadInput, match="for every replicate"):
        torn.values("ph", "max_ecdf", epsilon=5.0)


def test_true_values_are_those_of_the_beta_distribution():
    law = stats.beta(*paper.SHAPES)
    found = [true_value(statistic) for statistic in ("mean", "median", "q15", "q90")]
    np.testing.assert_allclose(found, [law.mean(), law.ppf(0.5), law.ppf(0.15), law.ppf(0.9)])


def test_every_mechanism_has_its_arms_and_the_downscaled_ones_a_second_time():
    every = list(arms())
    assert len(every) == len(set(every))
    assert {arm.mechanism for arm in every} == set(LABELS)
    assert [arm.mechanism for arm in every if arm.c1 == paper.DOWNSCALED_C1] == list(DOWNSCALED)
    assert sum(arm.mechanism == "censor-uw" for arm in every) == len(paper.EPSILONS)
    assert sum(arm.mechanism == "unweighted" for arm in every) == 1


def test_an_arm_has_a_statistic_exactly_where_the_results_hold_it(results, frame):
    for mechanism in LABELS:
        there = set(frame[frame.mechanism == mechanism].statistic)
        assert {statistic for statistic in STATISTICS if has(mechanism, statistic)} == (
            there & set(STATISTICS)
        )


def test_a_loss_is_the_distance_from_the_data_where_the_data_have_the_statistic(results):
    own = results.values("ph", "median", epsilon=4.0)
    data = results.values("data", "median")
    np.testing.assert_array_equal(results.loss("ph", "median", 4.0), np.abs(own - data))
    distance = results.values("ph", "max_ecdf", epsilon=4.0)
    np.testing.assert_array_equal(results.loss("ph", "max_ecdf", 4.0), distance)


def test_downscaling_compares_c1_of_1_with_that_of_the_paper(results):
    downscaled, without = results.with_and_without_downscaling("weighted-e", "records")
    at = {"epsilon": paper.DOWNSCALED_EPSILON}
    np.testing.assert_array_equal(without, results.values("weighted-e", "records", **at))
    expected = results.values("weighted-e", "records", c1=paper.DOWNSCALED_C1, **at)
    np.testing.assert_array_equal(downscaled, expected)


def test_a_short_name_leaves_out_the_kind_of_guarantee():
    assert [short(key) for key in ("data", "weighted", "ph-sqrt")] == [
        "Data",
        "Weighted",
        "PH, √n bins",
    ]
