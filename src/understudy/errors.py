"""The two ways in which understudy says no, each a sentence that a data steward understands.

A sentence names the arguments of the function that was called in backticks, as Python has them:
"leave out `sampler`". Which they are can be asked of the error; the command line, and nothing else,
turns them into its flags. What people wrote themselves is repeated in quotes, and is left alone.
"""

import difflib
import re
from collections.abc import Iterable

ARGUMENT = re.compile(r"`([a-z][a-z0-9_]*)`|(?<!\w)(['\"])(?:\\.|[^\\])*?\2(?!\w)")
"""An argument; or a quotation, which is matched as a whole because it may hold backticks."""


class Problem(Exception):
    """What is wrong, where, and what to do, in one sentence.

    It names the place of a value (column, row), never the value itself, because values are
    confidential.
    """

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names of the arguments that the sentence speaks of."""
        return tuple(found[1] for found in ARGUMENT.finditer(str(self)) if found[1])


class BadInput(Problem, ValueError):
    """Something given to understudy is missing, malformed or undeclared (exit code 2)."""


class Refused(Problem, RuntimeError):
    """The input is sound, but what was asked for would not hold (exit code 3)."""


def nearest(word: str, known: Iterable[str]) -> str:
    """Return ' (did you mean ...?)' where a known word is close, to go into a sentence."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean '{close[0]}'?)" if close else ""
