"""Text in columns: as wide as a terminal shows it, which is not the number of its characters.

A Chinese character takes two cells of a terminal, and an accent that follows its letter none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

GAP = "  "


def aligned(rows: Sequence[Sequence[str]], *, left: int = 1) -> Iterator[str]:
    """Yield rows of cells as lines: the first cells of each begin alike, and the others end alike.

    >>> print("\\n".join(aligned([("", "mean"), ("pay", "12.5"), ("años", "3")])))
          mean
    pay   12.5
    años     3

    Args:
        rows: The cells of each line, as many in one as in the other.
        left: How many of them are words, which begin alike; the others are numbers.
    """
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = []
        for place, (cell, width) in enumerate(zip(row, widths, strict=True)):
            spaces = " " * (width - cell_len(cell))
            cells.append(cell + spaces if place < left else spaces + cell)
        yield GAP.join(cells).rstrip()
