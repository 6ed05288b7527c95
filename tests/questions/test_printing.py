"""Tables of plain text."""

from understudy.questions.printing import lined_up


def test_names_stand_to_the_left_and_numbers_to_the_right():
    assert lined_up(["", "coef"], [["a", "1"], ["long", "-22.5"]]) == [
        "============",
        "        coef",
        "------------",
        "a          1",
        "long   -22.5",
        "============",
    ]
