"""The guarantee in words for people who have never heard of ε."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from pages import CONDITIONAL, STRICT, UNSTATED
from understudy.privacy.guarantee import Adjacency, Kind
from understudy.report import plain


def stating(epsilon):
    both = {Adjacency.ADD_REMOVE: epsilon, Adjacency.REPLACE_ONE: epsilon}
    return replace(STRICT, epsilon=both)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 3.0])
def test_odds_are_those_of_bayes_rule_rounded_up(epsilon):
    # Two possibilities, equally likely before; one makes the release e^ε times as probable.
    sure = math.exp(epsilon) / (1 + math.exp(epsilon))
    for _, told in plain.odds(stating(epsilon)):
        assert sure <= float(told.rstrip("%")) / 100 < sure + 0.001


def test_whose_odds_and_of_what_is_told():
    told = [what for what, _ in plain.odds(replace(STRICT, unit="home", membership=False))]
    assert told == [
        "Whether one 'home' provided their confidential values",
        "Which of two possibilities the confidential values of one 'home' are",
    ]
    assert plain.odds(STRICT)[0][0] == "Whether a person took part"


def test_a_limit_is_loose_from_the_epsilon_at_which_one_may_be_95_percent_sure():
    assert "loose limit" not in " ".join(plain.sentences(stating(2.9)))
    assert "loose limit" in " ".join(plain.sentences(stating(2.95)))


def test_what_voids_a_promise_comes_before_what_it_rests_on():
    void, condition, *_ = plain.sentences(replace(CONDITIONAL, seeded=True))
    assert void.startswith("This run was made with a fixed seed")
    assert condition.startswith("What follows holds only if")


@pytest.mark.parametrize("kind", [Kind.ASYMPTOTIC, Kind.NONE])
def test_where_nothing_is_promised_no_number_is_told(kind):
    guarantee = replace(UNSTATED, kind=kind)
    assert plain.odds(guarantee) == []
    assert [each["number"] for each in plain.epsilons(guarantee)] == [None, None]
    assert plain.sentences(guarantee)[0].startswith("Nothing is promised about this table.")


def test_epsilons_are_rounded_up_and_the_one_asked_for_is_marked():
    told = plain.epsilons(stating(1 / 3))
    assert [each["asked"] for each in told] == [False, True]
    assert all(float(each["number"]) >= 1 / 3 for each in told)


def test_with_a_delta_odds_are_those_that_are_exceeded_with_that_probability_at_most():
    rho = {Adjacency.ADD_REMOVE: 0.02, Adjacency.REPLACE_ONE: 0.08}
    guarantee = replace(STRICT, rho=rho, delta=1e-6)
    for (what, told), each in zip(plain.odds(guarantee), rho.values(), strict=True):
        limit = each + 2 * math.sqrt(each * math.log(2e6))
        sure = math.exp(limit) / (1 + math.exp(limit))
        assert sure <= float(told.rstrip("%")) / 100 < sure + 0.001
        assert what.endswith("(except with a probability of 1e-06 or less)")
    assert all(each["number"].endswith(", δ = 1e-06") for each in plain.epsilons(guarantee))
    assert "at most 1e-06, which is the number δ (delta)" in " ".join(plain.sentences(guarantee))
    assert "δ" not in " ".join(plain.sentences(STRICT))
