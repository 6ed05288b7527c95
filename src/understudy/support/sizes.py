"""Amounts of memory, as people write them."""

from __future__ import annotations

import re

from understudy.errors import BadInput

_WRITTEN = re.compile(r"(\d+(?:\.\d+)?)\s*([kMGT]?i?B)?", re.IGNORECASE)
_LEAST = 64 * 2**20


def bytes_of(size: object) -> int:
    """Return how many bytes `2GiB`, `500MB` or a number of bytes are.

    Args:
        size: What somebody wrote.
    """
    written = _WRITTEN.fullmatch(str(size).strip())
    if isinstance(size, bool) or written is None:
        raise BadInput(f"`memory` must be an amount such as 1GiB or 500MB, not {size!r}.")
    unit = (written[2] or "B").lower()
    base, power = 1024 if "i" in unit else 1000, "bkmgt".index(unit[0])
    count = int(float(written[1]) * base**power)
    if count < _LEAST:
        raise BadInput(f"`memory` must be at least 64MiB, not {size!r}.")
    return count
