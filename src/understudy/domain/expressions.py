"""The small language of structural rules: what it can say, and what that means.

    age_first_job <= age      total == wages + other      region in ('N', 'S') and not pay > 0

How it is read from text, `parsing.py` says. A comparison with a declared code of missing values is
about why a value is missing, and always has an answer; any other one is about values, and callers
see to it that they are there.

Sums of decimals have rounding errors in binary, so a comparison of sums and products forgives one,
in proportion to the declared bounds. Comparisons of whole numbers, of columns as they are and of
columns with constants forgive nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.domain.column import Column
from understudy.domain.kinds import of_kind

Coded = Mapping[str, NDArray[Any]]
"""Columns as `tables.encode` gives them."""


@dataclass(frozen=True)
class Constant:
    """A number."""

    value: float


@dataclass(frozen=True)
class ColumnRef:
    """The numbers of a column: of one with levels, their codes."""

    column: str


@dataclass(frozen=True)
class Arithmetic:
    """A sum, a difference or a product."""

    operator: str
    left: Number
    right: Number


@dataclass(frozen=True)
class Relation:
    """Two numbers compared, up to a public slack."""

    operator: str
    left: Number
    right: Number
    slack: float


@dataclass(frozen=True)
class Missing:
    """A value is missing for one of the declared reasons."""

    column: str
    kind: int
    beside: str | None
    """The companion that a coded table has for the column."""


@dataclass(frozen=True)
class Junction:
    """All parts hold ("and"), or at least one ("or")."""

    operator: str
    parts: tuple[Truth, ...]


@dataclass(frozen=True)
class Not:
    """The part does not hold."""

    part: Truth


Number = Constant | ColumnRef | Arithmetic
Truth = Relation | Missing | Junction | Not

_COMPUTED = {"+": np.add, "-": np.subtract, "*": np.multiply}
_COMBINED = {"and": np.logical_and, "or": np.logical_or}
_HOLDS: dict[str, Callable[[NDArray[np.float64], float], NDArray[np.bool_]]] = {
    "==": lambda gap, slack: np.abs(gap) <= slack,
    "!=": lambda gap, slack: np.abs(gap) > slack,
    "<=": lambda gap, slack: gap <= slack,
    ">": lambda gap, slack: gap > slack,
    ">=": lambda gap, slack: gap >= -slack,
    "<": lambda gap, slack: gap < -slack,
}
"""How a difference compares with zero; each is the negation of its opposite."""
MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""The comparison that says the same with its sides exchanged."""


def is_whole(node: Number, columns: Mapping[str, Column]) -> bool:
    """Whether a number is whole whatever the record, so that it is computed without rounding."""
    match node:
        case Constant(value):
            return value == math.floor(value)
        case ColumnRef(name):
            return columns[name].whole
        case Arithmetic(_, left, right):
            return is_whole(left, columns) and is_whole(right, columns)


def extent(node: Number, columns: Mapping[str, Column]) -> tuple[float, float]:
    """Return bounds of a number that follow from the declared bounds."""
    match node:
        case Constant(value):
            return value, value
        case ColumnRef(name):
            levels = columns[name].levels
            return columns[name].bounds or (0.0, len(levels or ()) - 1.0)
        case Arithmetic(operator, left, right):
            (a, b), (c, d) = extent(left, columns), extent(right, columns)
            if operator == "+":
                return a + c, b + d
            if operator == "-":
                return a - d, b - c
            products = (a * c, a * d, b * c, b * d)
            return min(products), max(products)


def named(node: Number | Truth) -> Iterator[str]:
    """Yield the columns that an expression names."""
    for part in _leaves(node):
        yield part.column


def compared(node: Number | Truth) -> Iterator[str]:
    """Yield the columns whose values an expression compares, so that they have to be there."""
    for part in _leaves(node):
        if isinstance(part, ColumnRef):
            yield part.column


def explained(node: Number | Truth) -> Iterator[str]:
    """Yield the columns of which an expression says why values are missing."""
    for part in _leaves(node):
        if isinstance(part, Missing):
            yield part.column


def _leaves(node: Number | Truth) -> Iterator[ColumnRef | Missing]:
    match node:
        case ColumnRef() | Missing():
            yield node
        case Arithmetic(_, left, right) | Relation(_, left, right, _):
            yield from _leaves(left)
            yield from _leaves(right)
        case Junction(_, parts):
            for part in parts:
                yield from _leaves(part)
        case Not(part):
            yield from _leaves(part)


def value(node: Number, columns: Coded) -> NDArray[np.float64]:
    """Return a number for each record."""
    match node:
        case Constant(number):
            return np.full(len(next(iter(columns.values()))), number)
        case ColumnRef(name):
            return np.asarray(columns[name], dtype=np.float64)
        case Arithmetic(operator, left, right):
            return np.asarray(_COMPUTED[operator](value(left, columns), value(right, columns)))


def truth(node: Truth, columns: Coded) -> NDArray[np.bool_]:
    """Return whether an expression holds, for each record; missing values are the caller's."""
    match node:
        case Relation(operator, left, right, slack):
            gap = value(left, columns) - value(right, columns)
            return np.asarray(_HOLDS[operator](gap, slack))
        case Missing(name, kind, _):
            return of_kind(columns, name, kind)
        case Junction(operator, parts):
            return reduce(_COMBINED[operator], (truth(part, columns) for part in parts))
        case Not(part):
            return ~truth(part, columns)
