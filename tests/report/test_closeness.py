"""How close a table came, in plain words."""

from __future__ import annotations

import pandas as pd

import understudy as us
from understudy.report import closeness
from understudy.report.drift import Earlier
from understudy.utility import compare


def test_closeness_is_told_in_plain_words():
    schema = us.Schema.from_dict(
        {
            "columns": {
                "pay": {"role": "confidential", "type": "continuous", "bounds": [0, 100]},
                "sex": {"role": "confidential", "type": "categorical", "levels": ["f", "m"]},
            }
        }
    )
    ours = pd.DataFrame({"pay": [10.0, 20.0, 30.0, 40.0], "sex": ["f", "f", "m", "m"]})
    theirs = pd.DataFrame({"pay": [10.0, 22.0, 33.0, 44.0], "sex": ["f", "m", "m", "m"]})
    told = closeness.sentences(
        schema, compare(ours, theirs, schema), Earlier("2026-01", ours), theirs
    )
    assert told == [
        "Half of the confidential records have pay up to 25; half of the synthetic rows up to "
        "27.5, which is 10% more. The share of records up to any given value is off by at most 25 "
        "percentage points.",
        "The shares of the levels of sex are off by at most 25 percentage points, alone or "
        "together.",
        "Since 2026-01 the synthetic median of pay went from about 25 to 27.5, which is 10% more.",
        "Since 2026-01 the shares of the levels of sex moved by 25 percentage points in all.",
    ]
