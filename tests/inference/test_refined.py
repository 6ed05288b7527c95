"""How many records a mode is found from."""

from dataclasses import replace

import pytest

from inference.test_mode import beta_evidence
from understudy.inference.mode import RECORDS, find_mode
from understudy.inference.moments import MOST
from understudy.inference.refined import refined
from understudy.inference.start import starting_point
from understudy.support.randomness import Source


@pytest.fixture(scope="module")
def ordinary():
    evidence, source = beta_evidence(1), Source(2)
    start = starting_point(evidence, source)
    return evidence, find_mode(evidence, start, source, records=RECORDS)


def in_doubt(mode, times):
    """Return a mode about whose mean simulation leaves so many times as much open."""
    return replace(mode, prediction=replace(mode.prediction, doubt=times * mode.prediction.doubt))


def test_a_mode_that_simulation_leaves_little_open_of_stays(ordinary):
    evidence, mode = ordinary
    sure = in_doubt(mode, 0.019 / mode.simulation)
    assert refined(evidence, sure, Source(3)) is sure


@pytest.mark.parametrize("more", [2, 8])
def test_records_grow_as_what_is_left_open_does(ordinary, more):
    evidence, mode = ordinary
    unsure = in_doubt(mode, 0.019 * more / mode.simulation)
    found = refined(evidence, unsure, Source(3))
    assert found.records == more * RECORDS
    assert found.simulation < mode.simulation


def test_where_all_is_left_open_few_steps_are_made_from_very_many(ordinary):
    evidence, mode = ordinary
    unsure = in_doubt(mode, 0.95 / mode.simulation)
    assert refined(evidence, unsure, Source(3)).records > MOST
