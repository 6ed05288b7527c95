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
    levels: Mapping[str, int]
    """How many each column has that is not a number."""

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
        factors = tuple(tuple(known[part] for part in parts) for parts in split)
        terms = cls(factors, {c.name: len(c.levels) for c in declared if c.levels is not None})
        return terms if np.array_equal(terms.matrix(coded, len(same)), same) else None

    def matrix(self, coded: Mapping[str, Any], rows: int) -> Floats:
        """Return the design of coded columns, shape (rows, terms)."""
        matrix = np.ones((rows, len(self.factors)), order="F")
        for k, factors in enumerate(self.factors):
            _multiply(matrix[:, k], coded, factors)
        return matrix

    def linear(self, coded: Mapping[str, Any], rows: int, coefficients: Floats) -> Floats:
        """Return the design times coefficients, without making it: levels are looked up.

        Args:
            coded: Columns.
            rows: How many rows they have.
            coefficients: Of the terms, shape (terms, ...).
        """
        shape = coefficients.shape[1:]
        constant = np.zeros(shape)
        # What is no level is in the last place, which −1 finds too.
        effects = {name: np.zeros((levels + 1, *shape)) for name, levels in self.levels.items()}
        total = np.zeros((rows, *shape))
        for factors, coefficient in zip(self.factors, coefficients, strict=True):
            if not factors:
                constant += coefficient
            elif len(factors) == 1 and factors[0][1] is not None:
                effects[factors[0][0]][factors[0][1]] += coefficient
            else:
                product = np.ones(rows)
                _multiply(product, coded, factors)
                total += np.multiply.outer(product, coefficient)
        for name, each in effects.items():
            if each.any():
                total += each[np.maximum(coded[name], -1)]
        return total + constant


def _multiply(
    values: Floats, coded: Mapping[str, Any], factors: Sequence[tuple[str, int | None]]
) -> None:
    for name, code in factors:
        values *= coded[name] if code is None else coded[name] == code
