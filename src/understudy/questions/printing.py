"""Answers as a table of plain text; coefficients as statisticians are used to them."""

from __future__ import annotations

from collections.abc import Sequence

from understudy.support.aligned import aligned

NOTHING = "–"
_LARGEST = 1e15
"""From here on, a number is told by its first digits and a power of ten."""


def lined_up(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows under their header, between rules: names to the left, numbers to the right."""
    from rich.cells import cell_len

    lines = list(aligned([header, *rows]))
    length = max(map(cell_len, lines))
    return ["=" * length, lines[0], "-" * length, *lines[1:], "=" * length]


def ends(level: float) -> tuple[str, str]:
    """Return what the ends of an interval are called: the shares below them.

    >>> ends(0.95)
    ('[0.025', '0.975]')
    """
    below = (1 - level) / 2
    return f"[{below:.4g}", f"{1 - below:.4g}]"


def written(number: float | None, digits: int = 6) -> str:
    """Write a number with so many significant digits, and a whole one with all that it has.

    >>> written(52340.123, 4), written(-0.0123456789), written(None)
    ('52340', '-0.0123457', '–')
    """
    if number is None:
        return NOTHING
    whole = 10**digits <= abs(number) < _LARGEST
    return f"{number:.0f}" if whole else f"{number:.{digits}g}"
