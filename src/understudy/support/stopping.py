"""Being told to stop: when a run may be interrupted, and what it leaves behind if it ends now."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

NOTHING = "nothing was released"
COMPLETE = "the release is complete"

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_clause = NOTHING


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold back requests to stop during a step that must not be left half done.

    It is the answer that waits: any thread, such as one of JAX, may take a signal that this one
    blocks, and Python then answers it in the main thread, where alone it can be held back.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []
    answers = {
        each: signal.signal(each, lambda number, _: held.append(number)) for each in _SIGNALS
    }
    try:
        yield
    finally:
        for number, answer in answers.items():
            signal.signal(number, signal.SIG_DFL if answer is None else answer)
        for taken in held:
            signal.raise_signal(taken)


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
