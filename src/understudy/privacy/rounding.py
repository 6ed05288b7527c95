"""How bounds are written: rounded away from comfort, never towards it.

"At most 1.22" is false of e^0.2 = 1.2214. So what is at most something is rounded up, what is at
least something is rounded down, and both start from the decimal number that a float was written
as: the 0.1 that somebody typed is a tenth, and needs no rounding.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction

Number = float | Fraction | Decimal

_GUARD = 50
"""Digits in which exponentials are computed before they are rounded."""
_LONGEST = Decimal(10) ** 15
"""Beyond it a factor is told by its power of ten."""


def at_most(number: Number, digits: int = 6) -> str:
    """Write an upper bound with so many significant digits, rounded up.

    >>> at_most(1.234564), at_most(0.1), at_most(2.0), at_most(Fraction(1, 3), 3)
    ('1.23457', '0.1', '2', '0.334')
    """
    return plain(float(_rounded(number, digits, ROUND_CEILING)))


def at_least(number: Number, digits: int = 6) -> str:
    """Write a lower bound with so many significant digits, rounded down.

    >>> at_least(1.234569), at_least(0.1), at_least(Fraction(2, 3), 3)
    ('1.23456', '0.1', '0.666')
    """
    return plain(float(_rounded(number, digits, ROUND_FLOOR)))


def plain(number: float | Fraction) -> str:
    """Return a number as people write it, with all its digits."""
    return repr(float(number)).removesuffix(".0")


def factor_at_most(epsilon: float) -> str:
    """Write e^ε, by which a probability changes at most.

    >>> factor_at_most(0.2), factor_at_most(1.0), factor_at_most(5.0), factor_at_most(14.0)
    ('1.23', '2.72', '149', '1,210,000')
    >>> factor_at_most(5000.0)
    '10^2172'
    """
    with localcontext() as context:
        context.prec = _GUARD
        factor = _decimal(epsilon).exp()
        power = factor.log10().to_integral_value(ROUND_CEILING)
    if factor > _LONGEST:
        return f"10^{power}"
    rounded = _rounded(factor, 3, ROUND_CEILING)
    return f"{rounded:,f}" if rounded >= 100 else plain(float(rounded))


def certainty_at_most(epsilon: float) -> str:
    """Write e^ε/(1 + e^ε), how sure one can be at most of what was a toss-up, in per cent.

    >>> certainty_at_most(1.0), certainty_at_most(2.0), certainty_at_most(20.0)
    ('73.2%', '88.1%', 'more than 99.9%')
    """
    with localcontext() as context:
        context.prec = _GUARD
        tenths = (1000 / (1 + (-_decimal(epsilon)).exp())).to_integral_value(ROUND_CEILING)
    return f"{plain(float(tenths / 10))}%" if tenths < 1000 else "more than 99.9%"


def _rounded(number: Number, digits: int, rounding: str) -> Decimal:
    with localcontext() as context:
        context.prec, context.rounding = digits, rounding
        if isinstance(number, Fraction):
            return Decimal(number.numerator) / Decimal(number.denominator)
        return +_decimal(number)


def _decimal(number: float | Decimal) -> Decimal:
    return number if isinstance(number, Decimal) else Decimal(repr(float(number)))
