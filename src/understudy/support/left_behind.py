"""What a run leaves behind if it ends now, in one clause for whoever is told that it ended."""

from __future__ import annotations

NOTHING = "nothing was released"
COMPLETE = "the release is complete"
_clause = NOTHING


def leave(clause: str) -> None:
    """Say from now on that this is what the run leaves behind."""
    global _clause  # noqa: PLW0603 - a signal handler has no other way to know
    _clause = clause


def left_behind() -> str:
    """Return the clause, without a full stop."""
    return _clause
