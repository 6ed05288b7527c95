"""Reading the small language of structural rules.

    age_first_job <= age      total == wages + other      region in ('N', 'S') and not pay > 0

Rules are declared in a schema, and a schema travels in published files, which anyone may have
written. So an expression is never run as Python: its syntax tree is translated, node by node, into
the few kinds of `expressions.py`, checked against the declared columns on the way, and everything
else is refused. A column whose name is not a word is written in backticks, as in a formula.
"""

from __future__ import annotations

import ast
import math
import re
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass

from understudy.domain.column import Column, Role
from understudy.domain.expressions import (
    Arithmetic,
    ColumnRef,
    Constant,
    Junction,
    Level,
    Not,
    Number,
    Relation,
    Truth,
    extent,
    is_whole,
)
from understudy.errors import BadInput, nearest

LONGEST = 500
"""Characters of an expression; a limit keeps a hostile one from exhausting the parser."""
_SLACK = 1e-12
"""Relative to the largest value that the declared bounds allow; a double's own error is 1e-16."""
_QUOTED = re.compile(r"`([^`]+)`")
_PLACEHOLDER = "_quoted_column_{}"


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
            level = Level(column.name, frozenset({self._code(column, other)}))
            return level if sign == "==" else Not(level)
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
            return Level(column.name, frozenset(self._code(column, each) for each in right.elts))
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

    def _code(self, column: Column, node: ast.expr) -> int:
        """Return the position of a level; a whole number stands for its text, as in a schema."""
        match node:
            case ast.Constant(value=str() | int() as value):
                level = str(value).lower() if isinstance(value, bool) else str(value)
                levels = column.levels or ()
                if level in levels:
                    return levels.index(level)
                raise BadInput(f"{column.name!r} has no level {level!r}{nearest(level, levels)}")
        raise BadInput(f"the column {column.name!r} must be compared with one of its levels")


def _not_understood() -> BadInput:
    return BadInput(
        "only names of columns, numbers, levels in quotes, ==, !=, <, <=, >, >=, in, +, -, *, and, "
        "or and not are understood"
    )
