"""What a question's text may say, and one sentence for each thing that it may not."""

from __future__ import annotations

import numpy as np
import pytest

from questioned import SCHEMA, records
from understudy.domain.schema import Schema
from understudy.errors import BadInput
from understudy.questions import asked


@pytest.mark.parametrize(
    ("text", "columns", "answers"),
    [
        ("mean(pay)", ("pay",), ["mean(pay)"]),
        ("mean( `hours a week` )", ("hours a week",), ["mean( `hours a week` )"]),
        ("quantile(pay, .25)", ("pay",), ["quantile(pay, .25)"]),
        ("correlation(pay,age)", ("pay", "age"), ["correlation(pay,age)"]),
        ("mean(age) by owner", ("age", "owner"), ["no", "yes", "yes − no"]),
        ("mean(age)by `owner`", ("age", "owner"), ["no", "yes", "yes − no"]),
        ("share(job in ('x', 'y') and (age < 30))", ("job", "age"), None),
        (
            "share(`hours a week` > 20) by owner",
            ("hours a week", "owner"),
            ["no", "yes", "yes − no"],
        ),
    ],
)
def test_texts_are_read(text, columns, answers):
    question = asked(text, SCHEMA)
    assert question.text == text
    assert question.columns == columns
    assert not question.regression
    found = question.answer(records(np.random.default_rng(0), 100))
    assert list(found) == (answers or [text])
    assert np.isfinite(list(found.values())).all()


def test_brackets_commas_and_words_in_quotation_marks_mean_nothing():
    levels = ["a) by b", "it's ~ (", "c"]
    layout = {"g, (h": {"role": "public", "type": "categorical", "levels": levels}}
    schema = Schema.from_dict({"columns": layout})
    for code, level in enumerate(levels):
        question = asked(f"share(`g, (h` == {level!r}) by `g, (h`", schema)
        answers = question.answer({"g, (h": np.array([0, 1, 2])})
        assert [answers[each] for each in levels] == [float(k == code) for k in range(3)]


SENTENCES = {
    "mean(income)": "names 'income', which is no column.",
    "mean(payy)": "names 'payy', which is no column (did you mean 'pay'?).",
    "median(notes)": "has the role 'ignore' and is in no synthetic table.",
    "mean(age) by id": "has the role 'unit' and is in no synthetic table.",
    "mean(job)": "'job' has levels: ask for share(job == 'z'), for example.",
    "correlation(pay, owner)": "'owner' has levels",
    "mean(pay) by age": "groups by 'age', which holds numbers: name a column of levels.",
    "mean(pay) by": "has '' where the name of a column belongs",
    "mean(pay) by job, owner": "has 'job, owner' where the name of a column belongs",
    "mean(pay + age)": "has 'pay + age' where the name of a column belongs",
    "mean(__import__('os').getpid())": "where the name of a column belongs",
    "mean()": "must have the name of a column in its brackets.",
    "mean(pay, age)": "must have the name of a column in its brackets.",
    "correlation(pay)": "must have the name of a column and the name of another in its brackets.",
    "quantile(pay)": "must have the name of a column and a share such as 0.9 in its brackets.",
    "quantile(pay, 90)": "needs a share between 0 and 1",
    "quantile(pay, 0)": "needs a share between 0 and 1",
    "quantile(pay, nan)": "needs a share between 0 and 1",
    "quantile(pay, half)": "needs a share between 0 and 1",
    "share(job == 'w')": "'job' has no level 'w'",
    "share(wage > 3)": "there is no column 'wage'",
    "share(notes == 'a')": "has the role 'ignore'",
    "share(pay)": "only names of columns, numbers, levels, codes and dates in quotes",
    "share(1 < 2)": "names no column.",
    "share(exec('1') == 1)": "are understood.",
    "mean(pay": "is not understood",
    "mean(pay) + 1": "is not understood",
    "average(pay)": "is not understood",
    "meen(pay)": "is not understood (did you mean 'mean'?)",
    "": "is not understood",
    "how much do people earn?": "is not understood",
    f"mean({'pay' * 300})": "characters, more than 500",
}


@pytest.mark.parametrize("text", SENTENCES)
def test_what_cannot_be_meant_is_refused_in_one_sentence(text):
    with pytest.raises(BadInput) as caught:
        asked(text, SCHEMA)
    sentence = str(caught.value)
    assert SENTENCES[text] in sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence


def test_what_is_neither_text_nor_function_is_refused():
    with pytest.raises(
        BadInput, match="`question` must be text or a function of a table, not a int"
    ):
        asked(3, SCHEMA)


TWO = {"missing": "model", "codes": {"N": "does not apply", "B": "refused"}}
DATED = Schema.from_dict(
    {
        "columns": {
            "born": {"role": "public", "type": "date", "bounds": ["1970-01-01", "1979-12-31"]},
            "pay": {"role": "confidential", "type": "integer", "bounds": [0, 99], **TWO},
        }
    }
)


def test_shares_of_dates_are_asked_with_a_date_in_quotes():
    columns = {"born": np.array([0.0, 1.0, 2.0, 3.0]), "pay": np.arange(4.0)}
    assert asked("share(born >= '1970-01-02')", DATED).answer(columns) == {
        "share(born >= '1970-01-02')": 0.75
    }
    columns["pay"][0] = np.nan
    assert asked("mean(pay)", DATED).answer(columns) == {"mean(pay)": 2.0}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mean(born)", "'born' holds dates: ask for share(born >= '1979-12-31'), for example."),
        ("correlation(pay, born)", "'born' holds dates"),
        ("share(pay == 'N')", "asks why values are missing"),
        ("share(pay > 3 or pay != 'N')", "asks why values are missing"),
        ("born ~ pay", "names 'born', which holds dates"),
    ],
)
def test_questions_about_means_of_dates_and_about_codes_are_refused(text, said):
    with pytest.raises(BadInput) as caught:
        asked(text, DATED)
    assert said in str(caught.value)
