"""The report's section on outcomes by group."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages import (
    PEOPLE,
    people,
)
from understudy.domain.schema import Schema
from understudy.report import groups


@given(st.lists(st.tuples(st.floats(0, 9), st.integers(0, 3)), min_size=1, max_size=30))
def test_the_explained_share_is_that_of_the_variance_between_groups(pairs):
    values, codes = np.array([v for v, _ in pairs]), np.array([c for _, c in pairs])
    within = sum(
        float(((values[codes == c] - values[codes == c].mean()) ** 2).sum()) for c in set(codes)
    )
    everything = float(((values - values.mean()) ** 2).sum())
    found = groups.explained(values, codes)
    if np.ptp(values) > 1e-6:
        assert found == pytest.approx(1 - within / everything, abs=1e-6)
    if np.ptp(values) == 0:
        assert found == 0


def test_the_pair_whose_groups_differ_most_comes_first_and_few_are_shown():
    found = groups.most_different(PEOPLE, people(), people(seed=1))
    assert (found[0].outcome.name, found[0].by.name) == ("pay", "sex")
    assert len(found) == groups.SHOWN
    shares = [each.explained for each in found]
    assert shares == sorted(shares, reverse=True)


def test_a_group_is_told_as_it_is_in_both_tables():
    ours, theirs = people(), people(seed=1)
    each = groups.most_different(PEOPLE, ours, theirs)[0]
    for told, table in zip(each.groups, (ours, theirs), strict=True):
        pay = table.loc[table["sex"] == "M", "pay"]
        records, *quartiles = told[1]
        assert records == len(pay)
        assert quartiles == list(pay.quantile([0.25, 0.5, 0.75]))
        assert told[2][0] == 0
        assert np.isnan(told[2][1:]).all()
    (shown, *_) = groups.by_group([each])
    assert shown["rows"][2] == ("X", "0", "0", "–", "–", "–")
    assert shown["what"] == "Median pay"


def test_a_binary_outcome_is_told_as_a_share():
    ours = people().assign(pay=5.0)
    ours["works"] = ours["works"].where(ours["sex"] == "F", "yes")
    each = groups.most_different(PEOPLE, ours, ours)[0]
    assert (each.outcome.name, each.by.name) == ("works", "sex")
    women = ours[ours["sex"] == "F"]
    assert each.groups[0][0][2] == (women["works"] == "yes").mean()
    assert each.what == "Share of yes in works"
    assert groups.by_group([each])[0]["rows"][0][-1] == "0.00 points"


def test_public_numbers_are_cut_into_fifths_of_their_bounds():
    ours = people()
    found = groups.most_different(PEOPLE, ours, ours)
    each = next(each for each in found if each.by.name == "weeks")
    assert each.names == ("1 to 10", "11 to 21", "22 to 31", "32 to 42", "43 to 52")
    for name, cell in zip(each.names, each.groups[0], strict=True):
        low, high = map(int, name.split(" to "))
        assert cell[0] == ours["weeks"].between(low, high).sum()


def test_a_table_with_one_column_or_without_any_difference_has_no_groups():
    alone = Schema.from_dict({"columns": {"pay": PEOPLE.columns[0].to_dict()}})
    assert groups.most_different(alone, people(), people()) == ()
    flat = people().assign(pay=5.0, works="no")
    assert groups.most_different(PEOPLE, flat, flat) == ()


def test_fifths_of_dates_are_named_by_dates_and_no_date_is_an_outcome():
    dates = {"type": "date", "bounds": ["1970-01-01", "1970-04-10"]}
    schema = Schema.from_dict(
        {
            "columns": {
                "seen": {"role": "public", **dates},
                "born": {"role": "confidential", **dates},
                "pay": {"role": "confidential", "type": "continuous", "bounds": [0, 99]},
            }
        }
    )
    days = np.arange(100.0)
    frame = pd.DataFrame({"seen": days, "born": days, "pay": days / 2})
    (only,) = groups.most_different(schema, frame, frame)
    assert (only.outcome.name, only.by.name) == ("pay", "seen")
    assert only.names[0] == "1970-01-01 to 1970-01-20"
    assert only.names[-1] == "1970-03-22 to 1970-04-10"
