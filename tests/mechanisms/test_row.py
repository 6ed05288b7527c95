"""Mechanisms that are a row of the equation."""

import math
from types import SimpleNamespace

import pytest

from understudy.mechanisms import (
    CensorUw,
    CensorW,
    Unweighted,
    Weighted,
    WeightedE,
)
from understudy.mechanisms.row import RowPlan
from understudy.privacy.guarantee import Adjacency, Kind, Weights


@pytest.mark.parametrize(
    ("mechanism", "kind", "weights", "bound"),
    [
        (Unweighted(), Kind.NONE, Weights.NONE, math.inf),
        (Weighted(), Kind.ASYMPTOTIC, Weights.SAME_DATA, math.inf),
        (WeightedE(epsilon=4.0), Kind.ASYMPTOTIC, Weights.SAME_DATA, math.inf),
        (CensorUw(epsilon=4.0), Kind.STRICT, Weights.NONE, 2.0),
        (CensorUw(epsilon=4.0, adjacency="replace-one"), Kind.STRICT, Weights.NONE, 1.0),
        (CensorW(epsilon=4.0), Kind.ASYMPTOTIC, Weights.SAME_DATA, 2.0),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_each_mechanism_is_its_row_of_the_table(mechanism, kind, weights, bound):
    assert (mechanism.kind, mechanism.weights, mechanism.bound) == (kind, weights, bound)


def planned(mechanism, tables=1):
    return RowPlan(SimpleNamespace(tables=tables), mechanism)


def test_a_draw_costs_twice_the_bound_and_only_where_it_is_private():
    """2B under add-remove and 4B under replace-one; ρ is an eighth of the square."""
    cost = planned(CensorUw(epsilon=3.0), tables=2).cost
    assert {str(adjacency): each.epsilon for adjacency, each in cost.items()} == {
        "add-remove": 6.0,
        "replace-one": 12.0,
    }
    assert cost[Adjacency.ADD_REMOVE].rho == pytest.approx(2 * 3.0**2 / 8)
    for mechanism in (Unweighted(), Weighted(), WeightedE(epsilon=1.0), CensorW(epsilon=1.0)):
        assert planned(mechanism).cost is None


def test_sums_beyond_what_stays_exact_are_left_to_chains():
    few = SimpleNamespace(dimension=2)
    assert CensorUw(epsilon=2000.0).samplers(few) == ("nuts", "exact")
    assert CensorUw(epsilon=2001.0).samplers(few) == ("nuts",)
