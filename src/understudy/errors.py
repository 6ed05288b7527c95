"""The two ways in which understudy says no, each a sentence that a data steward understands."""

import difflib
from collections.abc import Iterable


class BadInput(ValueError):
    """Something given to understudy is missing, malformed or undeclared (exit code 2).

    The sentence says what is wrong, where, and what to do. It names the place of a value (column,
    row), never the value itself, because values are confidential.
    """


class Refused(RuntimeError):
    """The input is sound, but what was asked for would not hold (exit code 3)."""


def nearest(word: str, known: Iterable[str]) -> str:
    """Return ' (did you mean ...?)' where a known word is close, to go into a sentence."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean '{close[0]}'?)" if close else ""
