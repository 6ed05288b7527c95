"""Files and directories that appear whole or not at all.

What is being written lies in a hidden place beside its destination until it is complete. Those
places are remembered, so that a process that is told to stop can remove them and leave at once.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_unfinished: set[Path] = set()


@contextmanager
def written_whole(path: Path, *, private: bool = False) -> Iterator[Path]:
    """Yield a hidden path beside `path` that takes its place once it has been written."""
    handle, name = tempfile.mkstemp(prefix=f".{path.stem}-", suffix=path.suffix, dir=path.parent)
    os.close(handle)
    with _remembered(Path(name)) as hidden:
        yield hidden
        hidden.chmod(0o600 if private else 0o666 & ~current_umask())
        hidden.replace(path)


@contextmanager
def hidden_directory(destination: Path) -> Iterator[Path]:
    """Yield a hidden directory beside the destination, gone in the end unless it was moved."""
    prefix = f".{destination.name}-"
    with _remembered(Path(tempfile.mkdtemp(prefix=prefix, dir=destination.parent))) as hidden:
        yield hidden


@contextmanager
def _remembered(path: Path) -> Iterator[Path]:
    _unfinished.add(path)
    try:
        yield path
    finally:
        _remove(path)
        _unfinished.discard(path)


def remove_unfinished() -> None:
    """Remove whatever is being written, because the process is about to end."""
    for path in list(_unfinished):
        _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


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


def current_umask() -> int:
    """Return the permissions that the user withholds from new files."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
