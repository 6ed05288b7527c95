"""What everybody asks first, of whatever a schema declares."""

import numpy as np

from questioned import SCHEMA, records
from understudy.domain.schema import Schema
from understudy.questions.headlines import headlines


def test_means_medians_shares_and_differences_between_groups_are_told():
    asked = headlines(SCHEMA)
    assert asked.names == (
        "mean of pay",
        "median of pay",
        "mean of pay by job: y − x",
        "mean of pay by job: z − x",
        "mean of visits",
        "median of visits",
        "mean of visits by job: y − x",
        "mean of visits by job: z − x",
        "share of owner = yes",
    )
    columns = records(np.random.default_rng(1), 500, gaps=True)
    found = asked.question.answer(columns)
    assert set(asked.names) < set(found)
    pay, job = columns["pay"], columns["job"]
    here = ~np.isnan(pay)
    means = [pay[here & (job == code)].mean() for code in (0, 1)]
    assert np.isclose(found["mean of pay by job: y − x"], means[1] - means[0])
    assert found["share of owner = yes"] == columns["owner"].mean()


def test_no_differences_are_told_between_groups_that_a_number_does_not_depend_on():
    asked = headlines(SCHEMA, lambda one, other: one != "pay")
    assert not any(name.startswith("mean of pay by") for name in asked.names)
    assert "mean of visits by job: y − x" in asked.names


def test_where_there_is_nothing_to_ask_nothing_is_asked():
    levels = {"role": "confidential", "type": "categorical", "levels": ["a", "b", "c"]}
    assert headlines(Schema.from_dict({"columns": {"kind": levels}})) is None


def test_no_mean_of_dates_is_told():
    dates = {"role": "confidential", "type": "date", "bounds": ["1970-01-01", "1979-12-31"]}
    assert headlines(Schema.from_dict({"columns": {"born": dates}})) is None
