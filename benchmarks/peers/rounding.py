"""A loss that OpenDP's MST can spend: as asked for, or smaller by a few parts in a trillion.

MST divides what it has for choosing pairs into a part for each, a float below an even share. Its
composition adds the parts again, every sum rounded up, and where there are many parts the total
comes out a few units in the last place above the whole: OpenDP 0.16 then ends with "insufficient
budget for query" (github.com/opendp/opendp/issues/2789). Whether it does depends on the loss and
the number of columns alone. Here the same sums are made beforehand.
"""

from __future__ import annotations

import math
from fractions import Fraction

STEP = 1e-12


def spendable(loss: float, columns: int) -> float:
    """Return the largest loss on a fine grid below the one asked for that MST can spend."""
    for steps in range(1000):
        smaller = loss * (1 - steps * STEP)
        if _adds_up(smaller, columns - 1):
            return smaller
    raise ValueError("no loss near the one asked for can be divided")


def _adds_up(loss: float, parts: int) -> bool:
    """Whether the parts of the loss add up to no more than their whole, as OpenDP makes them."""
    several = _below(_below(loss - loss * 0.5))
    choosing = _below(_below(several - several * 0.9))
    part, total = _below(choosing / parts), 0.0
    for _ in range(parts):
        total = _up(total, part)
    return total <= choosing


def _below(number: float) -> float:
    return math.nextafter(number, -math.inf)


def _up(one: float, other: float) -> float:
    """Return the sum, rounded up."""
    total = one + other
    exact = Fraction(one) + Fraction(other)
    return math.nextafter(total, math.inf) if Fraction(total) < exact else total
