"""One number of an answer."""

import math

from understudy.report.intervals import Interval, interval_row

KNOWN = Interval("F", 20_000.0, 19_000.0, 21_000.0, 510.0, 0.25)
OPEN = Interval("M", math.nan, math.nan, math.inf, math.nan, None)


def test_without_noise_it_is_narrower_by_its_share():
    assert KNOWN.without_noise == (19_250.0, 20_750.0)
    assert Interval("x", 2.0, 1.0, 3.0, 0.5, None).without_noise == (1.0, 3.0)


def test_json_has_null_for_what_is_no_number():
    assert KNOWN.to_dict()["privacy_share"] == 0.25
    assert set(OPEN.to_dict().values()) == {"M", None}


def test_a_row_is_written_for_people():
    assert interval_row(KNOWN) == ("F", "20,000", "19,000", "21,000")
    assert interval_row(OPEN) == ("M", "–", "–", "∞")
