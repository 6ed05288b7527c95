"""The picture of all pairs of columns."""

from __future__ import annotations

import itertools
import re

import pytest

from pages import (
    Reader,
)
from understudy.report.heatmap import heat_map
from understudy.utility.pairs import InBothTables, PairUtility


@pytest.mark.parametrize("count", [2, 5, 12, 30])
def test_a_heat_map_has_a_square_for_every_pair(count):
    names = [f"column {k} with a long name" for k in range(count)]
    pairs = [
        PairUtility(
            columns=(a, b),
            total_variation=None if k == 1 else 0.01 * k,
            expected=0.01,
            cramers_v=InBothTables(0.1, None),
            correlation=None,
        )
        for k, (a, b) in enumerate(itertools.combinations(names, 2))
    ]
    drawn = heat_map(pairs, 0.5, "map")
    Reader(drawn)
    numbers = re.findall(r">\d\.\d\d\d</text>", drawn)
    told = sum(pair.total_variation is not None for pair in pairs)
    # The scale beside the map has numbers, too.
    assert (len(numbers) >= told) == (count <= 8)
    assert drawn.count("column") == 2 * (count - 1)
