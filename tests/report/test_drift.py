"""The report's section on what moved since the last release."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pages import (
    HOSTILE,
    PEOPLE,
    Reader,
    people,
    tiny_page,
)
from understudy.domain.schema import Schema
from understudy.report.drift import Earlier, since
from understudy.utility import max_ecdf


def test_what_moved_is_told_with_what_chance_alone_would_do():
    before = people(1000)
    now = before.assign(pay=before["pay"] + 5, works=people(1000, seed=1)["works"])
    found = since(Earlier("2026-01", before), now, PEOPLE)
    mean, median, works = found["rows"]
    assert mean[0] == "pay: mean"
    assert mean[3] == "+5"
    assert float(median[5]) > 5 * float(median[6])
    assert float(works[5]) < 3 * float(works[6])
    assert len(found["pictures"]) == 2
    # The column that moved most is drawn first.
    assert found["pictures"][0]["caption"].startswith("pay")


def test_the_chance_of_rows_is_about_what_two_samples_show():
    from understudy.report.drift import _chance_of_numbers

    rng = np.random.default_rng(0)
    found = np.mean([max_ecdf(rng.random(400), rng.random(900)) for _ in range(200)])
    assert _chance_of_numbers(400, 900) == pytest.approx(found, rel=0.1)


def test_columns_with_missing_values_and_without_any_value_are_compared():
    column = {"role": "confidential", "type": "continuous", "bounds": [0, 9], "missing": "model"}
    schema = Schema.from_dict({"columns": {"a": column, "b": column}})
    before = pd.DataFrame({"a": [1.0, np.nan], "b": [np.nan, np.nan]})
    now = pd.DataFrame({"a": [2.0, 3.0], "b": [1.0, 2.0]})
    found = since(Earlier("then", before), now, schema)
    assert [row[0] for row in found["rows"]] == ["a: missing", "a: mean", "a: median", "b: missing"]
    assert len(found["pictures"]) == 1


def test_the_report_shows_the_drift_only_where_there_is_an_earlier_release():
    page = tiny_page()
    assert "Since the last release" not in Reader(page.render()).text
    html = tiny_page(earlier=Earlier(HOSTILE, page.confidential)).render()
    reader = Reader(html)
    assert "script" not in reader.tags
    assert HOSTILE in "".join(reader.words)
    assert "Since the last release" in reader.text
    assert "This release" in reader.text
    assert max(reader.ids.values()) == 1
