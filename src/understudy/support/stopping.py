"""Being told to stop: when a run may be interrupted, and what it leaves behind if it ends now."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

NOTHING = "nothing was released"
COMPLETE = "the release is complete"

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_clause = NOTHING


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold back requests to stop during a step that must not be left half done."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def on_request_to_stop(handler: object) -> None:
    """Let the handler answer Ctrl-C, termination and the end of the session."""
    for number in _SIGNALS:
        signal.signal(number, handler)  # type: ignore[arg-type]


def leave(clause: str) -> None:
    """Say from now on that this is what the run leaves behind."""
    global _clause  # noqa: PLW0603 - a signal handler has no other way to know
    _clause = clause


def left_behind() -> str:
    """Return what the run leaves behind, in a clause without a full stop."""
    return _clause
