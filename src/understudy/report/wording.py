"""Numbers as people read them: few digits, thousands apart, a real minus sign."""

from __future__ import annotations

import math
from collections.abc import Sequence

from understudy.domain.column import Column, Type
from understudy.domain.dates import iso
from understudy.privacy.guarantee import Kind
from understudy.privacy.rounding import at_most

NOTHING = "–"
BADGES = {
    Kind.STRICT: "✓ Strict guarantee",
    Kind.CONDITIONAL: "! Conditional guarantee",
    Kind.ASYMPTOTIC: "✗ Asymptotic, no guarantee for this table",
    Kind.NONE: "✗ No guarantee",
}
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def readable(number: float | None, *, digits: int = 4) -> str:
    """Write a number for people: whole from 1000 up, else with so many significant digits.

    >>> readable(91018.7), readable(0.06561), readable(-2.5), readable(0.0000123), readable(None)
    ('91,019', '0.06561', '−2.5', '1.23×10⁻⁵', '–')
    """
    if number is None or math.isnan(number):
        return NOTHING
    if math.isinf(number):
        return "∞" if number > 0 else "−∞"
    size = abs(number)
    if size >= 1e12 or 0 < size < 1e-4:
        mantissa, exponent = f"{size:.{digits - 1}e}".split("e")
        power = str(int(exponent)).translate(_SUPERSCRIPTS)
        text = f"{float(mantissa):g}×10{power}"
    elif float(f"{size:.{digits}g}") >= 1000:
        text = f"{size:,.0f}"
    else:
        text = f"{size:.{digits}g}"
    return text if number >= 0 or text == "0" else f"−{text}"


def value_of(column: Column, number: float, *, digits: int = 4) -> str:
    """Write a value of a column: a date as one, and any other as a number."""
    if column.type is Type.DATE and math.isfinite(number):
        return iso(number)
    return readable(number, digits=digits)


def span(low: float, high: float) -> str:
    """Write the values from one to another.

    >>> span(1, 10), span(7, 7)
    ('1 to 10', '7')
    """
    return readable(low) if low == high else f"{readable(low)} to {readable(high)}"


def span_of(column: Column, low: float, high: float) -> str:
    """Write the values of a column from one to another."""
    first, last = value_of(column, low), value_of(column, high)
    return first if low == high else f"{first} to {last}"


def along(column: Column) -> str:
    """Write what an axis with the values of a column shows."""
    return f"{column.name} (days since 1970-01-01)" if column.type is Type.DATE else column.name


def value_row(column: Column, name: str, before: float, after: float) -> tuple[str, ...]:
    """Return a row of a table: a value of a column twice, and by how much it differs."""
    if column.type is not Type.DATE:
        return number_row(name, before, after)
    both = value_of(column, before), value_of(column, after)
    return name, *both, f"{signed(after - before)} days", NOTHING


def bounded(number: float | None) -> str:
    """Write a bound for people, rounded up.

    >>> bounded(0.123412), bounded(None), bounded(math.inf)
    ('0.1235', '–', '∞')
    """
    if number is None or not math.isfinite(number):
        return readable(number)
    return at_most(number, 4)


def tick(number: float) -> str:
    """Write a number along an axis: all its digits, as a rounded label stands at the wrong place.

    >>> tick(2002.5), tick(500_000), tick(-0.25), tick(0.1 + 0.2)
    ('2,002.5', '500,000', '−0.25', '0.3')
    """
    text = f"{round(number, 12):,.12g}".replace("-", "−")
    return readable(number) if "e" in text else text


def signed(number: float, *, digits: int = 4) -> str:
    """Write a difference, with its sign unless it is 0.

    >>> signed(3155), signed(-372.8), signed(0)
    ('+3,155', '−372.8', '0')
    """
    return f"+{readable(number, digits=digits)}" if number > 0 else readable(number, digits=digits)


def percent(share: float) -> str:
    """Write a share as a percentage with three significant digits.

    >>> percent(0.1234), percent(1)
    ('12.3%', '100%')
    """
    return f"{readable(100 * share, digits=3)}%"


def in_points(share: float) -> str:
    """Write the difference of two shares, without its sign.

    >>> in_points(0.0334)
    '3.34 percentage points'
    """
    return f"{readable(100 * share, digits=3)} percentage points"


def hundredths(share: float) -> str:
    """Write a share as a percentage to two decimals, for a column in which all line up.

    >>> hundredths(0.1), hundredths(0.12345)
    ('10.00%', '12.35%')
    """
    return f"{100 * share:,.2f}%"


def listed(names: Sequence[str]) -> str:
    """Join names with commas and an "and".

    >>> listed([]), listed(["a"]), listed(["a", "b", "c"])
    ('', 'a', 'a, b and c')
    """
    *most, last = names or [""]
    return f"{', '.join(most)} and {last}" if most else last


def points(confidential: float, synthetic: float) -> str:
    """Write the difference of two shares in percentage points.

    >>> points(0.1, 0.125), points(0.3, 0.1)
    ('+2.50 points', '−20.00 points')
    """
    return f"{_signed_hundredths(100 * (synthetic - confidential))} points"


def change(confidential: float, synthetic: float) -> str:
    """Write by how many per cent the synthetic value differs, where that means anything.

    >>> change(80_000, 76_451), change(50, 51), change(7, 7), change(0, 1)
    ('−4.44%', '+2.00%', '0.00%', '–')
    """
    if confidential == 0:
        return NOTHING
    return f"{_signed_hundredths(100 * (synthetic - confidential) / abs(confidential))}%"


def number_row(name: str, before: float, after: float) -> tuple[str, ...]:
    """Return a row of a table: a number twice, and by how much it differs.

    >>> number_row("Mean", 50, 51)
    ('Mean', '50', '51', '+1', '+2.00%')
    """
    return name, readable(before), readable(after), signed(after - before), change(before, after)


def share_row(name: str, before: float, after: float) -> tuple[str, ...]:
    """Return a row of a table: a share twice, and by how much it differs.

    >>> share_row("Missing", 0.5, 0.25)
    ('Missing', '50.00%', '25.00%', '−25.00 points', '−50.00%')
    """
    shares = hundredths(before), hundredths(after)
    return name, *shares, points(before, after), change(before, after)


def _signed_hundredths(number: float) -> str:
    text = f"{number:+,.2f}".replace("-", "−")
    return "0.00" if text in ("+0.00", "−0.00") else text
