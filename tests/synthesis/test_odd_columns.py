"""Columns of whole tables that agencies have and nobody expects."""

import numpy as np
import pandas as pd
import pytest

import understudy as us
from understudy.mechanisms import Summary

N = 300
CONFIDENTIAL = {"role": "confidential"}
GROUP = CONFIDENTIAL | {"type": "categorical", "levels": ["a", "b"]}
TABLE = pd.DataFrame({"g": np.random.default_rng(0).choice(["a", "b"], N)})
CODES = {"missing": "model", "codes": {"N": "does not apply", "B": "refused"}}


def synthesised(column, values, model):
    columns = {"g": GROUP, "x": CONFIDENTIAL | column}
    schema = us.Schema.from_dict({"table": {"size": N}, "columns": columns})
    table = TABLE.assign(x=values)
    return us.synthesize(model(schema), table, Summary(epsilon=3.0), seed=1).synthetic["x"]


MODELS = [us.joint, pytest.param(us.mixture, marks=pytest.mark.slow)]
SLOW = pytest.mark.slow


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("column", "missing"),
    [
        ({"type": "continuous", "bounds": [0, 10], "missing": "model"}, None),
        pytest.param({"type": "integer", "bounds": [0, 99], "missing": "model"}, None, marks=SLOW),
        pytest.param({"type": "categorical", "levels": ["p", "q"]} | CODES, "N", marks=SLOW),
        pytest.param({"type": "continuous", "bounds": [0, 10]} | CODES, "B", marks=SLOW),
    ],
)
def test_a_column_that_is_all_missing_is_nearly_all_missing_in_synthetic_rows(
    column, missing, model
):
    made = synthesised(column, [missing] * N, model)
    share = made.isna().mean() if missing is None else (made == missing).mean()
    assert share > 0.8


@pytest.mark.parametrize("model", MODELS)
def test_a_level_that_never_occurs_is_rare_in_synthetic_rows(model):
    values = np.where(TABLE["g"] == "a", "p", "q")
    made = synthesised({"type": "categorical", "levels": ["p", "never", "q"]}, values, model)
    assert (made == "never").mean() < 0.1
