"""A violin is a kernel density, and values that do not spread have none."""

import numpy as np
import pytest
from scipy import stats

from understudy.study.violins import Positions, Violin, density, has_density, limits


def test_a_violin_is_the_kernel_density_of_its_values():
    values = np.random.default_rng(1).normal(size=200)
    grid, heights = density(values)
    bandwidth = 0.9 * min(values.std(ddof=1), stats.iqr(values) / 1.34) * 200**-0.2
    expected = [stats.norm.pdf(at, values, bandwidth).mean() for at in grid]
    np.testing.assert_allclose(heights, expected)
    assert (grid[0], grid[-1]) == (values.min(), values.max())


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.full(100, 2.5), False),
        (np.array([1.0]), False),
        (np.array([1.0, 2.0, 3.0]), False),
        (np.linspace(1, 2, 50), True),
        (np.r_[np.full(75, 2.0), np.linspace(1, 2, 25)], True),
    ],
)
def test_only_values_that_spread_have_a_density(values, expected):
    assert has_density(values, span=2.0) == expected
    if expected:
        assert np.isfinite(density(values)[1]).all()


def violin(*values, beyond=False):
    return Violin(label="", colour="", beyond=beyond, values=np.array(values))


def test_rows_stand_from_the_top_down_with_a_gap_before_those_not_in_the_paper():
    positions = Positions.of([violin(1.0), violin(2.0), violin(3.0, beyond=True)])
    assert positions.rows[1] - positions.rows[0] == 1
    assert positions.rows[2] - positions.rows[1] > 1
    assert positions.rows[1] < positions.first_beyond < positions.rows[2] < positions.depth
    assert Positions.of([violin(1.0)]).first_beyond is None


def test_limits_leave_room_around_every_value_and_line():
    low, high = limits([[violin(1.0, 2.0)], [violin(4.0)]], [5.0, None])
    assert low < 1
    assert high > 5
    low, high = limits([[violin(0.0)]], [None])
    assert low < 0 < high
