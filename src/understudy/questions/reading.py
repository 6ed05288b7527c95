"""A question's text, read against the declared columns.

    mean(salary)      median(salary) by gender      quantile(salary, 0.9)
    share(salary > 50000 and region in ('N', 'S'))  correlation(salary, age)
    salary ~ gender + age

A question may come from anybody, so nothing of it is run as Python: conditions are in the language
of the schema's rules, formulas pass the checks of all formulas, and everything else is a name or a
number. A name that is not a word is written in backticks.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from understudy.domain.column import Column, Role, Type
from understudy.domain.dates import iso
from understudy.domain.expressions import explained, named
from understudy.domain.parsing import LONGEST, parse
from understudy.domain.schema import Schema
from understudy.errors import BadInput, nearest
from understudy.questions.function import FunctionQuestion
from understudy.questions.groups import Grouped, Whole
from understudy.questions.question import Question
from understudy.questions.regression import read_regression
from understudy.questions.statistics import Correlation, Mean, Quantile, Share, Statistic

if TYPE_CHECKING:
    import pandas as pd

_CALL = re.compile(r"(\w+)\s*\(")
_GROUP = re.compile(r"by\b\s*(.*)", re.DOTALL)
_PIECE = re.compile(r"`[^`]*`|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|.", re.DOTALL)
"""A character, or a quotation, in which brackets, commas and words mean nothing."""
_NAME = re.compile(r"`([^`]+)`|([^\W\d]\w*)")


def asked(question: str | Callable[[pd.DataFrame], Any], schema: Schema) -> Question:
    """Return what a text, or a function of a table, asks about the columns of a schema."""
    if callable(question):
        name = getattr(question, "__name__", type(question).__name__)
        tables = schema.having(Role.CONFIDENTIAL, Role.PUBLIC)
        columns = tuple(column.name for column in tables if not column.release)
        return FunctionQuestion(name, columns, question, schema)
    put, weight = _put(question, schema), schema.released_weight
    if weight is not None and weight.name in put.columns:
        raise BadInput(
            f"the question '{put.text}' names '{weight.name}', the survey weight: answers are "
            f"about the population, whose members have none."
        )
    return put


def _put(question: object, schema: Schema) -> Question:
    text = _text(question).strip()
    call = _split(text)
    if call is not None and call[0] in _STATISTICS and (not call[2] or _GROUP.match(call[2])):
        return _Reader(text, schema).statistic(*call)
    if "~" not in text:
        hint = "" if call is None else nearest(call[0], _STATISTICS)
        raise BadInput(
            f"the question '{text[:LONGEST]}' is not understood{hint}: ask for mean(y), median(y), "
            f"quantile(y, 0.9), share(y > 0) or correlation(x, y), each of them also 'by g', or "
            f"state a regression, such as 'y ~ x'."
        )
    if re.search(r"\sby\s", "".join(p for p in _PIECE.findall(text) if p[0] != "`")):
        raise BadInput(
            f"the question '{text[:LONGEST]}' is a regression, to which 'by' does not apply: put "
            f"the column into the formula, such as 'y ~ x * g'."
        )
    return read_regression(text, schema)


def _text(question: object) -> str:
    if not isinstance(question, str):
        kind = type(question).__name__
        raise BadInput(f"`question` must be text or a function of a table, not a {kind}.")
    return question


def _split(text: str) -> tuple[str, str, str] | None:
    """Return a call's name, what is in its brackets, and what follows them."""
    opening = _CALL.match(text)
    if opening is None:
        return None
    depth = 0
    for piece in _PIECE.finditer(text, opening.end() - 1):
        depth += {"(": 1, ")": -1}.get(piece[0], 0)
        if not depth:
            return opening[1], text[opening.end() : piece.start()], text[piece.end() :].strip()
    return None


class _Reader:
    """Reads one text against a schema; whatever it refuses, it repeats the text first."""

    def __init__(self, text: str, schema: Schema) -> None:
        self.text, self.schema = text, schema
        if len(text) > LONGEST:
            raise BadInput(
                f"the question '{text[:50]}...' has {len(text):,} characters, more than {LONGEST}: "
                f"shorten it."
            )

    def refuse(self, reason: str) -> NoReturn:
        raise BadInput(f"the question '{self.text}' {reason}.")

    def statistic(self, function: str, inside: str, rest: str) -> Question:
        statistic = _STATISTICS[function](self, inside)
        group = _GROUP.match(rest)
        if group is None:
            return Whole(self.text, statistic.columns, statistic)
        column = self.column(group[1])
        if column.levels is None:
            self.refuse(f"groups by '{column.name}', which holds numbers: name a column of levels")
        columns = tuple(dict.fromkeys((*statistic.columns, column.name)))
        return Grouped(self.text, columns, statistic, column)

    def column(self, name: str) -> Column:
        """Return a column that synthetic tables have, by its name as it is written."""
        match = _NAME.fullmatch(name.strip())
        if match is None:
            self.refuse(
                f"has '{name.strip()}' where the name of a column belongs; one that is not a word "
                f"is written in backticks"
            )
        name = match[1] or match[2]
        columns = {each.name: each for each in self.schema.columns}
        if name not in columns:
            self.refuse(f"names '{name}', which is no column{nearest(name, columns)}")
        column = columns[name]
        if column.treated_as not in (Role.CONFIDENTIAL, Role.PUBLIC):
            self.refuse(
                f"names '{name}', which has the role '{column.role}' and is in no synthetic table"
            )
        return column

    def numbers(self, name: str) -> str:
        """Return the name of a column of numbers."""
        column = self.column(name)
        if column.levels is not None:
            written = name.strip()
            self.refuse(
                f"takes a column of numbers, and '{column.name}' has levels: ask for "
                f"share({written} == '{column.levels[-1]}'), for example"
            )
        if column.type is Type.DATE:
            self.refuse(
                f"takes a column of numbers, and '{column.name}' holds dates: ask for "
                f"share({name.strip()} >= '{iso(column.upper)}'), for example"
            )
        return column.name

    def arguments(self, inside: str, *wanted: str) -> list[str]:
        """Return what stands between commas, as many as are wanted."""
        parts = [""]
        for piece in _PIECE.findall(inside):
            if piece == ",":
                parts.append("")
            else:
                parts[-1] += piece
        if len(parts) != len(wanted) or not all(map(str.strip, parts)):
            self.refuse(f"must have {' and '.join(wanted)} in its brackets")
        return parts

    def mean(self, inside: str) -> Statistic:
        return Mean(self.numbers(*self.arguments(inside, "the name of a column")))

    def median(self, inside: str) -> Statistic:
        return Quantile(self.numbers(*self.arguments(inside, "the name of a column")), 0.5)

    def quantile(self, inside: str) -> Statistic:
        name, written = self.arguments(inside, "the name of a column", "a share such as 0.9")
        try:
            p = float(written)
        except ValueError:
            p = 0.0
        if not 0 < p < 1:
            self.refuse("needs a share between 0 and 1, such as 0.9 for the 90th percentile")
        return Quantile(self.numbers(name), p)

    def share(self, inside: str) -> Statistic:
        try:
            condition = parse(inside, {column.name: column for column in self.schema.columns})
        except BadInput as fault:
            raise BadInput(f"the condition of the question '{self.text}': {fault}.") from None
        if not set(named(condition)):
            self.refuse("has a condition that names no column")
        if set(explained(condition)):
            self.refuse(
                "asks why values are missing, and questions are about values that are there: "
                "leave out the code"
            )
        return Share(condition)

    def correlation(self, inside: str) -> Statistic:
        first, second = self.arguments(inside, "the name of a column", "the name of another")
        return Correlation(self.numbers(first), self.numbers(second))


_STATISTICS: dict[str, Callable[[_Reader, str], Statistic]] = {
    "mean": _Reader.mean,
    "median": _Reader.median,
    "quantile": _Reader.quantile,
    "share": _Reader.share,
    "correlation": _Reader.correlation,
}
