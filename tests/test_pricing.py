import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.guarantee import Adjacency
from understudy.mechanisms import (
    Anchored,
    CensorUw,
    CensorW,
    PerturbedHistogram,
    Unweighted,
    Weighted,
    WeightedE,
)
from understudy.pricing import price

EPSILONS = st.floats(1e-3, 1e3)
STRICT = [CensorUw, PerturbedHistogram, Anchored]


@pytest.mark.parametrize("mechanism", STRICT)
@given(epsilon=EPSILONS, adjacency=st.sampled_from(Adjacency), draws=st.integers(1, 20))
def test_a_draw_costs_the_epsilon_that_was_asked_for_and_draws_add_up(
    mechanism, epsilon, adjacency, draws
):
    asked = mechanism(epsilon=epsilon, adjacency=adjacency)
    bounds = ()
    if mechanism is Anchored:
        stages = asked.plan(size=10**9, dimension=2)
        bounds = tuple(stage.bound for stage in stages)
        if stages[-1].alpha == 1.0:
            return
    cost = price(asked, draws=draws, bounds=bounds)
    assert cost[adjacency].epsilon == pytest.approx(draws * epsilon, rel=1e-12)
    added, replaced = cost[Adjacency.ADD_REMOVE], cost[Adjacency.REPLACE_ONE]
    assert replaced.epsilon == pytest.approx(2 * added.epsilon)
    assert replaced.rho == pytest.approx(4 * added.rho)


def test_the_whole_of_epsilon_is_stated_without_a_rounding_error():
    """A ledger with a budget of 1 must not refuse a release at ε = 1."""
    mechanism = Anchored(epsilon=1.0)
    bounds = tuple(stage.bound for stage in mechanism.plan(size=2000, dimension=2))
    assert price(mechanism, draws=1, bounds=bounds)[Adjacency.ADD_REMOVE].epsilon == 1.0


def test_bounded_range_gives_an_eighth_and_pure_epsilon_a_half_of_its_square():
    assert price(CensorUw(epsilon=2.0), draws=1)[Adjacency.ADD_REMOVE].rho == 0.5
    assert price(PerturbedHistogram(epsilon=2.0), draws=1)[Adjacency.ADD_REMOVE].rho == 2.0


def test_budget_that_an_anchored_draw_cannot_use_is_not_charged():
    mechanism = Anchored(epsilon=50.0)
    stages = mechanism.plan(size=2000, dimension=2)
    cost = price(mechanism, draws=1, bounds=tuple(stage.bound for stage in stages))
    assert stages[-1].alpha == 1.0
    assert cost[Adjacency.ADD_REMOVE].epsilon == pytest.approx(2 * sum(s.bound for s in stages))
    assert cost[Adjacency.ADD_REMOVE].epsilon < 5


@pytest.mark.parametrize(
    "mechanism", [Unweighted(), Weighted(), WeightedE(epsilon=1.0), CensorW(epsilon=1.0)]
)
def test_what_is_not_strict_has_no_price(mechanism):
    assert price(mechanism, draws=1) is None
