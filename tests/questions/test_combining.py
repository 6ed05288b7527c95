"""The combining rule against its definition, and against a truth that is drawn like θ is."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t

from understudy.questions.combining import combine


def analyses(told):
    return [{"a": tuple(each)} for each in told]


def test_the_rule_is_the_one_that_is_cited():
    told = np.array([[3.0, 0.2], [5.0, 0.3], [4.5, 0.1], [2.0, 0.4]])
    (found,) = combine(analyses(told), level=0.9)
    between = ((told[:, 0] - 3.625) ** 2).sum() / 3
    total = (1 + 1 / 4) * between - 0.25
    freedom = 3 * (1 - 0.25 / ((1 + 1 / 4) * between)) ** 2
    reach = t.ppf(0.95, freedom) * np.sqrt(total)
    assert found.name == "a"
    assert found.estimate == 3.625
    assert found.standard_error == pytest.approx(np.sqrt(total))
    assert found.degrees_of_freedom == pytest.approx(freedom)
    assert (found.lower, found.upper) == pytest.approx((3.625 - reach, 3.625 + reach))
    assert found.problem is None


def coverage(rng, tables, share, replicates=4000):
    """Return how often the truth is covered where all is normal; `share` is u over Var Q."""
    covered = []
    for truth in rng.normal(size=replicates):
        # Given what is known, the truth and the draws of θ have the same distribution.
        estimates = rng.normal(size=tables) + rng.normal(scale=np.sqrt(share), size=tables)
        (found,) = combine(analyses([(each, share) for each in estimates]), level=0.95)
        covered.append(found.lower is None or found.lower <= truth <= found.upper)
    return np.mean(covered)


@pytest.mark.parametrize("tables", [10, 20])
def test_intervals_cover_where_all_is_normal(tables):
    """With ten tables a little too often; 0.012 are 3.5 standard errors."""
    found = coverage(np.random.default_rng(tables), tables, share=0.1)
    assert 0.95 - 0.012 < found < 0.96 + 0.012


def test_few_tables_cover_too_often_and_never_too_seldom():
    assert coverage(np.random.default_rng(1), 4, share=0.1) > 0.95


def test_a_variance_that_is_not_positive_makes_no_interval():
    (found,) = combine(analyses([(1.0, 2.0), (1.5, 2.0), (0.5, 2.0)]), level=0.95)
    assert found.estimate == 1.0
    assert found.lower is found.upper is found.standard_error is None
    assert "tables of more rows" in found.problem


def test_what_is_the_same_everywhere_or_not_told_somewhere_makes_none_either():
    (same,) = combine(analyses([(1.0, 0.0), (1.0, 0.0)]), level=0.95)
    assert (same.estimate, same.lower) == (1.0, None)
    assert same.problem == "it is the same in all tables"
    (gap,) = combine(analyses([(1.0, 0.1), (np.nan, np.nan)]), level=0.95)
    assert gap.estimate is None
    assert gap.problem == "at least one of the tables cannot tell it"


def test_answers_are_combined_by_name_and_in_order():
    first, second = {"b": (1.0, 0.01), "a": (2.0, 0.01)}, {"b": (3.0, 0.01), "a": (8.0, 0.01)}
    found = combine([first, second], level=0.95)
    assert [(each.name, each.estimate) for each in found] == [("b", 2.0), ("a", 5.0)]
