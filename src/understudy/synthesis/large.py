"""Synthetic tables of more rows than are held in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, TypeAlias, Union

from understudy.errors import BadInput
from understudy.support.parallel import one_ahead

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 100_000
"""Rows of a large table that stand for all of them where it is drawn or compared."""


@dataclass(frozen=True, eq=False, repr=False)
class LargeTable:
    """Rows that are simulated batch by batch, the same whenever the table is passed."""

    rows: int
    """How many there are."""
    frames: Callable[[], Iterator[pd.DataFrame]]
    """Simulates them, from the first on."""

    def __len__(self) -> int:
        return self.rows

    def __repr__(self) -> str:
        return f"<LargeTable: {self.rows:,} synthetic rows, simulated as they are written>"

    def __iter__(self) -> Iterator[pd.DataFrame]:
        """Yield all rows, in batches."""
        return self.frames()

    def head(self, rows: int = 5) -> pd.DataFrame:
        """Return the first rows, up to a batch; only public rows that were given have an order.

        Args:
            rows: How many.
        """
        return next(self.frames()).head(rows)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a table of so many rows cannot be pickled: write the release instead")


Synthetic: TypeAlias = Union["pd.DataFrame", LargeTable]


def whole(table: Synthetic) -> pd.DataFrame:
    """Return a table that is held, and refuse one that is not.

    Args:
        table: A synthetic table.
    """
    if isinstance(table, LargeTable):
        raise BadInput(
            f"a synthetic table of {table.rows:,} rows is too large to be held: write the release "
            f"and go on from its directory, or give more `memory`."
        )
    return table


def shown(table: Synthetic) -> pd.DataFrame:
    """Return a table, or of a large one as many rows as tell what it is like.

    Args:
        table: A synthetic table.
    """
    return table.head(SHOWN) if isinstance(table, LargeTable) else table


def in_batches(table: Synthetic) -> Iterable[pd.DataFrame]:
    """Return all rows of a table, a large one in batches.

    The next one is simulated while the caller writes what it was given.

    Args:
        table: A synthetic table.
    """
    return one_ahead(iter(table)) if isinstance(table, LargeTable) else [table]
