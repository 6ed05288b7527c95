"""What must stay says so when it is shown, and is neither copied nor pickled."""

import copy
import pickle
from dataclasses import dataclass

import pandas as pd
import pytest

import understudy as us
from understudy.support.confidential import Confidential

SALARY = {"role": "confidential", "type": "continuous", "bounds": [0, 1e6]}
SCHEMA = us.Schema.from_dict({"table": {"size": 3}, "columns": {"salary": SALARY}})
TABLE = pd.DataFrame({"salary": [1234.5, 6789.5, 4321.5]})


@dataclass(frozen=True, repr=False)
class Secret(Confidential):
    number: float


def test_it_shows_what_it_is_and_not_what_it_holds():
    secret = Secret(1234.5)
    assert repr(secret) == str(secret) == f"{secret}" == "<Secret: confidential, stays inside>"
    assert secret.number == 1234.5


@pytest.mark.parametrize("leak", [pickle.dumps, copy.copy, copy.deepcopy])
def test_it_is_neither_copied_nor_pickled(leak):
    with pytest.raises(TypeError, match="confidential"):
        leak(Secret(1234.5))


def test_how_close_a_table_came_is_told_when_asked_and_not_when_shown():
    measured = us.measure_table(TABLE, TABLE, SCHEMA)
    assert repr(measured) == "<TableUtility: confidential, stays inside>"
    told = measured.to_dict()["utility"]["salary"]["confidential"]["mean"]
    assert told == TABLE["salary"].mean()
