"""Groups against pandas, and what a group without records leaves open."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from questioned import SCHEMA, records
from understudy.questions import asked

NAMES = ["x", "y", "z", "y − x", "z − x"]


def test_one_answer_bears_the_text_of_the_question():
    columns = records(np.random.default_rng(0), 300, gaps=True)
    question = asked("  mean(pay) ", SCHEMA)
    pay = columns["pay"][~np.isnan(columns["pay"])]
    assert question.answer(columns) == pytest.approx({"mean(pay)": pay.mean()})
    (answer,) = question.analyse(columns).values()
    assert answer == pytest.approx((pay.mean(), pay.var(ddof=1) / len(pay)))


@pytest.mark.parametrize(
    ("text", "measured"),
    [
        ("mean(pay) by job", lambda frame: frame["pay"].mean()),
        ("median(pay) by job", lambda frame: frame["pay"].median()),
        ("share(pay > 2000) by job", lambda frame: (frame["pay"] > 2000).mean()),
        ("correlation(pay, age) by job", lambda frame: frame["pay"].corr(frame["age"])),
    ],
)
def test_groups_are_those_of_pandas(text, measured):
    columns = records(np.random.default_rng(1), 400, gaps=True)
    frame = pd.DataFrame(columns).dropna()
    each = [measured(frame[frame["job"] == code]) for code in range(3)]
    expected = [*each, each[1] - each[0], each[2] - each[0]]
    question = asked(text, SCHEMA)
    answers = question.answer(columns)
    assert list(answers) == NAMES
    assert list(answers.values()) == pytest.approx(expected)
    analysed = question.analyse(columns)
    assert {name: value for name, (value, _) in analysed.items()} == answers
    variances = [variance for _, variance in analysed.values()]
    assert variances[3:] == pytest.approx([sum(variances[:2]), variances[0] + variances[2]])


def test_a_group_without_records_cannot_be_told_and_moves_no_other():
    columns = records(np.random.default_rng(2), 200)
    columns["job"] = np.where(columns["job"] == 1, 0, columns["job"])
    answers = asked("mean(pay) by job", SCHEMA).answer(columns)
    assert list(answers) == NAMES
    assert [name for name, value in answers.items() if np.isnan(value)] == ["y", "y − x"]
    without_the_first = {**columns, "job": np.full(200, 2)}
    answers = asked("mean(pay) by job", SCHEMA).answer(without_the_first)
    assert [name for name, value in answers.items() if not np.isnan(value)] == ["z"]
    assert answers["z"] == pytest.approx(columns["pay"].mean())
