"""Work on several things at once, in threads of this process."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def cores() -> int:
    """Return how many cores the machine has."""
    return os.cpu_count() or 1


def in_threads(work: Callable[[_Item], _Result], items: Sequence[_Item], /) -> Iterator[_Result]:
    """Yield what the work returns for each item, in order, as many at once as there are cores.

    Args:
        work: Spends most of its time in libraries that leave the interpreter to others.
        items: What to work on.
    """
    with ThreadPoolExecutor(cores()) as pool:
        # Where one fails, `map` cancels those that have not begun.
        yield from pool.map(work, items)


def one_ahead(items: Iterator[_Item]) -> Iterator[_Item]:
    """Yield all items, while a thread already makes the one after.

    Args:
        items: Are made by libraries that leave the interpreter to others, none of which is None.
    """
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = pool.submit(next, items, None)
            yield item
