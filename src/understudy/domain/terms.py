"""Terms that are columns as they are, or products of such, computed without formulaic.

formulaic reads a term anew for every table, which takes longer than the fit of a small regression.
Most terms need nothing of it: a number, the indicator of a level, and their products. They are
known by the names that formulaic gives to its columns, `weeks`, `age[T.30-34]` and
`weeks:sex[T.M]`, and are taken only if they make the same matrix, to the last bit, over a public
frame.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.domain.column import Column

Floats = NDArray[np.float64]
_CONSTANT = "Intercept"


@dataclass(frozen=True)
class PlainTerms:
    """The columns of a design, each a product of factors: a column, or one of its levels."""

    factors: tuple[tuple[tuple[str, int | None], ...], ...]

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        declared: Sequence[Column],
        coded: Mapping[str, Any],
        same: Floats,
    ) -> PlainTerms | None:
        """Read the names of a design's columns; None where there is more in them.

        Args:
            names: Of the columns, as formulaic made them.
            declared: The columns that they may be made of.
            coded: Public rows.
            same: The design that formulaic made of these rows.
        """
        known: dict[str, tuple[str, int | None]] = {}
        for column in declared:
            if column.levels is None:
                known[column.name] = (column.name, None)
            for code, level in enumerate(column.levels or ()):
                known[f"{column.name}[T.{level}]"] = known[f"{column.name}[{level}]"] = (
                    column.name,
                    code,
                )
        split = [() if name == _CONSTANT else tuple(name.split(":")) for name in names]
        if not all(part in known for parts in split for part in parts):
            return None
        terms = cls(tuple(tuple(known[part] for part in parts) for parts in split))
        return terms if np.array_equal(terms.matrix(coded, len(same)), same) else None

    def matrix(self, coded: Mapping[str, Any], rows: int) -> Floats:
        """Return the design of coded columns, shape (rows, terms)."""
        matrix = np.ones((rows, len(self.factors)), order="F")
        for k, factors in enumerate(self.factors):
            for name, code in factors:
                values = coded[name]
                matrix[:, k] *= values if code is None else values == code
        return matrix
