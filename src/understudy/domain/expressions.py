"""The small language of structural rules: what it can say, what that means, and how it is read.

    age_first_job <= age      total == wages + other      region in ('N', 'S') and not pay > 0

Rules are declared in a schema, and a schema travels in published files, which anyone may have
written. So an expression is never run as Python: its syntax tree is translated, node by node, into
the few kinds below, checked against the declared columns on the way, and everything else is
refused. A column whose name is not a word is written in backticks, as in a formula.

Sums of decimals have rounding errors in binary, so a comparison of sums and products forgives one,
in proportion to the declared bounds. Comparisons of whole numbers, of columns as they are and of
columns with constants forgive nothing.
"""

from __future__ import annotations

import ast
import math
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.domain.column import Column, Role
from understudy.errors import BadInput, nearest

LONGEST = 500
"""Characters of an expression; a limit keeps a hostile one from exhausting the parser."""
_SLACK = 1e-12
"""Relative to the largest value that the declared bounds allow; a double's own error is 1e-16."""
_QUOTED = re.compile(r"`([^`]+)`")
_PLACEHOLDER = "_quoted_column_{}"
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
class Junction:
    """All parts hold ("and"), or at least one ("or")."""

    operator: str
    parts: tuple[Truth, ...]


@dataclass(frozen=True)
class Not:
    """The part does not hold."""

    part: Truth


Number = Constant | ColumnRef | Arithmetic
Truth = Relation | Junction | Not

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
    match node:
        case ColumnRef(name):
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
        case Junction(operator, parts):
            return reduce(_COMBINED[operator], (truth(part, columns) for part in parts))
        case Not(part):
            return ~truth(part, columns)


def parse(text: object, columns: Mapping[str, Column]) -> Truth:
    """Return what a rule's text says about the declared columns, or refuse it with a reason."""
    if not isinstance(text, str):
        raise BadInput("it must be text in quotes")
    if len(text) > LONGEST:
        raise BadInput(f"it is longer than {LONGEST} characters; split it into several rules")
    quoted = _QUOTED.findall(text)
    names = {_PLACEHOLDER.format(k): name for k, name in enumerate(quoted)}
    turns = iter(names)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python has opinions about style, too.
            tree = ast.parse(_QUOTED.sub(lambda _: next(turns), text.strip()), mode="eval")
        return _Reader(columns, names).truth(tree.body)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput("it is not an expression that can be read") from None


_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_ARITHMETIC: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}


@dataclass(frozen=True)
class _Reader:
    """Translates Python's syntax tree into an expression."""

    columns: Mapping[str, Column]
    quoted: Mapping[str, str]

    def truth(self, node: ast.expr) -> Truth:
        match node:
            case ast.BoolOp(op=operator, values=values):
                word = "and" if isinstance(operator, ast.And) else "or"
                return Junction(word, tuple(map(self.truth, values)))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return Not(self.truth(operand))
            case ast.Compare(left=left, ops=operators, comparators=others):
                sides = [left, *others]
                pairs = zip(sides[:-1], operators, sides[1:], strict=True)
                parts = tuple(self._compared(*pair) for pair in pairs)
                return parts[0] if len(parts) == 1 else Junction("and", parts)
        raise _not_understood()

    def _compared(self, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> Truth:
        if isinstance(operator, ast.In | ast.NotIn):
            member = self._member(left, right)
            return Not(member) if isinstance(operator, ast.NotIn) else member
        sign = _COMPARISONS.get(type(operator))
        if sign is None:
            raise BadInput("it compares with 'is'; write == instead")
        for one, other in ((left, right), (right, left)):
            column = self._levelled(one)
            if column is None:
                continue
            if sign not in ("==", "!="):
                raise BadInput(f"the levels of {column.name!r} have no order; use == or !=")
            return Relation(sign, ColumnRef(column.name), self._code(column, other), 0.0)
        return self._numbers(sign, self.number(left), self.number(right))

    def _numbers(self, sign: str, left: Number, right: Number) -> Relation:
        exact = all(
            not isinstance(side, Arithmetic) or is_whole(side, self.columns)
            for side in (left, right)
        )
        size = max(map(abs, (*extent(left, self.columns), *extent(right, self.columns))))
        if not math.isfinite(size):
            raise BadInput("its numbers are too large")
        return Relation(sign, left, right, 0.0 if exact else _SLACK * size)

    def _member(self, left: ast.expr, right: ast.expr) -> Truth:
        if not isinstance(right, ast.Tuple | ast.List | ast.Set) or not right.elts:
            raise BadInput("after 'in' there must be a list, such as ('a', 'b')")
        column = self._levelled(left)
        if column is not None:
            codes = {self._code(column, each) for each in right.elts}
            parts = tuple(Relation("==", ColumnRef(column.name), code, 0.0) for code in codes)
            # One level alone can be set, as an equality can.
            return parts[0] if len(parts) == 1 else Junction("or", parts)
        value, others = self.number(left), map(self.number, right.elts)
        return Junction("or", tuple(self._numbers("==", value, each) for each in others))

    def number(self, node: ast.expr) -> Number:
        match node:
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                if not abs(value) <= sys.float_info.max:
                    raise BadInput("its numbers are too large")
                return Constant(float(value))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                inner = self.number(operand)
                if isinstance(inner, Constant):
                    return Constant(-inner.value)
                return Arithmetic("-", Constant(0.0), inner)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.number(operand)
            case ast.BinOp(op=operator, left=left, right=right) if type(operator) in _ARITHMETIC:
                return Arithmetic(
                    _ARITHMETIC[type(operator)], self.number(left), self.number(right)
                )
            case ast.Name():
                column = self._column(node)
                if not column.numeric:
                    raise BadInput(
                        f"the column {column.name!r} has levels, so it can only be compared with "
                        "one of them, written in quotes"
                    )
                return ColumnRef(column.name)
            case ast.Constant(value=str()):
                raise BadInput("it compares numbers with text")
        raise _not_understood()

    def _column(self, node: ast.Name) -> Column:
        name = self.quoted.get(node.id, node.id)
        column = self.columns.get(name)
        if column is None:
            raise BadInput(f"there is no column {name!r}{nearest(name, self.columns)}")
        if column.role not in (Role.CONFIDENTIAL, Role.PUBLIC):
            raise BadInput(
                f"the column {name!r} has the role '{column.role}' and is in no synthetic table"
            )
        return column

    def _levelled(self, node: ast.expr) -> Column | None:
        column = self._column(node) if isinstance(node, ast.Name) else None
        return None if column is None or column.levels is None else column

    def _code(self, column: Column, node: ast.expr) -> Constant:
        """Return the position of a level; a whole number stands for its text, as in a schema."""
        match node:
            case ast.Constant(value=str() | int() as value):
                level = str(value).lower() if isinstance(value, bool) else str(value)
                levels = column.levels or ()
                if level in levels:
                    return Constant(float(levels.index(level)))
                raise BadInput(f"{column.name!r} has no level {level!r}{nearest(level, levels)}")
        raise BadInput(f"the column {column.name!r} must be compared with one of its levels")


def _not_understood() -> BadInput:
    return BadInput(
        "only names of columns, numbers, levels in quotes, ==, !=, <, <=, >, >=, in, +, -, *, and, "
        "or and not are understood"
    )
