"""Dates as whole numbers of days since 1970-01-01, so that they are compared and drawn as numbers.

Only YYYY-MM-DD is read: in any other form somebody's 3 April is somebody else's 4 March.
"""

from __future__ import annotations

import re
from datetime import date

_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_EPOCH = date(1970, 1, 1).toordinal()

FIRST = date.min.toordinal() - _EPOCH
"""The first day that can be written with a year of four digits, 0001-01-01."""
LAST = date.max.toordinal() - _EPOCH
"""The last one, 9999-12-31."""


def day_of(day: date) -> int:
    """Return the number of a day.

    Args:
        day: A date; a time of day that it may have counts for nothing.

    >>> day_of(date(1970, 1, 2))
    1
    """
    return day.toordinal() - _EPOCH


def day_in(text: str) -> int | None:
    """Return the number of the day that a text names, or None where it names none.

    Args:
        text: What should be a date in the form YYYY-MM-DD.

    >>> day_in("1970-01-02"), day_in("1970-02-30"), day_in("2.1.1970")
    (1, None, None)
    """
    if _ISO.fullmatch(text) is None:
        return None
    try:
        return day_of(date.fromisoformat(text))
    except ValueError:
        return None


def iso(day: float) -> str:
    """Return the day of a number as text, the nearest one where it is not whole.

    Args:
        day: A number from `FIRST` to `LAST`.

    >>> iso(0), iso(19722.4)
    ('1970-01-01', '2023-12-31')
    """
    return date.fromordinal(round(day) + _EPOCH).isoformat()
