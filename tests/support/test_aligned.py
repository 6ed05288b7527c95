"""Text in columns, measured in the cells that a terminal shows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from command_line import cells
from understudy.support.aligned import aligned

WORDS = st.text(st.sampled_from("abz ×ñ給与月e\u0301한ж"), max_size=12).map(str.strip)
NUMBERS = st.from_regex(r"[0-9]{1,7}(\.[0-9]{1,4})?", fullmatch=True)


@given(st.lists(st.tuples(WORDS, NUMBERS, NUMBERS), min_size=1, max_size=6))
def test_words_begin_alike_and_numbers_end_alike(rows):
    lines = list(aligned(rows))
    without_last = [
        line.removesuffix(row[2]).rstrip() for row, line in zip(rows, lines, strict=True)
    ]
    for row, line, before in zip(rows, lines, without_last, strict=True):
        assert line.startswith(row[0])
        assert line.removeprefix(row[0]).split() == list(row[1:])
        assert before.endswith(f"  {row[1]}")
    for ends in (lines, without_last):
        assert len(set(map(cells, ends))) == 1


def test_columns_of_words_leave_no_spaces_behind():
    rows = [("number", "state"), ("10", "published"), ("9", "")]
    assert list(aligned(rows, left=2)) == ["number  state", "10      published", "9"]


def test_rows_must_be_alike():
    with pytest.raises(ValueError, match="zip"):
        list(aligned([("a", "b"), ("a",)]))
