"""What a setting costs, in words."""

from outcomes import outcome
from understudy.periods.calibration.words import cost


def test_the_cost_is_told_in_words():
    assert cost(outcome(1.0, 0.024, median=0.012, total_variation=0.1)) == (
        "the median is off by 1.2% on average, the mean by 1%, the share of records up to some "
        "value by 2.4 percentage points where it is worst, the share of some levels by 10 "
        "percentage points where it is worst"
    )
