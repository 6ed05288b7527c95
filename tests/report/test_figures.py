"""The pictures of the report, as far as they can be counted."""

from __future__ import annotations

import numpy as np

from pages import (
    Reader,
)
from understudy.report import figures


def test_many_records_are_thinned_to_2000_points():
    rng = np.random.default_rng(0)
    svg = figures.records(rng.random(5000), rng.random(5000), "pay", "Weight α", limits=(0, 1))
    assert 1900 < svg.count("<use") < 2050


def test_quantiles_of_one_value_or_of_many_can_be_drawn():
    Reader(figures.qq(([3, 3, 3], [3.0]), "pay"))
    rng = np.random.default_rng(0)
    drawn = figures.qq((rng.random(5000), rng.random(300)), "pay")
    assert drawn.count("<use") >= figures.QUANTILES
