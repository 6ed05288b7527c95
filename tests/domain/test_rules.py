"""Rules say which records they speak of, fix what they can, and notice what breaks them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.domain.rules import check_table, determined, enforce, holds, moved
from understudy.domain.schema import Schema
from understudy.errors import BadInput

LAYOUT = {
    "columns": {
        "employed": {"role": "public", "type": "categorical", "levels": ["yes", "no"]},
        "salary": {
            "role": "confidential", "type": "continuous", "bounds": [0, 100], "missing": "model",
        },
        "wages": {"role": "confidential", "type": "continuous", "bounds": [0, 60]},
        "other": {"role": "confidential", "type": "continuous", "bounds": [0, 60]},
        "age": {"role": "public", "type": "integer", "bounds": [16, 80]},
        "first": {"role": "confidential", "type": "integer", "bounds": [10, 80]},
        "sector": {
            "role": "confidential", "type": "categorical", "levels": ["none", "state", "firm"],
            "missing": "model",
        },
    }
}  # fmt: skip


def schema_with(*rules):
    return Schema.from_dict(LAYOUT | {"rules": list(rules)})


ZERO = {"if": "employed == 'no'", "then": "salary == 0 and sector == 'none'"}
SUM = {"then": "salary == wages + other"}
NO_WAGES = {"if": "employed == 'no'", "then": "wages == 0"}
ORDER = {"then": "first <= age"}
ALL = schema_with(SUM, NO_WAGES, ORDER, {"if": "employed == 'no'", "then": "sector == 'none'"})


def records(draws=60, seed=0, missing=False):
    generator = np.random.default_rng(seed)
    columns = {
        "employed": generator.integers(2, size=draws),
        "salary": generator.uniform(0, 100, draws),
        "wages": generator.uniform(0, 60, draws),
        "other": generator.uniform(0, 60, draws),
        "age": generator.integers(16, 81, draws).astype(float),
        "first": generator.integers(10, 81, draws).astype(float),
        "sector": generator.integers(3, size=draws),
    }
    if missing:
        columns["salary"][::3] = np.nan
        columns["sector"][::4] = -1
    return columns


def by_hand(columns, k):
    """The rules of ALL, written out for one record."""
    employed, salary, wages, other, age, first, sector = (columns[n][k] for n in columns)
    rules = [
        np.isnan(salary) or abs(salary - (wages + other)) < 1e-9,
        employed == 0 or wages == 0,
        first <= age,
        employed == 0 or sector in (-1, 0),
    ]
    return all(rules)


def test_a_rule_comes_back_from_its_layout_unchanged():
    schema = schema_with(ZERO, SUM)
    assert schema.to_dict()["rules"] == [ZERO, SUM]
    assert Schema.from_dict(schema.to_dict()) == schema
    assert schema.digest != schema_with(SUM, ZERO).digest != Schema.from_dict(LAYOUT).digest


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_holds_agrees_with_the_rules_written_out(seed, missing):
    columns = enforce(ALL.rules, records(seed=seed, missing=missing))
    expected = [by_hand(columns, k) for k in range(60)]
    assert holds(ALL.rules, columns).tolist() == expected
    assert 0 < sum(expected) < 60


@pytest.mark.parametrize("missing", [False, True])
def test_equalities_are_enforced_in_every_record_whatever_their_order(missing):
    """Wages are zeroed after the sum is stated, and the sum has to follow."""
    columns = enforce(ALL.rules, records(missing=missing))
    idle, known = columns["employed"] == 1, ~np.isnan(columns["salary"])
    assert np.all(columns["wages"][idle] == 0)
    assert np.array_equal(columns["salary"][known], (columns["wages"] + columns["other"])[known])
    assert set(columns["sector"][idle]) <= {0, -1}
    assert columns["sector"].dtype == np.int64
    assert missing == bool(np.isnan(columns["salary"]).any())


def test_what_a_rule_fixes_is_known_from_the_other_columns():
    schema = schema_with(ZERO, SUM)
    columns = records(missing=True)
    fixed = determined(schema.rules, columns)
    idle = columns["employed"] == 1
    assert fixed.keys() == {"salary", "sector"}
    assert np.array_equal(fixed["sector"], idle)
    assert fixed["salary"].all(), "wages and other are always there"
    changed = columns | {"salary": np.zeros(60), "sector": np.zeros(60, dtype=int)}
    again = determined(schema.rules, changed)
    assert all(np.array_equal(fixed[name], again[name]) for name in fixed)


def test_a_column_that_decides_about_itself_is_not_called_fixed():
    schema = schema_with({"if": "salary > 50", "then": "salary == 50"})
    assert determined(schema.rules, records()) == {}
    assert enforce(schema.rules, records())["salary"].max() == 50


@given(st.integers(0, 1000), st.sampled_from(["<", "<=", ">", ">="]))
def test_records_are_moved_onto_the_nearest_value_that_keeps_a_limit(seed, sign):
    schema = schema_with(
        {"then": f"first {sign} age"},
        {"then": f"wages {sign} other"},
        {"then": f"salary {sign} wages + 1"},
    )
    declared = {column.name: column for column in schema.columns}
    columns = records(seed=seed)
    fixed = moved(schema.rules, columns, declared)
    assert holds(schema.rules, fixed).all()
    assert np.array_equal(fixed["age"], columns["age"]), "public values stay"
    kept = schema.rules[0].holds(columns)
    assert np.array_equal(fixed["first"][kept], columns["first"][kept])
    strict = len(sign) == 1
    step = {"<": -1, ">": 1}[sign[0]] if strict else 0
    assert np.array_equal(fixed["first"][~kept], columns["age"][~kept] + step)


def test_a_table_that_breaks_a_rule_is_refused_by_the_place_of_the_first_offence():
    columns = {"first": np.array([20.0, 31.0, 50.0]), "age": np.full(3, 30.0)}
    rules = schema_with({"then": "first >= 10"}, ORDER).rules
    with pytest.raises(BadInput) as caught:
        check_table(rules, columns, name="people.csv")
    assert str(caught.value) == (
        "row 2 (and others) of people.csv breaks rule 2 of the schema, 'first <= age': correct the "
        "table or the rule."
    )
    check_table(rules, {"first": np.array([20.0]), "age": np.array([20.0])}, name="people.csv")


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("salary == 0", "must be a table"),
        ({"if": "employed == 'no'"}, "needs the key then"),
        ({"than": "salary == 0"}, "did you mean 'then'"),
        ({"then": "salary == 0", "when": "age > 3"}, "unknown key 'when'"),
        ({"then": "1 == 1"}, "names no column"),
        ({"then": "salary == -1"}, "within the declared bounds"),
        ({"then": "salary == wages + 200"}, "within the declared bounds"),
        ({"then": "age > 80"}, "within the declared bounds"),
        ({"then": "first < 10"}, "within the declared bounds"),
        ({"then": "wages + other == 50"}, "alone on one side"),
        ({"then": "salary == salary * 2"}, "alone on one side"),
        ({"if": "employd == 'no'", "then": "salary == 0"}, "did you mean 'employed'"),
        ({"then": "open('x') == 0"}, "are understood"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(rule, reason):
    with pytest.raises(BadInput, match=reason):
        schema_with(rule)


def test_an_equality_of_public_columns_alone_is_a_check_of_the_table():
    schema = schema_with({"if": "age < 18", "then": "employed == 'no'"})
    assert schema.rules[0].assignments == ()


def test_rules_that_are_not_a_list_are_refused():
    with pytest.raises(BadInput, match=r"write each under \[\[rules\]\]"):
        Schema.from_dict(LAYOUT | {"rules": ZERO})


# Why a value is missing.

CODES = {"missing": "model", "codes": {"N": "does not apply", "B": "refused"}}
CODED = {
    "age": {"role": "public", "type": "integer", "bounds": [0, 99]},
    "pay": {"role": "confidential", "type": "integer", "bounds": [0, 99], **CODES},
    "job": {"role": "confidential", "type": "categorical", "levels": ["x", "y"], **CODES},
    "other": {"role": "confidential", "type": "integer", "bounds": [0, 99], "missing": "model"},
}
PEOPLE = {
    "age": np.array([10.0, 10.0, 10.0, 40.0, 40.0, 40.0]),
    "pay": np.array([5.0, np.nan, np.nan, 5.0, np.nan, np.nan]),
    "pay (why missing)": np.array([-1, 0, 1, -1, 0, 1]),
    "job": np.array([0, -1, -2, 0, -1, -2]),
    "other": np.array([1.0, 2.0, np.nan, 3.0, 4.0, 5.0]),
}


def coded_with(*rules):
    return Schema.from_dict({"columns": CODED, "rules": list(rules)}).rules


def test_a_rule_about_a_code_holds_for_missing_values_and_for_others():
    child = coded_with({"if": "age < 15", "then": "pay == 'N'"})
    assert holds(child, PEOPLE).tolist() == [False, True, False, True, True, True]
    adult = coded_with({"if": "age >= 15", "then": "pay != 'N'"})
    assert holds(adult, PEOPLE).tolist() == [True, True, True, True, False, True]
    level = coded_with({"then": "job in ('x', 'B')"})
    # A comparison with a level says nothing where the level is missing.
    assert holds(level, PEOPLE).all()
    code = coded_with({"if": "job == 'B'", "then": "pay == 'B'"})
    assert holds(code, PEOPLE).all()
    other = coded_with({"if": "pay == 'B'", "then": "other > 9"})
    assert holds(other, PEOPLE).tolist() == [True, True, True, True, True, False]


def test_a_code_is_set_together_with_its_companion():
    rules = coded_with(
        {"if": "age < 15", "then": "pay == 'N' and job == 'B'"},
        {"if": "pay == 'B'", "then": "other == 7"},
    )
    fixed = enforce(rules, PEOPLE)
    assert np.isnan(fixed["pay"][:3]).all()
    assert fixed["pay (why missing)"].tolist() == [0, 0, 0, -1, 0, 1]
    assert fixed["job"].tolist() == [-2, -2, -2, 0, -1, -2]
    assert fixed["job"].dtype == PEOPLE["job"].dtype
    assert fixed["other"][[3, 4, 5]].tolist() == [3, 4, 7]
    assert holds(rules, fixed).all()
    assert PEOPLE["pay"][0] == 5, "what is given stays as it is"


def test_without_a_companion_one_is_made():
    rules = coded_with({"if": "age < 15", "then": "pay == 'B'"})
    fixed = enforce(rules, {name: PEOPLE[name] for name in ("age", "pay")})
    assert fixed["pay (why missing)"].tolist() == [1, 1, 1, -1, 0, 0]


def test_where_a_rule_says_that_a_value_is_missing_is_known_from_the_other_columns():
    rules = coded_with(
        {"if": "age < 15", "then": "pay == 'N'"},
        {"if": "age > 15", "then": "other == 3"},
        {"if": "job != 'N'", "then": "job == 'B'"},
    )
    young = PEOPLE["age"] < 15
    assert determined(rules, PEOPLE).keys() == {"other"}
    missing = determined(rules, PEOPLE, missing=True)
    assert missing.keys() == {"pay"}
    assert np.array_equal(missing["pay"], young)


def test_a_table_that_breaks_a_rule_about_a_code_is_refused_by_the_place():
    rules = coded_with({"if": "age < 15", "then": "pay == 'N'"})
    with pytest.raises(BadInput, match=r"row 1 \(and others\) of t breaks rule 1"):
        check_table(rules, PEOPLE, name="t")


def test_a_date_is_set_and_moved_like_a_number():
    dates = {"role": "confidential", "type": "date", "bounds": ["1970-01-01", "1979-12-31"]}
    layout = {"columns": {"born": dates, "wed": dates}}
    rules = [{"then": "wed > born"}, {"if": "born < '1970-01-05'", "then": "wed == '1979-12-31'"}]
    schema = Schema.from_dict(layout | {"rules": rules})
    columns = {"born": np.array([2.0, 50.0]), "wed": np.array([2.0, 20.0])}
    fixed = moved(schema.rules, columns, {c.name: c for c in schema.columns})
    assert fixed["wed"].tolist() == [3651.0, 51.0]
