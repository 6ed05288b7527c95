"""Columns of whole tables that agencies have and nobody expects."""

import numpy as np
import pandas as pd
import pytest

import understudy as us
from table_models import theta_of
from understudy.domain.skeleton import Skeleton
from understudy.mechanisms import Summary
from understudy.support.randomness import Source
from understudy.synthesis.simulation import simulate

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


EVERYTHING = {
    "age": {"type": "integer", "bounds": [0, 99]},
    "job": {"type": "categorical", "levels": ["low", "middle", "high"], "ordered": True, **CODES},
    "income": {"type": "continuous", "bounds": [0, 9000], "spikes": [0, 450], "grid": 500, **CODES},
    "tax": {"type": "continuous", "bounds": [0, 4000]},
    "weeks": {"type": "integer", "bounds": [0, 400], "spikes": [0, 52]},
    "born": {"type": "date", "bounds": ["1920-01-01", "2015-12-31"]},
    "hired": {
        "type": "date",
        "bounds": ["2000-01-01", "2020-12-31"],
        "missing": "model",
        "codes": {"": "unknown", "N": "does not apply"},
    },
    "score": {"type": "continuous", "bounds": [0, 1], "missing": "model"},
}
RULES = [
    {"if": "age < 15", "then": "job == 'N'"},
    {"if": "age >= 15", "then": "job != 'N'"},
    {"if": "job == 'N'", "then": "income == 'N'"},
    {"if": "job == 'N'", "then": "hired == 'N'"},
    {"if": "weeks == 0", "then": "tax == 0"},
    {"then": "tax <= income"},
    {"then": "hired - born >= 365"},
    {"if": "born >= '2010-01-01'", "then": "weeks in (0, 52)"},
]


@pytest.mark.parametrize(
    ("model", "rows"),
    [
        (us.joint, 2000),
        pytest.param(us.joint, 100_000, marks=SLOW),
        pytest.param(us.mixture, 100_000, marks=SLOW),
    ],
)
def test_rules_codes_dates_and_bounds_hold_in_every_row(model, rows):
    """At some θ, and looked at here row by row, not by the code that makes them hold."""
    columns = {name: CONFIDENTIAL | each for name, each in EVERYTHING.items()}
    schema = us.Schema.from_dict({"columns": columns, "rules": RULES})
    built = model(schema)
    theta = {name: each.tolist() for name, each in theta_of(built, scale=0.03).items()}
    published = {"parameters": theta, "model": built.spec, "schema": schema.to_dict()}
    made = simulate(published, Skeleton({}, rows), Source(2), model=built)
    assert len(made) == rows
    age, weeks, tax = made["age"], made["weeks"], made["tax"]
    assert age.between(0, 99).all()
    assert weeks.between(0, 400).all()
    assert tax.between(0, 4000).all()
    assert made["score"].dropna().between(0, 1).all()
    assert made["job"].isin(["low", "middle", "high", "N", "B"]).all()
    income = pd.to_numeric(made["income"].where(~made["income"].isin(["N", "B"])))
    assert made["income"].notna().all()
    assert income.dropna().between(0, 9000).all()
    born = pd.to_datetime(made["born"], format="%Y-%m-%d")
    hired = pd.to_datetime(made["hired"].where(made["hired"] != "N"), format="%Y-%m-%d")
    assert born.between("1920-01-01", "2015-12-31").all()
    assert hired.dropna().between("2000-01-01", "2020-12-31").all()
    young = age < 15
    for name in ("job", "income", "hired"):
        assert (made.loc[young, name] == "N").all()
    assert (made.loc[~young, "job"] != "N").all()
    assert (tax[weeks == 0] == 0).all()
    assert (tax <= income)[income.notna()].all()
    assert ((hired - born).dt.days >= 365)[hired.notna()].all()
    assert weeks[born >= "2010-01-01"].isin([0, 52]).all()
    # All that may happen does: codes and blanks, spikes, and multiples of the grid.
    assert {"N", "B"} <= set(made["income"])
    assert made["hired"].isna().any()
    assert made["score"].isna().any()
    assert {0.0, 450.0} <= set(income.dropna())
    assert (income % 500 == 0).sum() > (income == 0).sum()
    assert {0, 52} <= set(weeks)
