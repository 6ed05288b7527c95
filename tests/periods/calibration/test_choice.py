"""The setting to release with follows stated rules."""

import pytest

from outcomes import BASELINE, GRID, outcome
from understudy.errors import BadInput, Refused
from understudy.periods.calibration.choice import (
    WantedAccuracy,
    best_by_epsilon,
    choose,
    smallest_epsilon,
)
from understudy.periods.calibration.sweep import Outcome


def test_each_epsilon_has_its_best_setting():
    best = best_by_epsilon(GRID)
    assert [(e, o.distance) for e, o in best.items()] == [(0.1, 0.15), (1.0, 0.05), (5.0, 0.04)]


def test_a_stated_epsilon_takes_the_closest_there():
    assert choose(GRID, BASELINE, epsilon=0.1).setting.mechanism == "ph"


def test_a_target_takes_the_smallest_epsilon_that_reaches_it():
    assert smallest_epsilon(GRID, WantedAccuracy("max_ecdf", 0.16)).setting.epsilon == 0.1
    assert choose(GRID, BASELINE, target=WantedAccuracy("max_ecdf", 0.055)).setting.epsilon == 1.0
    with pytest.raises(Refused, match=r"max_ecdf = 0.03 is not reached.* the best is 0.04"):
        choose(GRID, BASELINE, target=WantedAccuracy("max_ecdf", 0.03))
    with pytest.raises(Refused, match="total_variation cannot be measured"):
        choose(GRID, BASELINE, target=WantedAccuracy("total_variation", 0.03))


def test_without_either_it_takes_the_smallest_epsilon_that_loses_little():
    assert choose(GRID, BASELINE).setting.epsilon == 1.0
    close = Outcome(BASELINE.setting, outcome(1.0, 0.02).draws)
    assert choose(GRID, close).setting.epsilon == 1.0, "0.05 is within a quarter of 0.04"
    assert choose(GRID, None).setting.epsilon == 1.0
    assert choose([*GRID, outcome(5.0, 0.039)], None).setting.epsilon == 5.0


def test_a_refused_target_tells_nothing_of_a_confidential_reference():
    with pytest.raises(Refused, match=r"max_ecdf = 0.03 is not reached at any ε.*Ask") as told:
        choose(GRID, BASELINE, target=WantedAccuracy("max_ecdf", 0.03), public=False)
    assert "0.04" not in str(told.value)


def test_nothing_that_converged_is_nothing_to_choose():
    with pytest.raises(Refused, match="the chains of none converged"):
        choose(GRID[-1:], BASELINE)


@pytest.mark.parametrize("text", ["max_ecdf", "max_edcf=0.1", "median=a", "mean=0", "mean=nan"])
def test_a_target_is_a_metric_and_a_number(text):
    with pytest.raises(BadInput, match=r"METRIC=VALUE|between 0 and 1"):
        WantedAccuracy.parse(text)
