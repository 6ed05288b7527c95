"""Files and directories that appear complete or not at all.

What is being written lies in a hidden place beside its destination until it is complete. Those
places are remembered, so that a process that is told to stop can remove them and leave at once. One
that is killed cannot: its hidden places are swept by the next run to the same destination, which
knows them by their names, and knows that nobody uses them because nobody holds their locks. Where a
file system has no locks nothing is swept.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from understudy.errors import BadInput

REPLACED = "replaced"
"""Name, in a hidden directory, of what is moved out of the way of its successor."""

_unfinished: set[Path] = set()


@contextmanager
def written_atomically(path: Path, *, private: bool = False) -> Iterator[Path]:
    """Yield a hidden path beside `path` that takes its place once it has been written."""

    def make() -> Path:
        # What writes a file may choose its format by the suffix.
        handle, name = tempfile.mkstemp(prefix=_prefix(path), suffix=path.suffix, dir=path.parent)
        os.close(handle)
        return Path(name)

    sweep(path)
    with _held(make) as hidden:
        yield hidden
        hidden.chmod(0o600 if private else 0o666 & ~current_umask())
        hidden.replace(path)


@contextmanager
def hidden_directory(destination: Path) -> Iterator[Path]:
    """Yield a hidden directory beside the destination, gone in the end unless it was moved."""
    sweep(destination)
    prefix, parent = _prefix(destination), destination.parent
    with _held(lambda: Path(tempfile.mkdtemp(prefix=prefix, dir=parent))) as hidden:
        yield hidden


def check_place(path: Path) -> None:
    """Refuse, before any work is done, a path at which nothing could be written at its end."""
    place = path.absolute().parent
    if not place.exists():
        raise BadInput(f"there is no directory '{path.parent}'.")
    try:
        # Permissions do not tell: some file systems take no files from anybody.
        with hidden_directory(path):
            pass
    except OSError:
        raise BadInput(f"nothing can be written to '{place}': choose another directory.") from None


def sweep(destination: Path) -> None:
    """Remove what runs that were killed have left beside the destination."""
    for hidden in _left_beside(destination):
        aside = hidden / REPLACED
        if aside.is_dir() and not aside.is_symlink() and not os.path.lexists(destination):
            # The run was killed between its two moves: one release or the other must stand.
            aside.rename(destination)
        _remove(hidden)


def leftovers(destination: Path) -> tuple[Path, ...]:
    """Return what runs that were killed have left beside the destination."""
    return tuple(_left_beside(destination))


def _prefix(destination: Path) -> str:
    return f".{destination.name}-understudy-"


def _left_beside(destination: Path) -> Iterator[Path]:
    """Yield each hidden place of the destination that nobody uses, while its lock is held here."""
    suffix = re.escape(destination.suffix)
    name = re.compile(re.escape(_prefix(destination)) + f"[a-z0-9_]{{8}}({suffix})?")
    try:
        places = [path for path in destination.parent.iterdir() if name.fullmatch(path.name)]
    except OSError:
        return
    for path in places:
        with suppress(OSError):  # Whatever cannot be opened or locked is not ours to sweep.
            descriptor = _opened(path)
            try:
                status = os.fstat(descriptor)
                plain = stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)
                if plain and status.st_uid == os.geteuid() and _locks(descriptor):
                    yield path
            finally:
                os.close(descriptor)


@contextmanager
def _held(make: Callable[[], Path]) -> Iterator[Path]:
    """Yield a new hidden place, remembered and locked for as long as it is in use."""
    path, descriptor = _locked_place(make)
    _unfinished.add(path)
    try:
        yield path
    finally:
        _remove(path)
        _unfinished.discard(path)
        os.close(descriptor)


def _locked_place(make: Callable[[], Path]) -> tuple[Path, int]:
    """Make a hidden place and lock it; again, if a sweep was faster than the lock."""
    while True:
        path = make()
        with suppress(FileNotFoundError):
            descriptor = _opened(path)
            try:
                locked = _locks(descriptor)
            except OSError:
                locked = True  # No locks here: then no sweep can take one either.
            if locked and path.exists():
                return path, descriptor
            os.close(descriptor)
        _remove(path)


def _opened(path: Path) -> int:
    # Links are not followed, and a pipe is not waited for.
    return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)


def _locks(descriptor: int) -> bool:
    """Lock what is open, until it is closed, and return whether that succeeded."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def remove_unfinished() -> None:
    """Remove whatever is being written, because the process is about to end."""
    for path in list(_unfinished):
        _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def current_umask() -> int:
    """Return the permissions that the user withholds from new files."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
