"""Spikes and grids lie within the declared bounds, or are refused."""

import math

import pytest

from understudy.domain.heaps import MOST_MULTIPLES, MOST_SPIKES, check_grid, check_spikes
from understudy.errors import BadInput


@pytest.mark.parametrize("spikes", [(), (0.0,), (0.0, 52.0), tuple(range(MOST_SPIKES))])
def test_spikes_within_the_bounds_are_allowed(spikes):
    check_spikes(spikes, (0.0, 1000.0), whole=True)


@pytest.mark.parametrize(
    ("spikes", "whole", "said"),
    [
        ((-1.0,), False, "outside its bounds"),
        ((1001.0,), False, "outside its bounds"),
        ((math.nan,), False, "outside its bounds"),
        ((0.5,), True, "not a whole number"),
        ((52.0, 0.0), False, "ascending"),
        ((5.0, 5.0), False, "each of them once"),
        (tuple(range(MOST_SPIKES + 1)), False, f"more than {MOST_SPIKES}"),
    ],
)
def test_other_spikes_are_refused(spikes, whole, said):
    with pytest.raises(BadInput, match=said):
        check_spikes(spikes, (0.0, 1000.0), whole=whole)


@pytest.mark.parametrize(
    ("grid", "bounds", "whole"),
    [
        (1000.0, (0.0, 600_000.0), True),
        (0.25, (-1.0, 1.0), False),
        (1.0, (0.0, MOST_MULTIPLES - 1.0), True),
        (7.0, (6.5, 7.5), False),
    ],
)
def test_a_grid_with_multiples_within_the_bounds_is_allowed(grid, bounds, whole):
    check_grid(grid, bounds, whole=whole)


@pytest.mark.parametrize(
    ("grid", "whole", "said"),
    [
        (0.0, False, "above 0"),
        (-5.0, False, "above 0"),
        (math.nan, False, "above 0"),
        (math.inf, False, "above 0"),
        (2.5, True, "not a whole number"),
        (0.004, False, "more than 2,000 multiples"),
        (5e-324, False, "more than 2,000 multiples"),
        (100.0, False, "without any multiple"),
    ],
)
def test_another_grid_is_refused(grid, whole, said):
    with pytest.raises(BadInput, match=said):
        check_grid(grid, (1.0, 9.0), whole=whole)


def test_one_multiple_more_than_allowed_is_too_many():
    check_grid(1.0, (1.0, float(MOST_MULTIPLES)), whole=True)
    with pytest.raises(BadInput, match="multiples"):
        check_grid(1.0, (0.0, float(MOST_MULTIPLES)), whole=True)
