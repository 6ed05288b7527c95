"""The picture of a calibration."""

from xml.etree import ElementTree

import pytest

from outcomes import BASELINE, GRID
from understudy.periods.calibration.frontier import frontier


@pytest.mark.parametrize("baseline", [BASELINE, None])
def test_each_mechanism_that_was_drawn_has_a_line_and_the_choice_a_ring(baseline):
    drawn = ElementTree.fromstring(frontier(GRID, baseline, GRID[2]))
    words = {element.text for element in drawn.iter() if element.text}
    assert {"anchored", "ph", "chosen", "ε of each period (logarithmic)"} <= words
    assert {"0.1", "1", "5"} <= words, "the ε that were tried"
    assert "censor-uw" not in words, "its chains did not converge"
    assert ("without privacy" in words) == (baseline is not None)
