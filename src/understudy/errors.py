"""The two ways in which understudy says no, each a sentence that a data steward understands."""


class BadInput(ValueError):
    """Something given to understudy is missing, malformed or undeclared (exit code 2).

    The sentence says what is wrong, where, and what to do. It names the place of a value (column,
    row), never the value itself, because values are confidential.
    """


class Refused(RuntimeError):
    """The input is sound, but what was asked for would not hold (exit code 3)."""
