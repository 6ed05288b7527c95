"""Tables of plain text."""

from understudy.questions.printing import lined_up, written


def test_names_stand_to_the_left_and_numbers_to_the_right():
    assert lined_up(["", "coef"], [["a", "1"], ["long", "-22.5"]]) == [
        "===========",
        "       coef",
        "-----------",
        "a         1",
        "long  -22.5",
        "===========",
    ]


def test_large_numbers_are_written_without_a_power_of_ten_until_they_are_very_large():
    assert [written(each, 4) for each in (11974.4, -99999.6, 9999.4, 2e-9, 3e20)] == [
        "11974",
        "-100000",
        "9999",
        "2e-09",
        "3e+20",
    ]
