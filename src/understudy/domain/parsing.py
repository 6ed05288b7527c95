"""Reading what a rule says, against the declared columns.

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

from understudy.domain.column import Column, Role, Type
from understudy.domain.dates import day_in
from understudy.domain.expressions import (
    Arithmetic,
    ColumnRef,
    Constant,
    Junction,
    Missing,
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
            column = self._alone(one)
            said = None if column is None else self._about_one(column, sign, other)
            if said is not None:
                return said
        return self._numbers(sign, self._side(left, right), self._side(right, left))

    def _about_one(self, column: Column, sign: str, other: ast.expr) -> Truth | None:
        """Return what is said of a code of missing values or of a level; None where it is neither.

        Neither has an order.
        """
        code = _written(other)
        if code in column.code_texts:
            if sign not in ("==", "!="):
                raise BadInput(f"the codes of {column.name!r} have no order; use == or !=")
            missing = Missing(column.name, column.code_texts.index(code), column.beside)
            return missing if sign == "==" else Not(missing)
        if column.levels is None:
            return None
        if sign not in ("==", "!="):
            raise BadInput(f"the levels of {column.name!r} have no order; use == or !=")
        return Relation(sign, ColumnRef(column.name), _position(column, code), 0.0)

    def _side(self, node: ast.expr, across: ast.expr) -> Number:
        """Return one side of a comparison; across from a column of dates, text is a date."""
        column = self._alone(across)
        text = node.value if isinstance(node, ast.Constant) else None
        if column is not None and column.type is Type.DATE:
            day = day_in(text) if isinstance(text, str) else None
            number = self.number(node) if day is None and text is None else None
            if day is None and (number is None or isinstance(number, Constant)):
                raise BadInput(
                    f"the column {column.name!r} holds dates, so it can only be compared with one, "
                    "written in quotes such as '2019-01-31'"
                )
            return number or Constant(float(day or 0))
        if column is not None and column.codes and isinstance(text, str):
            near = nearest(text, column.code_texts)
            raise BadInput(f"{column.name!r} holds numbers, and has no code {text!r}{near}")
        return self.number(node)

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
        parts = tuple(dict.fromkeys(self._compared(left, ast.Eq(), each) for each in right.elts))
        # One level or code alone can be set, as an equality can.
        column = self._alone(left)
        settable = column is not None and (column.levels is not None or bool(column.codes))
        return parts[0] if len(parts) == 1 and settable else Junction("or", parts)

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
        if column.treated_as not in (Role.CONFIDENTIAL, Role.PUBLIC):
            raise BadInput(
                f"the column {name!r} has the role '{column.role}' and is in no synthetic table"
            )
        return column

    def _alone(self, node: ast.expr) -> Column | None:
        """Return the column that an expression consists of, if it is one."""
        return self._column(node) if isinstance(node, ast.Name) else None


def _written(node: ast.expr) -> str | None:
    """Return a constant as a table writes it; a whole number stands for its text."""
    match node:
        case ast.Constant(value=bool() as value):
            return str(value).lower()
        case ast.Constant(value=str() | int() as value):
            return str(value)
    return None


def _position(column: Column, level: str | None) -> Constant:
    """Return the position of a level."""
    levels = column.levels or ()
    if level is None:
        raise BadInput(f"the column {column.name!r} must be compared with one of its levels")
    if level not in levels:
        raise BadInput(f"{column.name!r} has no level {level!r}{nearest(level, levels)}")
    return Constant(float(levels.index(level)))


def _not_understood() -> BadInput:
    return BadInput(
        "only names of columns, numbers, levels, codes and dates in quotes, ==, !=, <, <=, >, >=, "
        "in, +, -, *, and, or and not are understood"
    )
