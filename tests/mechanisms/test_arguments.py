"""Arguments of mechanisms: each is checked by its name."""

import math
from dataclasses import dataclass

import pytest

from understudy.errors import BadInput
from understudy.mechanisms import (
    make_mechanism,
)
from understudy.mechanisms.arguments import check_arguments


@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("censor-uv", {"epsilon": 1.0}, r"no mechanism 'censor-uv' \(did you mean 'censor-uw'\?\)"),
        ("Censor_W", {"epsilon": 1.0}, "did you mean 'censor-w'"),
        ("censor-uw", {}, "needs `epsilon`"),
        ("censor-uw", {"epsilon": 1.0, "c1": 0.5}, "does not take `c1`"),
        ("unweighted", {"bins": "ln"}, "does not take `bins`"),
        ("censor-w", {"epsilon": 1.0, "c1": math.nan}, "`c1` must be a finite number"),
        ("censor-w", {"epsilon": 1.0, "c1": -1.0}, "`c1` must not be negative"),
        ("censor-w", {"epsilon": 1.0, "c2": math.inf}, "`c2` must be a finite number"),
        ("ph", {"epsilon": 1.0, "bins": "log"}, "`bins` must be 'sqrt', 'ln' or a number"),
        ("ph", {"epsilon": 1.0, "bins": "0"}, "`bins` must be"),
        ("ph", {"epsilon": 1.0, "adjacency": "swap"}, "`adjacency` must be"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(name, arguments, reason):
    with pytest.raises(BadInput, match=reason):
        make_mechanism(name, **arguments)


@dataclass
class Anything:
    epsilon: float = 1
    bins: object = "12"
    threshold: object = 2
    unknown: object = "as it is"


def test_what_is_known_is_checked_and_made_a_number_and_the_rest_left_alone():
    anything = Anything()
    check_arguments(anything)
    assert (anything.bins, anything.threshold, anything.unknown) == (12, 2.0, "as it is")
    assert type(anything.threshold) is float
    for wrong in ({"threshold": 101}, {"threshold": True}, {"bins": 1_000_001}, {"bins": "²"}):
        with pytest.raises(BadInput, match=f"`{next(iter(wrong))}` must be"):
            check_arguments(Anything(**wrong))
