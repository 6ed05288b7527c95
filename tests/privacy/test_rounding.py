"""Bounds are written so that they are never smaller than what they bound."""

import doctest
import math
from decimal import Decimal, getcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.privacy import rounding
from understudy.privacy.guarantee import LARGEST_EPSILON, SMALLEST_EPSILON
from understudy.privacy.rounding import at_least, at_most, certainty_at_most, factor_at_most

EPSILONS = st.floats(SMALLEST_EPSILON, LARGEST_EPSILON)
getcontext().prec = 60


def value(text):
    """Return what a reader takes a printed number for."""
    text = text.replace(",", "").removesuffix("%")
    base, power, exponent = text.partition("^")
    return Decimal(base) ** int(exponent) if power else Decimal(text)


@given(number=st.floats(1e-12, 1e12), digits=st.integers(2, 15))
def test_an_upper_bound_is_rounded_up_by_less_than_its_last_digit(number, digits):
    stated, written = Decimal(repr(number)), value(at_most(number, digits))
    assert stated <= written <= stated * (1 + Decimal(10) ** (1 - digits))


@given(number=st.floats(1e-12, 1e12), digits=st.integers(2, 15))
def test_a_lower_bound_is_rounded_down_by_less_than_its_last_digit(number, digits):
    stated, written = Decimal(repr(number)), value(at_least(number, digits))
    assert stated * (1 - Decimal(10) ** (1 - digits)) <= written <= stated


@given(number=st.fractions(Fraction(1, 10**6), 10**6))
def test_exact_sums_are_rounded_the_same_way(number):
    assert Fraction(value(at_least(number))) <= number <= Fraction(value(at_most(number)))


@given(epsilon=EPSILONS)
def test_the_factor_is_never_smaller_than_the_exponential(epsilon):
    assert value(factor_at_most(epsilon)) >= Decimal(repr(epsilon)).exp()


@given(epsilon=st.floats(SMALLEST_EPSILON, 6.9))
def test_nobody_is_surer_than_is_told(epsilon):
    assert value(certainty_at_most(epsilon)) / 100 >= 1 / (1 + (-Decimal(repr(epsilon))).exp())


@pytest.mark.parametrize(
    ("epsilon", "factor"), [(0.2, "1.23"), (14.0, "1,210,000"), (1.0, "2.72"), (math.log(2), "2")]
)
def test_factors_that_were_once_rounded_down(epsilon, factor):
    assert factor_at_most(epsilon) == factor


def test_numbers_as_people_wrote_them_stay_as_they_are():
    for text in ("0.1", "1", "0.25", "12", "1e-06", "1.23456"):
        assert at_most(float(text)) == at_least(float(text)) == text


def test_the_examples_hold():
    assert doctest.testmod(rounding).failed == 0
