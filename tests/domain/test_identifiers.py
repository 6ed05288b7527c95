"""A table with repeated ids is refused until somebody says what is protected."""

import numpy as np
import pandas as pd
import pytest

import understudy as us
from understudy.domain.identifiers import refuse_repeated_ids, sounds_like_an_id
from understudy.domain.schema import Schema

X = {"role": "confidential", "type": "continuous", "bounds": [0, 1]}
ROWS = 140


def schema_of(name, declared=None, **table):
    columns = {name: declared or {"role": "ignore"}, "x": X}
    return Schema.from_dict({"table": {"size": ROWS} | table, "columns": columns})


def table_of(name, values):
    return pd.DataFrame({name: values, "x": np.full(len(values), 0.4)})


PANEL = np.repeat(np.arange(ROWS // 7), 7)


def refused(name, values, schema=None):
    try:
        refuse_repeated_ids(table_of(name, values), schema or schema_of(name), name="the table")
    except us.BadInput as error:
        return f"column {name!r} of the table looks like an id" in str(error)
    return False


@pytest.mark.parametrize(
    "name",
    ["id", "ID", "pid", "person", "person_id", "personId", "PersonID", "hhid", "household",
     "household.id", "respondent", "patient_number", "userid", "employee key", "ID_2", "uuid"],
)  # fmt: skip
def test_names_that_tell_people_apart(name):
    assert sounds_like_an_id(name)
    assert refused(name, PANEL)
    assert refused(name, [f"p{k:03}" for k in PANEL])
    assert refused(name, [str(k) for k in PANEL])


@pytest.mark.parametrize(
    "name",
    ["age", "paid", "covid", "valid", "grid", "salary", "zip", "employees", "familiar", "width",
     "residence", "occupation", "x"],
)  # fmt: skip
def test_names_that_do_not(name):
    assert not sounds_like_an_id(name)
    if name != "x":
        assert not refused(name, PANEL)


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (np.arange(ROWS), "no id repeats"),
        (np.arange(ROWS) % 4, "a place within the household has few values"),
        (np.repeat(np.arange(10), 200), "two hundred rows each look like regions"),
        (np.repeat(np.arange(20) + 0.5, 7), "fractions are no ids"),
        ([None] * ROWS, "nothing is there"),
        ([""] * ROWS, "nothing is there"),
    ],
)
def test_values_that_are_no_repeated_ids(values, why):
    assert not refused("person", values), why


def test_ids_that_are_sometimes_missing_still_repeat():
    values = [None if k % 5 == 0 else str(p) for k, p in enumerate(PANEL)]
    assert refused("person", values)


def test_a_declared_column_counts_unless_it_is_continuous():
    whole = {"role": "public", "type": "integer", "bounds": [0, 999]}
    assert refused("person", PANEL, schema_of("person", whole))
    measured = {"role": "confidential", "type": "continuous", "bounds": [0, 999]}
    assert not refused("account", PANEL, schema_of("account", measured))


def test_saying_what_is_protected_is_enough():
    assert not refused("person", PANEL, schema_of("person", unit="row"))
    assert not refused("person", PANEL, schema_of("person", {"role": "unit"}, rows_per_unit=7))


def test_synthesis_asks_and_the_answer_is_written_down():
    quick = us.Anchored(epsilon=1.0, stages=1, candidates=256)
    table = table_of("person", [f"secret-{k}" for k in PANEL])
    with pytest.raises(us.BadInput, match=r"role = 'unit'.*unit = 'row'") as no:
        us.synthesize(us.beta(schema_of("person")), table, quick, seed=1)
    assert "secret-" not in str(no.value)
    said = us.synthesize(us.beta(schema_of("person", unit="row")), table, quick, seed=1)
    assert any("a row is the unit" in s for s in said.guarantee.assumptions)
    assert said.guarantee.to_dict()["unit"] is None
    assert said.internal.diagnostics["n"] == ROWS
