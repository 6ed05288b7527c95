import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import BadInput, Refused
from understudy.privacy.accounting import (
    NOTHING,
    Cost,
    check_delta,
    composed,
    epsilon_above,
    epsilon_at,
    exact,
    loss_exceeded,
    pure,
    rho_within,
    total,
)

POSITIVE = st.floats(1e-6, 1e3)
COSTS = st.builds(Cost, POSITIVE, POSITIVE)
DELTAS = st.floats(1e-15, 0.5)
DECIMALS = st.decimals(Decimal("0.001"), Decimal(20), places=3)


def divergence(p, q, order):
    """Return the Rényi divergence between two distributions, by its definition."""
    return math.log(np.sum(p**order * q ** (1 - order))) / (order - 1)


@given(
    st.lists(st.tuples(st.floats(0.001, 1), st.floats(-1, 1)), min_size=2, max_size=8),
    st.floats(0.01, 6),
    st.floats(1.01, 40),
)
def test_a_draw_in_proportion_to_exp_score_has_the_rho_of_a_bounded_range(points, epsilon, order):
    mass, score = np.array(points).T
    without = mass / mass.sum()
    with_record = mass * np.exp(epsilon / 2 * score)
    with_record /= with_record.sum()
    cost = Cost.of_draw(epsilon)
    assert np.abs(np.log(with_record / without)).max() <= cost.epsilon * (1 + 1e-9)
    for p, q in ((without, with_record), (with_record, without)):
        assert divergence(p, q, order) <= cost.rho * order * (1 + 1e-9) + 1e-9


@given(st.floats(0.01, 6), st.floats(1.01, 40))
def test_randomised_response_has_the_rho_of_pure_privacy(epsilon, order):
    p = np.array([math.exp(epsilon), 1]) / (1 + math.exp(epsilon))
    assert divergence(p, p[::-1], order) <= Cost.of_pure(epsilon).rho * order * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize(("make", "width"), [(Cost.of_draw, 0.5), (Cost.of_pure, 1.0)])
def test_neither_rho_can_be_improved(make, width):
    """Two outcomes whose log-ratios are ±ε/2, a range of ε, and ±ε: as far as each may go."""
    epsilon = 0.01
    odds = math.exp(width * epsilon)
    p = np.array([odds, 1]) / (1 + odds)
    assert divergence(p, p[::-1], 2.0) == pytest.approx(2 * make(epsilon).rho, rel=1e-3)


@given(st.lists(COSTS, max_size=8), st.randoms(use_true_random=False))
def test_costs_add_up_in_any_order(costs, random):
    shuffled = random.sample(costs, len(costs))
    assert total(shuffled) == total(costs)
    assert total(costs).epsilon == pytest.approx(math.fsum(cost.epsilon for cost in costs))
    assert total(costs).rho == pytest.approx(math.fsum(cost.rho for cost in costs))


@given(COSTS, COSTS)
def test_a_sum_is_a_total_and_nothing_is_neutral(one, other):
    assert one + other == other + one == total([one, other])
    assert one + NOTHING == one


@given(DECIMALS, st.integers(1, 60))
def test_equal_decimals_add_up_to_their_multiple_exactly(epsilon, count):
    costs = [Cost.of_draw(float(epsilon))] * count
    assert pure(costs) == composed(costs, delta=None) == Fraction(epsilon) * count
    assert total(costs).epsilon == float(epsilon * count)


def test_ten_tenths_are_one():
    assert sum([0.1] * 10) != 1.0
    assert sum([Cost.of_draw(0.1)] * 10, NOTHING).epsilon == 1.0
    assert pure([Cost.of_draw(0.1)] * 3) <= exact(0.3)


@pytest.mark.parametrize("delta", [1e-12, 1e-9, 1e-6, 1e-3, 0.1])
@pytest.mark.parametrize("rho", [1e-6, 1e-4, 1e-2, 0.1, 0.5, 1, 3, 10, 100, 1000])
def test_the_conversion_finds_the_best_order(rho, delta):
    offset = np.geomspace(1e-2, 1e9, 400_001)
    order = 1 + offset
    tight = rho * order + np.log(offset / order) - np.log(delta * order) / offset
    best = max(0.0, float(tight.min()))
    found = epsilon_at(Cost(1e9, rho), delta=delta)
    assert found == pytest.approx(best, rel=1e-5, abs=1e-9)
    assert found <= rho + 2 * math.sqrt(-rho * math.log(delta))


@given(st.floats(1e-6, 1e3), DELTAS)
def test_the_conversion_is_below_the_closed_form(rho, delta):
    closed = rho + 2 * math.sqrt(-rho * math.log(delta))
    assert 0 <= epsilon_at(Cost(1e9, rho), delta=delta) <= closed


@given(st.floats(1e-6, 1e2), DELTAS, st.floats(1.01, 10))
def test_a_larger_rho_or_a_smaller_delta_costs_more(rho, delta, factor):
    here = epsilon_at(Cost(1e9, rho), delta=delta)
    assert epsilon_at(Cost(1e9, rho * factor), delta=delta) >= here
    assert epsilon_at(Cost(1e9, rho), delta=delta / factor) >= here


def test_the_smaller_of_the_two_is_taken():
    one = Cost.of_draw(0.1)
    assert epsilon_at(one, delta=1e-6) == 0.1
    many = total([one] * 100)
    assert many.epsilon == 10
    assert 2.3 < epsilon_at(many, delta=1e-6) < 2.76
    assert composed([one] * 100, delta=1e-6) == exact(epsilon_at(many, delta=1e-6))
    assert composed([one] * 100, delta=None) == 10
    assert epsilon_at(NOTHING, delta=1e-6) == composed([], delta=1e-6) == 0


@pytest.mark.parametrize(
    ("epsilon", "rho"),
    [
        (-1, 1), (1, -1), (math.nan, 1), (1, math.nan), (math.inf, 1), (1, math.inf),
        ("1", 1), (1, None), (True, 1), (1, 0), (0, 1),
    ],
)  # fmt: skip
def test_a_cost_that_makes_no_sense_is_refused(epsilon, rho):
    with pytest.raises(BadInput, match="a cost's"):
        Cost(epsilon, rho)


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, "1", 1e200])
def test_a_release_costs_a_positive_finite_epsilon(epsilon):
    for make in (Cost.of_draw, Cost.of_pure):
        with pytest.raises(BadInput):
            make(epsilon)


@pytest.mark.parametrize("delta", [0, 1, -1e-6, math.nan, math.inf, "1e-6", None, True])
def test_a_delta_outside_the_unit_interval_is_refused(delta):
    with pytest.raises(BadInput, match="`delta` must be a number between 0 and 1"):
        check_delta(delta)
    with pytest.raises(BadInput, match="`delta` must be"):
        epsilon_at(NOTHING, delta=delta)


def test_costs_keep_plain_floats_whatever_they_are_made_from():
    cost = Cost(np.float64(0.1), 1)
    assert repr(cost) == "Cost(epsilon=0.1, rho=1.0)"


# Without a pure ε --------------------------------------------------------------------------------


@given(st.floats(1e-6, 1e6), st.floats(1e-30, 0.999))
def test_rho_within_is_within_and_no_larger_one_is(epsilon, delta):
    rho = rho_within(epsilon, delta=delta)
    assert epsilon_at(Cost(None, rho), delta=delta) <= epsilon
    assert epsilon_at(Cost(None, rho * (1 + 1e-9)), delta=delta) > epsilon


@given(st.floats(0.01, 20), st.floats(1e-12, 0.1))
def test_rho_within_holds_by_the_published_formula(epsilon, delta):
    """[5], Proposition 12, on orders of its own: the smallest over them is at most ε."""
    rho = rho_within(epsilon, delta=delta)
    a = 1 + np.geomspace(1e-3, 1e5, 200_001)
    converted = rho * a + np.log1p(-1 / a) - (math.log(delta) + np.log(a)) / (a - 1)
    assert converted.min() <= epsilon * (1 + 1e-9)
    assert converted.min() >= epsilon * (1 - 1e-3)


def test_four_times_rho_is_not_twice_epsilon():
    rho = rho_within(1.0, delta=1e-6)
    assert epsilon_at(Cost(None, 4 * rho), delta=1e-6) == pytest.approx(2.1117, abs=1e-4)


@given(POSITIVE, DELTAS)
def test_what_is_stated_is_never_below_the_conversion(rho, delta):
    cost = Cost(None, rho)
    assert epsilon_at(cost, delta=delta) <= epsilon_above(cost, delta=delta)
    assert epsilon_above(cost, delta=delta) <= epsilon_at(cost, delta=delta) * (1 + 1e-11)


@pytest.mark.parametrize("delta", [1e-6, 0.01, 0.5])
@pytest.mark.parametrize("scale", [0.7, 3.0, 20.0])
def test_odds_exceed_their_limit_with_probability_delta_at_most(scale, delta):
    """By enumeration, for discrete Gaussian noise and tables that differ by 1, in both ways."""
    steps = np.arange(-int(40 * scale) - 10, int(40 * scale) + 11)
    heights = -((steps / scale) ** 2) / 2
    pmf = np.exp(heights) / np.exp(heights).sum()
    log_ratio = ((steps - 1) ** 2 - steps**2) / (2 * scale**2)
    limit = loss_exceeded(Cost(None, 1 / (2 * scale**2)), delta=delta)
    assert pmf[np.abs(log_ratio) > limit].sum() <= delta
    assert limit > epsilon_at(Cost(None, 1 / (2 * scale**2)), delta=delta)


@given(st.lists(COSTS, max_size=4), POSITIVE, DELTAS)
def test_one_release_without_a_pure_epsilon_leaves_rho_to_decide(costs, rho, delta):
    mixed = [*costs, Cost(None, rho)]
    assert pure(mixed) is None
    assert total(mixed).epsilon is None
    together = Cost(None, total(mixed).rho)
    assert composed(mixed, delta=delta) == exact(epsilon_at(together, delta=delta))
    with pytest.raises(Refused, match="no pure ε"):
        composed(mixed, delta=None)


@pytest.mark.parametrize("rho", [0, -1.0, math.nan, math.inf, None, "1", True])
def test_a_cost_without_a_pure_epsilon_has_a_rho(rho):
    with pytest.raises(BadInput, match="a cost's"):
        Cost(None, rho)
