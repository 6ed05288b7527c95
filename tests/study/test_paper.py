"""The paper's printed numbers are consistent with each other, so none was mistyped."""

import pytest

from understudy.study import paper


def test_counts_are_in_order_and_within_the_table():
    for counts in (*paper.TABLE_1.values(), *paper.SUPPLEMENT_TABLE.values()):
        ordered = [counts.minimum, counts.q1, counts.median, counts.q3, counts.maximum]
        assert ordered == sorted(ordered)
        assert counts.minimum <= counts.mean <= counts.maximum <= paper.N
        assert 0 < counts.sd <= (counts.maximum - counts.minimum) / 2


def test_table_2_has_a_number_for_every_column_and_twice_the_bound_for_epsilon():
    for statistic, row in paper.TABLE_2.items():
        assert len(row) == len(paper.TABLE_2_COLUMNS), statistic
    for key in paper.TABLE_2_COLUMNS[1:5]:
        bound = paper.TABLE_2["lipschitz_bound"][key]
        assert paper.TABLE_2["epsilon"][key] == pytest.approx(2 * bound, abs=0.01)
    assert set(paper.TABLE_2_COLUMNS) <= set(paper.LABELS)
