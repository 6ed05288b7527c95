"""A request says how firmly its release will hold, and whom it protects, and shows nothing."""

import pandas as pd

import understudy as us
from understudy.privacy.guarantee import Kind
from understudy.synthesis.preparation import prepare

NUMBER = {"role": "confidential", "type": "continuous", "bounds": [0, 1]}
ROWS = us.Schema.from_dict({"table": {"size": 3}, "columns": {"x": NUMBER}})
UNITS = us.Schema.from_dict(
    {
        "table": {"size": 4, "rows_per_unit": 2},
        "columns": {"x": NUMBER, "person": {"role": "unit"}},
    }
)
TABLE = pd.DataFrame({"x": [0.25, 0.5, 0.75, 0.125]})


def test_the_kind_is_that_of_the_mechanism_with_the_sampler():
    model, table = us.beta(ROWS), TABLE
    by_chains = prepare(model, table, us.CensorUw(epsilon=1.0), sampler="nuts")
    exact = prepare(model, table, us.CensorUw(epsilon=1.0), sampler="exact")
    assert (by_chains.kind, exact.kind) == (Kind.CONDITIONAL, Kind.STRICT)
    assert by_chains.unit is None
    assert repr(exact) == "<Request: confidential, stays inside>"


def test_the_unit_is_the_column_that_says_which_rows_belong_together():
    people = TABLE.assign(person=["a", "b", "a", "c"])
    assert prepare(us.beta(UNITS), people, us.CensorUw(epsilon=1.0)).unit == "person"
