"""What a round may cost: shares that add up, and the noise that follows from them."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.inference.allowance import Allowance, together
from understudy.inference.measurement import GAUSSIAN, Noise

AMOUNTS = st.floats(1e-9, 1e5)
SHARES = st.floats(0.01, 0.99)
ALLOWANCES = st.builds(Allowance, epsilon=AMOUNTS) | st.builds(Allowance, rho=AMOUNTS)


@pytest.mark.parametrize("both", [{}, {"epsilon": 1.0, "rho": 1.0}])
def test_it_is_one_number_and_not_two(both):
    with pytest.raises(ValueError, match="either epsilon or rho"):
        Allowance(**both)


@given(ALLOWANCES, SHARES)
def test_parts_are_of_its_kind_and_add_up_to_it(allowance, share):
    for parts in (allowance.split(share), allowance.split_accuracy(share)):
        assert {part.norm for part in parts} == {allowance.norm}
        whole = sum(Fraction(part.amount) for part in parts)
        assert abs(whole - Fraction(allowance.amount)) <= Fraction(allowance.amount) * 2**-52
        assert together(parts).amount == pytest.approx(allowance.amount)


@given(AMOUNTS, AMOUNTS, SHARES)
def test_normal_rounds_are_as_accurate_to_each_other_as_laplace_rounds_and_more_so(e, rho, share):
    laplace = Allowance(epsilon=e).split_accuracy(share)
    normal = Allowance(rho=rho).split_accuracy(share)
    ratio = laplace[0].variance(1) / laplace[1].variance(1)
    assert normal[0].variance(1) / normal[1].variance(1) == pytest.approx(ratio, rel=1e-6)
    for part, kept in zip(normal, (share, 1 - share), strict=True):
        assert part.rate > kept * Allowance(rho=rho).rate


@given(st.floats(5, 1e6), AMOUNTS.filter(lambda rho: rho < 1))
def test_variances_are_those_of_the_noise(bound, rho):
    assert Allowance(rho=rho).variance(bound) == pytest.approx(bound**2 / (2 * rho))
    scale = bound / math.sqrt(2 * rho)
    assert Allowance(rho=rho).variance(bound) == pytest.approx(Noise(scale, GAUSSIAN).variance)
    laplace = Noise(bound / rho).variance
    assert Allowance(epsilon=rho).variance(bound) == pytest.approx(laplace, rel=0.01)


@given(ALLOWANCES, st.integers(1, 50))
def test_information_is_a_table_s_size_in_units_of_its_noise(allowance, tables):
    bound = tables if allowance.norm == 1 else math.sqrt(tables)
    expected = 1000 * math.sqrt(2 / allowance.variance(bound))
    assert allowance.information(1000, among=tables) == pytest.approx(expected)
