"""One round: whom the records are drawn from, and what is published of several."""

from dataclasses import replace

import numpy as np
import pandas as pd

import understudy as us
from summaries import BETA, CONFIDENTIAL, PUBLIC, schema_of
from understudy.inference.allowance import Allowance
from understudy.mechanisms import Summary, one_round
from understudy.mechanisms.choosing import Choice
from understudy.synthesis.preparation import prepare

AMOUNT = CONFIDENTIAL | {"type": "continuous", "bounds": [0, 1000]}
SUMMARY = Summary(epsilon=1.0)


def test_what_is_published_has_choices_before_what_followed_from_them():
    choice = Choice((("a", "b"),), 3, 1.0, Allowance(epsilon=1.0), None)
    one, two, three, four = (object() for _ in range(4))
    found = one_round.Rounds(None, (one, two, three), None, np.zeros(0), (four,), (choice, choice))
    assert found.published == (four, one, choice, two, choice, three)
    assert replace(found, choices=()).published == found.measurements == (four, one, two, three)


def test_known_rows_and_their_number_belong_to_the_population():
    schema = schema_of(size=999, amount=AMOUNT, g=PUBLIC)
    table = pd.DataFrame({"amount": [60.0] * 400, "g": ["a", "b"] * 200})
    population = one_round.population_of(prepare(us.joint(schema), table, SUMMARY))
    assert (population.size, population.known) == (400, True)
    assert (
        one_round.population_of(prepare(BETA, pd.DataFrame({"x": [0.5] * 30}), SUMMARY)).size
        == 2000
    )
