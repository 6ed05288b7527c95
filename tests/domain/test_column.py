"""A declaration that contradicts itself is refused."""

import datetime

import pytest

from schemas import LAYOUT, changed, refusal
from understudy.domain.schema import Column, Role, Schema, Type
from understudy.errors import BadInput

DATES = ["2019-01-01", "2024-12-31"]
NONE = {"N": "does not apply"}


@pytest.mark.parametrize(
    ("column", "keys", "said"),
    [
        ("salary", {"bounds": [1, 0]}, "reversed"),
        ("salary", {"bounds": [1, 1]}, "equal"),
        ("salary", {"bounds": [0, float("inf")]}, "finite"),
        ("salary", {"bounds": [float("nan"), 1]}, "finite"),
        ("salary", {"bounds": [-1.7e308, 1.7e308]}, "finite"),
        ("salary", {"bounds": [0, 10**400]}, "too large"),
        ("salary", {"bounds": [0]}, "two numbers"),
        ("salary", {"bounds": [0, 1, 2]}, "two numbers"),
        ("salary", {"bounds": 3}, "two numbers"),
        ("salary", {"bounds": ["0", "1"]}, "two numbers"),
        ("salary", {"bounds": [False, True]}, "two numbers"),
        ("salary", {"levels": ["a", "b"]}, "remove its levels"),
        ("salary", {"outside": "ignore"}, "'refuse' or 'clamp'"),
        ("salary", {"outside": 3}, "'refuse' or 'clamp'"),
        ("salary", {"missing": "drop"}, "must be 'refuse'"),
        ("salary", {"role": "secret"}, "confidential | public | ignore"),
        ("salary", {"role": "publik"}, "did you mean 'public'?"),
        ("salary", {"role": ["public"]}, "confidential | public | ignore"),
        ("salary", {"type": "number"}, "continuous | count"),
        ("salary", {"type": "continous"}, "did you mean 'continuous'?"),
        ("salary", {"bound": [0, 1]}, "did you mean 'bounds'?"),
        ("children", {"bounds": [0.5, 20]}, "whole numbers"),
        ("children", {"bounds": [-1, 20]}, "negative"),
        ("children", {"bounds": [0, 2**53 + 2]}, "2^53"),
        ("children", {"type": "integer", "bounds": [-(2**53) - 2, 0]}, "2^53"),
        ("gender", {"levels": ["F"]}, "at least two levels"),
        ("gender", {"levels": []}, "at least two levels"),
        ("gender", {"levels": ["F", "M", "F"]}, "repeated levels: 'F'"),
        ("gender", {"levels": [1, "1"]}, "repeated levels: '1'"),
        ("gender", {"levels": ["F", ""]}, "empty"),
        ("gender", {"levels": ["F", "M\n"]}, "line break"),
        ("gender", {"levels": ["F", 1.5]}, "quotes"),
        ("gender", {"levels": "F"}, "must be a list"),
        ("gender", {"bounds": [0, 1]}, "remove its bounds"),
        ("gender", {"outside": "clamp"}, "only numbers can be clamped"),
        ("employed", {"levels": ["a", "b", "c"]}, "exactly two levels, not 3"),
        ("salary", {"spikes": [0, 700000]}, "spike outside its bounds"),
        ("salary", {"spikes": 0}, "list of numbers"),
        ("salary", {"spikes": ["0"]}, "must be numbers"),
        ("salary", {"spike": [0]}, "did you mean 'spikes'?"),
        ("salary", {"grid": 0}, "grid above 0"),
        ("salary", {"grid": "1000"}, "must be a number"),
        ("salary", {"grid": 100}, "more than 2,000 multiples"),
        ("children", {"spikes": [0.5]}, "spike that is not a whole number"),
        ("children", {"grid": 0.5}, "grid that is not a whole number"),
        ("gender", {"spikes": [0]}, "has spikes, which only"),
        ("gender", {"grid": 1}, "has a grid, which only"),
        ("salary", {"ordered": True}, "only a categorical column"),
        ("employed", {"ordered": True}, "only a categorical column"),
        ("gender", {"ordered": "yes"}, "true or false"),
        ("salary", {"codes": NONE}, "set missing = 'model'"),
        ("salary", {"missing": "model", "codes": {"-9": "refused"}}, "could be a value"),
        ("salary", {"missing": "model", "codes": {"2019-01-31": "refused"}}, "could be a value"),
        ("salary", {"missing": "model", "codes": {}}, "declares none"),
        ("salary", {"missing": "model", "codes": ["N"]}, "must be a table"),
        ("salary", {"missing": "model", "codes": {"N": 3}}, "meaning in quotes"),
        ("salary", {"missing": "model", "codes": {"N\n": "refused"}}, "control character"),
        ("salary", {"missing": "model", "codes": {"N": "re\nfused"}}, "control character"),
        ("salary", {"type": "date"}, "two dates"),
        ("salary", {"type": "date", "bounds": ["2019-01-01", "2019-02-30"]}, "two dates"),
        ("salary", {"type": "date", "bounds": ["2019-01-02", "2019-01-01"]}, "reversed"),
        ("salary", {"type": "date", "bounds": ["2019-01-01"]}, "two dates"),
        ("salary", {"type": "date", "bounds": DATES, "grid": 7}, "has a grid, which only"),
        ("salary", {"type": "date", "bounds": DATES, "spikes": [17900]}, "has spikes, which only"),
        ("salary", {"type": "dat", "bounds": DATES}, "did you mean 'date'?"),
    ],
)
def test_a_contradictory_declaration_is_refused(column, keys, said):
    sentence = refusal(changed(column, **keys))
    assert said in sentence
    assert column in sentence


def test_levels_have_no_bounds():
    with pytest.raises(BadInput, match="'gender' is not numeric"):
        Schema.from_dict(LAYOUT).column("gender").lower  # noqa: B018


def one(**keys):
    column = {"role": "confidential", **keys}
    return Schema.from_dict({"columns": {"x": column}}).column("x")


def test_a_date_is_a_whole_number_of_days():
    column = one(type="date", bounds=["1970-01-02", "1970-01-11"])
    assert (column.lower, column.upper, column.width) == (1.0, 10.0, 9.0)
    assert column.numeric
    assert column.whole
    assert column.to_dict()["bounds"] == ["1970-01-02", "1970-01-11"]
    days = [datetime.date(1970, 1, 2), datetime.date(1970, 1, 11)]
    assert one(type="date", bounds=days) == column


@pytest.mark.parametrize(
    ("keys", "declared"),
    [
        ({"type": "continuous", "bounds": [0, 9], "spikes": [0, 5]}, {"spikes": [0.0, 5.0]}),
        ({"type": "integer", "bounds": [0, 90], "spikes": [52]}, {"spikes": [52]}),
        ({"type": "count", "bounds": [0, 90], "grid": 10}, {"grid": 10}),
        ({"type": "categorical", "levels": ["a", "b"], "ordered": True}, {"ordered": True}),
        (
            {"type": "count", "bounds": [0, 9], "missing": "model", "codes": {"N": "a", "": "b"}},
            {"codes": {"N": "a", "": "b"}},
        ),
    ],
)
def test_what_is_declared_comes_back_and_nothing_else_does(keys, declared):
    column = {"role": "confidential", **keys}
    layout = {"columns": {"x": column, "y": {"role": "public", "type": "binary"}}}
    schema = Schema.from_dict(layout)
    written = schema.to_dict()["columns"]
    assert declared.items() <= written["x"].items()
    assert written["y"].keys() == {"role", "type", "levels"}
    again = Schema.from_dict(schema.to_dict())
    assert again == schema
    assert again.digest == schema.digest
    del column[next(iter(declared))]
    assert Schema.from_dict(layout).digest != schema.digest


def test_kinds_of_missing_values_are_counted_and_have_a_companion_among_numbers():
    number = {"type": "count", "bounds": [0, 9]}
    levels = {"type": "categorical", "levels": ["a", "b"]}
    two = {"missing": "model", "codes": {"N": "does not apply", "B": "refused"}}
    assert (one(**number).kinds, one(**number).beside) == (0, None)
    assert (one(**number, missing="model").kinds, one(**number, missing="model").beside) == (
        1,
        None,
    )
    assert one(**number, missing="model", codes=NONE).beside is None
    assert (one(**number, **two).kinds, one(**number, **two).beside) == (2, "x (why missing)")
    assert (one(**levels, **two).kinds, one(**levels, **two).beside) == (2, None)
    assert one(**levels, **two).code_texts == ("N", "B")


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"type": "date", "bounds": DATES}, "its type is continuous"),
        ({"spikes": [0]}, "has spikes, which only"),
        ({"grid": 1}, "has a grid, which only"),
        ({"missing": "model", "codes": NONE}, "only missing values of a confidential column"),
    ],
)
def test_a_survey_weight_is_a_plain_number(keys, said):
    weight = {"role": "survey-weight", "bounds": [0, 9], "average": 3} | keys
    assert said in refusal({"columns": LAYOUT["columns"] | {"w": weight}})


RELEASED = {"role": "survey-weight", "bounds": [0, 900], "release": True}


@pytest.mark.parametrize(
    "keys",
    [{}, {"average": 30}, {"type": "integer"}, {"type": "count", "spikes": [0]}, {"grid": 10}],
)
def test_a_survey_weight_that_is_released_is_like_a_confidential_number(keys):
    layout = {"columns": LAYOUT["columns"] | {"w": RELEASED | keys}}
    schema = Schema.from_dict(layout)
    assert Schema.from_dict(schema.to_dict()) == schema
    assert schema.released_weight is schema.confidential[-1]
    assert (schema.released_weight.name, schema.survey_weight) == ("w", None)
    assert schema.released_weight.treated_as is Role.CONFIDENTIAL
    kept = Schema.from_dict({"columns": LAYOUT["columns"] | {"w": RELEASED | {"average": 30}}})
    assert (
        kept.digest
        != Schema.from_dict(
            {"columns": LAYOUT["columns"] | {"w": RELEASED | {"average": 30, "release": False}}}
        ).digest
    )


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"type": "date", "bounds": DATES}, "its type is continuous"),
        ({"release": "yes"}, "release in [columns.w] must be true or false"),
        ({"release": False}, "needs average"),
        ({"bounds": [-1, 9]}, "cannot be negative"),
        ({"average": 901}, "within its bounds"),
        ({"missing": "model"}, "only missing values of a confidential column"),
        ({"role": "ignore"}, "belongs to a survey weight, and the column has the role 'ignore'"),
        ({"role": "unit", "release": False}, "the column has the role 'unit'"),
        ({"role": "public", "type": "continuous"}, "the column has the role 'public'"),
        ({"role": "confidential", "type": "continuous"}, "belongs to a survey weight"),
    ],
)
def test_only_a_survey_weight_can_be_released(keys, said):
    assert said in refusal({"columns": LAYOUT["columns"] | {"w": RELEASED | keys}})


def test_a_column_that_is_no_weight_is_not_released():
    with pytest.raises(BadInput, match="has release = true, which belongs to a survey weight"):
        Column("x", Role.PUBLIC, Type.COUNT, bounds=(0.0, 9.0), release=True)


def test_only_one_column_weighs_released_or_not():
    two = LAYOUT["columns"] | {"w": RELEASED, "v": RELEASED | {"average": 3, "release": False}}
    assert "only one column can have the role 'survey-weight', not w, v" in refusal(
        {"columns": two}
    )
