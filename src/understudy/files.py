"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_whole(path: Path, *, private: bool = False) -> Iterator[Path]:
    """Yield a hidden path beside `path` that takes its place once it has been written."""
    handle, name = tempfile.mkstemp(prefix=f".{path.stem}-", suffix=path.suffix, dir=path.parent)
    os.close(handle)
    hidden = Path(name)
    try:
        yield hidden
        hidden.chmod(0o600 if private else 0o666 & ~current_umask())
        hidden.replace(path)
    finally:
        hidden.unlink(missing_ok=True)


def current_umask() -> int:
    """Return the permissions that the user withholds from new files."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
