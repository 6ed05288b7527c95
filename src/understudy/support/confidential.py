"""What must stay inside says so, and nothing else, when it is printed."""

from __future__ import annotations

from typing import NoReturn


class Confidential:
    """An object computed from confidential records: its text holds none of them, nor its pickle.

    Notebooks show the last value of a cell, debuggers the local variables of a frame, and a pickle
    travels further than whoever made it thinks.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: confidential, stays inside>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(f"{type(self).__name__} is confidential and cannot be pickled or copied")
