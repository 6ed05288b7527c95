"""Several questions as one have the answers that each has alone."""

import numpy as np

from questioned import SCHEMA, records
from understudy.questions import asked
from understudy.questions.together import Together

TEXTS = ("mean(pay)", "share(pay > 2000) by job", "pay ~ age")


def test_answers_are_those_of_each():
    columns = records(np.random.default_rng(0), 300, gaps=True)
    each = [asked(text, SCHEMA) for text in TEXTS]
    both = Together.of(each)
    assert set(both.columns) == {"pay", "job", "age"}
    for ask in ("answer", "analyse", "influence"):
        found = getattr(both, ask)(columns)
        alone = [getattr(question, ask)(columns) for question in each]
        for own, other in zip(
            found.values(), (value for one in alone for value in one.values()), strict=True
        ):
            np.testing.assert_array_equal(own, other)
        assert list(found)[:2] == ["mean(pay)", "share(pay > 2000) by job: x"]
        assert list(found)[-1] == "pay ~ age: age"
