from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import understudy as us
from understudy.domain.records import Held
from understudy.domain.skeleton import Skeleton
from understudy.mechanisms import (
    Anchored,
    CensorUw,
    CensorW,
    PerturbedHistogram,
    Request,
    Unweighted,
    Weighted,
    WeightedE,
)
from understudy.mechanisms.plan import Plan, staged
from understudy.privacy.accounting import exact
from understudy.privacy.guarantee import Adjacency
from understudy.support.randomness import Source

EPSILONS = st.floats(1e-3, 1e3)
STRICT = [CensorUw, PerturbedHistogram, Anchored]


SCHEMA = us.Schema.from_dict(
    {"columns": {"x": {"role": "confidential", "type": "continuous", "bounds": [0, 1]}}}
)


def plan(mechanism, tables=1, size=2000):
    """Return the plan of a mechanism for the Beta model and a table of declared size."""
    model = us.beta(SCHEMA)
    request = Request(
        mechanism=mechanism,
        model=model,
        schema=SCHEMA,
        records=Held({}),
        skeleton=Skeleton({}, 10),
        size=size,
        sampler=mechanism.samplers(model)[0],
        tables=tables,
        source=Source(0),
    )
    return mechanism.plan(request)


@pytest.mark.parametrize("mechanism", STRICT)
@given(epsilon=EPSILONS, adjacency=st.sampled_from(Adjacency), draws=st.integers(1, 20))
def test_a_draw_costs_the_epsilon_that_was_asked_for_and_draws_add_up(
    mechanism, epsilon, adjacency, draws
):
    asked = mechanism(epsilon=epsilon, adjacency=adjacency)
    if mechanism is Anchored and asked.ladder(size=10**9, dimension=2)[-1].alpha == 1.0:
        return
    cost = plan(asked, draws, size=10**9).cost
    assert cost[adjacency].epsilon == pytest.approx(draws * epsilon, rel=1e-12)
    added, replaced = cost[Adjacency.ADD_REMOVE], cost[Adjacency.REPLACE_ONE]
    assert replaced.epsilon == pytest.approx(2 * added.epsilon)
    assert replaced.rho == pytest.approx(4 * added.rho)


@pytest.mark.parametrize(("bounds", "draws"), [((), 1), ((0.5, 0.0), 1), ((-0.5,), 1), ((0.5,), 0)])
def test_no_price_is_nothing_because_too_little_is_said(bounds, draws):
    """Asked for the price of an anchored draw without its stages, the answer was ε = 0."""
    with pytest.raises(ValueError, match="a price needs"):
        staged(bounds, draws, asked=1.0, under=Adjacency.ADD_REMOVE)


def test_a_plan_that_does_not_say_what_it_costs_is_none():
    class Free(Plan):
        def draw(self):
            return None

    with pytest.raises(TypeError, match="cost"):
        Free(None)


@pytest.mark.parametrize("mechanism", [each(epsilon=1.0) for each in STRICT])
def test_nothing_that_is_drawn_is_free(mechanism):
    for cost in plan(mechanism).cost.values():
        assert cost.epsilon > 0
        assert cost.rho > 0


@given(epsilon=EPSILONS, adjacency=st.sampled_from(Adjacency), size=st.integers(30, 10**8))
def test_stages_never_cost_more_together_than_is_stated(epsilon, adjacency, size):
    mechanism = Anchored(epsilon=epsilon, adjacency=adjacency)
    made = plan(mechanism, size=size)
    bounds = sum(Fraction(stage.bound) for stage in made.ladder)
    for each in Adjacency:
        assert 2 * each.steps * bounds <= exact(made.cost[each].epsilon)


def test_the_whole_of_epsilon_is_stated_without_a_rounding_error():
    """A ledger with a budget of 1 must not refuse a release at ε = 1."""
    assert plan(Anchored(epsilon=1.0)).cost[Adjacency.ADD_REMOVE].epsilon == 1.0


def test_bounded_range_gives_an_eighth_and_pure_epsilon_a_half_of_its_square():
    assert plan(CensorUw(epsilon=2.0)).cost[Adjacency.ADD_REMOVE].rho == 0.5
    assert plan(PerturbedHistogram(epsilon=2.0)).cost[Adjacency.ADD_REMOVE].rho == 2.0


def test_budget_that_an_anchored_draw_cannot_use_is_not_charged():
    mechanism = Anchored(epsilon=50.0)
    stages = mechanism.ladder(size=2000, dimension=2)
    cost = plan(mechanism).cost
    assert stages[-1].alpha == 1.0
    assert cost[Adjacency.ADD_REMOVE].epsilon == pytest.approx(2 * sum(s.bound for s in stages))
    assert cost[Adjacency.ADD_REMOVE].epsilon < 5


@pytest.mark.parametrize(
    "mechanism", [Unweighted(), Weighted(), WeightedE(epsilon=1.0), CensorW(epsilon=1.0)]
)
def test_what_promises_no_number_has_no_price(mechanism):
    assert plan(mechanism).cost is None
