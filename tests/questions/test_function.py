"""Functions of a table: what they are given, and what they may return."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from questioned import SCHEMA, records
from understudy.domain.schema import Schema
from understudy.errors import BadInput
from understudy.questions import asked


def gap(table: pd.DataFrame) -> float:
    return table["pay"].max() - table["pay"].min()


def test_a_function_is_given_the_table_with_its_levels():
    columns = records(np.random.default_rng(0), 50, gaps=True)
    question = asked(gap, SCHEMA)
    assert question.text == "gap"
    assert question.answer(columns) == {
        "gap": np.nanmax(columns["pay"]) - np.nanmin(columns["pay"])
    }
    shares = asked(lambda table: table["job"].value_counts(normalize=True), SCHEMA).answer(columns)
    known = columns["job"][columns["job"] >= 0]
    assert shares == pytest.approx({"xyz"[k]: np.mean(known == k) for k in range(3)})


def test_several_numbers_are_returned_by_name():
    columns = records(np.random.default_rng(1), 50)
    question = asked(lambda table: {"rows": len(table), "none": float("nan")}, SCHEMA)
    answers = question.answer(columns)
    assert list(answers) == ["rows", "none"]
    assert answers["rows"] == 50
    assert np.isnan(answers["none"])


@pytest.mark.parametrize("returned", ["text", None, [1, 2], {"a": "b"}])
def test_what_is_no_number_is_refused(returned):
    question = asked(lambda table: returned, SCHEMA)
    with pytest.raises(BadInput, match="must return a number"):
        question.answer(records(np.random.default_rng(2), 5))


def test_no_variance_is_made_up():
    with pytest.raises(BadInput, match="'gap' returns is not known"):
        asked(gap, SCHEMA).analyse(records(np.random.default_rng(3), 5))


def test_a_function_sees_why_values_are_missing():
    codes = {"missing": "model", "codes": {"N": "does not apply", "B": "refused"}}
    pay = {"role": "confidential", "type": "integer", "bounds": [0, 99], **codes}
    schema = Schema.from_dict({"columns": {"pay": pay}})
    columns = {"pay": np.array([1.0, np.nan]), "pay (why missing)": np.array([-1, 1])}
    question = asked(lambda table: {cell: 1.0 for cell in table["pay"]}, schema)
    assert list(question.answer(columns)) == ["1", "B"]
