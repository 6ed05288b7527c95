"""What a structural rule can say: columns, numbers, levels, comparisons, arithmetic.

An expression is a tree of the few kinds below, which `parsing.py` reads from a rule's text. Here is
what each means for records, and within which bounds it lies.

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

Coded = Mapping[str, NDArray[Any]]
"""Columns as `tables.encode` gives them."""


@dataclass(frozen=True)
class Constant:
    """A number."""

    value: float


@dataclass(frozen=True)
class ColumnRef:
    """The numbers of a column."""

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
class Level:
    """Whether a column holds one of some levels, by their codes."""

    column: str
    codes: frozenset[int]


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
Truth = Relation | Level | Junction | Not

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
            return columns[name].lower, columns[name].upper
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
    match node:
        case ColumnRef(name) | Level(name, _):
            yield name
        case Arithmetic(_, left, right) | Relation(_, left, right, _):
            yield from named(left)
            yield from named(right)
        case Junction(_, parts):
            for part in parts:
                yield from named(part)
        case Not(part):
            yield from named(part)


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
        case Level(name, codes):
            return np.isin(columns[name], sorted(codes))
        case Junction(operator, parts):
            return reduce(_COMBINED[operator], (truth(part, columns) for part in parts))
        case Not(part):
            return ~truth(part, columns)
