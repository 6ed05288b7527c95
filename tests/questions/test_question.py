"""Complete records: those that have every value that is asked about, and no others."""

from __future__ import annotations

import numpy as np

from understudy.questions.question import complete


def test_records_that_lack_a_value_are_left_out_and_other_columns_do_not_matter():
    columns = {
        "a": np.array([1.0, np.nan, 3.0, 4.0]),
        "b": np.array([0, 1, -1, 2]),
        "c": np.full(4, np.nan),
    }
    rows = complete(columns, ("a", "b"))
    assert {name: values.tolist() for name, values in rows.items()} == {"a": [1, 4], "b": [0, 2]}
    assert complete(columns, ("b",))["b"].tolist() == [0, 1, 2]


def test_what_is_complete_is_not_copied():
    values = np.arange(3.0)
    assert complete({"a": values}, ("a",))["a"] is values
