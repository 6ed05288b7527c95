"""Numbers as people read them."""

from __future__ import annotations

import doctest

import pytest

from understudy.report import wording


def test_the_examples_of_the_wording_hold():
    assert doctest.testmod(wording).failed == 0


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (999.96, "1,000"),
        (-1234.5, "−1,234"),
        (0.0, "0"),
        (-0.0, "0"),
        (1e15, "1×10¹⁵"),
        (float("inf"), "∞"),
        (float("nan"), "–"),
    ],
)
def test_numbers_at_the_edges_are_still_readable(number, text):
    assert wording.readable(number) == text
