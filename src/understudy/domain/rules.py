"""Structural rules: what is true of every record, and so of every synthetic row.

    [[rules]]
    if = "employed == 'no'"
    then = "salary == 0"

Without `if`, `then` is always true. A rule is a public declaration. The confidential table has to
obey it, and synthetic rows are made to, which is post-processing and costs no privacy: an equality
with a confidential column alone on one side sets that column, anything else is a reason to draw the
row again (`satisfying.py`).

A rule says nothing about a row in which a column whose value it compares is missing. A comparison
with a declared code of missing values is about why a value is missing, and is about every row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from understudy.domain.column import Column, Role
from understudy.domain.expressions import (
    MIRRORED,
    Coded,
    ColumnRef,
    Junction,
    Missing,
    Number,
    Relation,
    Truth,
    compared,
    explained,
    extent,
    named,
    truth,
    value,
)
from understudy.domain.kinds import kinds_of
from understudy.domain.parsing import parse
from understudy.errors import BadInput, nearest

_KEYS = ("if", "then")


@dataclass(frozen=True)
class Assignment:
    """A confidential column that a rule fixes, and what it is fixed to: a value, or missing."""

    column: str
    to: Number | Missing
    needs: frozenset[str]
    """The columns that decide whether it is fixed, and to what."""


@dataclass(frozen=True)
class Rule:
    """What holds (`then`), and in which records (`if`; None for all of them)."""

    then: str
    condition: str | None
    columns: frozenset[str]
    """Every column that the rule names."""
    compared: frozenset[str]
    """Those whose values it compares: where one is missing, it says nothing."""
    explained: frozenset[str]
    """Those of which it says why values are missing."""
    assignments: tuple[Assignment, ...]
    limits: tuple[Relation, ...]
    """Inequalities with a confidential column alone on their left."""
    _if: Truth | None = field(repr=False)
    _then: Truth = field(repr=False)

    @classmethod
    def parse(cls, entries: object, columns: Mapping[str, Column]) -> Rule:
        """Read a rule from its table in the TOML layout, against the declared columns."""
        if not isinstance(entries, Mapping):
            raise BadInput("a rule must be a table with the keys if and then.")
        for key in entries:
            if key not in _KEYS:
                raise BadInput(f"a rule has an unknown key {key!r}{nearest(str(key), _KEYS)}.")
        if "then" not in entries:
            raise BadInput("a rule needs the key then, which says what holds.")
        condition = None
        if "if" in entries:
            with _naming("if", entries["if"]):
                condition = parse(entries["if"], columns)
        asked = frozenset[str]() if condition is None else frozenset(named(condition))
        with _naming("then", entries["then"]):
            consequence = parse(entries["then"], columns)
            said = frozenset(named(consequence))
            if not said:
                raise BadInput("it names no column")
            assignments: list[Assignment] = []
            limits: list[Relation] = []
            for part in _parts(consequence):
                if isinstance(part, Relation):
                    _check_possible(part, columns)
                    limits += _oriented(part, columns)
                for column, to in _assigned(part, columns):
                    assignments.append(Assignment(column, to, asked | frozenset(compared(to))))
        parts = [consequence] if condition is None else [condition, consequence]
        return cls(
            then=entries["then"],
            condition=entries.get("if"),
            columns=asked | said,
            compared=frozenset(name for part in parts for name in compared(part)),
            explained=frozenset(name for part in parts for name in explained(part)),
            assignments=tuple(assignments),
            limits=tuple(limits),
            _if=condition,
            _then=consequence,
        )

    def to_dict(self) -> dict[str, str]:
        """Return the rule's table in the TOML layout."""
        return ({} if self.condition is None else {"if": self.condition}) | {"then": self.then}

    def __str__(self) -> str:
        return self.then if self.condition is None else f"{self.then} if {self.condition}"

    def asks(self, columns: Coded) -> NDArray[np.bool_]:
        """Return in which records the rule applies as far as its condition says."""
        rows = len(columns[next(iter(self.columns))])
        if self._if is None:
            return np.ones(rows, dtype=bool)
        return present(columns, compared(self._if)) & truth(self._if, columns)

    def holds(self, columns: Coded) -> NDArray[np.bool_]:
        """Return whether each record obeys the rule."""
        applies = self.asks(columns) & present(columns, self.compared)
        return ~applies | truth(self._then, columns)


def holds(rules: Sequence[Rule], columns: Coded) -> NDArray[np.bool_]:
    """Return whether each record obeys every rule; there must be a rule."""
    return np.logical_and.reduce([rule.holds(columns) for rule in rules])


def check_table(rules: Sequence[Rule], columns: Coded, *, name: str, first: int = 1) -> None:
    """Refuse a table that breaks a rule, by the place of the first offence.

    Of a table that is read piece by piece, `first` is the number of the first row of this one.
    """
    for number, rule in enumerate(rules, start=1):
        broken = np.flatnonzero(~rule.holds(columns))
        if broken.size:
            others = " (and others)" if broken.size > 1 else ""
            raise BadInput(
                f"row {broken[0] + first}{others} of {name} breaks rule {number} of the schema, "
                f"{str(rule)!r}: correct the table or the rule."
            )


def determined(
    rules: Sequence[Rule], columns: Coded, *, missing: bool = False
) -> dict[str, NDArray[np.bool_]]:
    """Return, for each column that some rule can fix, the records in which one does.

    A fixed value tells nothing about θ, so a model of that column leaves its term out. Whether it
    is fixed never depends on the column itself. If asked to, return where a rule says that the
    column is missing, instead of where it fixes its value.
    """
    where: dict[str, NDArray[np.bool_]] = {}
    for rule in rules:
        for each in rule.assignments:
            if each.column in each.needs or isinstance(each.to, Missing) is not missing:
                continue
            fixed = rule.asks(columns) & present(columns, compared(each.to))
            where[each.column] = where.get(each.column, np.zeros_like(fixed)) | fixed
    return where


def enforce(rules: Sequence[Rule], columns: Coded) -> dict[str, NDArray[Any]]:
    """Return the records with every column set that a rule fixes.

    Missing values stay missing. One rule may fix what another one needs, so the rules take turns
    until nothing changes.
    """
    fixed = dict(columns)
    every = [(rule, each) for rule in rules for each in rule.assignments]
    for _, each in every:
        if isinstance(each.to, Missing) and each.to.beside is not None:
            fixed[each.to.beside] = kinds_of(fixed, each.column)
    for _ in range(len(rules) + 1):
        before = dict(fixed)
        for rule, each in every:
            _set(each, rule.asks(fixed), fixed)
        if all(np.array_equal(before[n], fixed[n], equal_nan=_floats(fixed[n])) for n in fixed):
            break
    return fixed


def _set(each: Assignment, asked: NDArray[np.bool_], fixed: dict[str, NDArray[Any]]) -> None:
    """Set a column where a rule applies; its value only where there is one."""
    old = fixed[each.column]
    if not isinstance(each.to, Missing):
        where = asked & present(fixed, {each.column, *compared(each.to)})
        fixed[each.column] = np.where(where, value(each.to, fixed), old).astype(old.dtype)
        return
    code = np.nan if _floats(old) else -1 - each.to.kind
    fixed[each.column] = np.where(asked, code, old).astype(old.dtype)
    if each.to.beside is not None:
        fixed[each.to.beside] = np.where(asked, each.to.kind, fixed[each.to.beside])


def moved(
    rules: Sequence[Rule], columns: Coded, declared: Mapping[str, Column]
) -> dict[str, NDArray[Any]]:
    """Return the records with columns moved onto the limits that they overstep."""
    fixed = dict(columns)
    for _ in range(len(rules) + 1):
        for rule in rules:
            for limit in rule.limits:
                assert isinstance(limit.left, ColumnRef)
                name = limit.left.column
                off = rule.asks(fixed) & present(fixed, rule.compared) & ~truth(limit, fixed)
                edge = _edge(limit, value(limit.right, fixed), whole=declared[name].whole)
                fixed[name] = np.where(off, edge, fixed[name])
        fixed = enforce(rules, fixed)
        if holds(rules, fixed).all():
            break
    return fixed


def present(columns: Coded, names: Iterable[str]) -> NDArray[np.bool_]:
    """Return the records in which none of the columns is missing."""
    complete = np.ones(len(next(iter(columns.values()))), dtype=bool)
    for name in names:
        values = np.asarray(columns[name])
        complete &= ~np.isnan(values) if _floats(values) else values >= 0
    return complete


def _floats(values: NDArray[Any]) -> bool:
    return values.dtype.kind == "f"


def _edge(limit: Relation, edge: NDArray[np.float64], *, whole: bool) -> NDArray[np.float64]:
    """Return the value nearest to the limit that keeps it."""
    below = limit.operator in ("<", "<=")
    if whole:
        inside = np.floor(edge) if below else np.ceil(edge)
        step = np.where(inside == edge, 1.0, 0.0) if limit.operator in ("<", ">") else 0.0
        return np.asarray(inside - step if below else inside + step)
    if limit.operator in ("<=", ">="):
        return edge
    away = -np.inf if below else np.inf
    return np.nextafter(edge + np.copysign(2 * limit.slack, away), away)


@contextmanager
def _naming(key: str, text: object) -> Iterator[None]:
    """Begin the sentence of a refusal with what the rule says."""
    try:
        yield
    except BadInput as fault:
        raise BadInput(f"the rule {key} = {text!r}: {fault}.") from None


def _parts(node: Truth) -> tuple[Truth, ...]:
    """Return what has to hold one by one."""
    if isinstance(node, Junction) and node.operator == "and":
        return tuple(part for each in node.parts for part in _parts(each))
    return (node,)


def _assigned(part: Truth, columns: Mapping[str, Column]) -> list[tuple[str, Number | Missing]]:
    """Return the confidential column that an equality fixes, and to what, if there is one."""
    if isinstance(part, Missing):
        return [(part.column, part)]
    if isinstance(part, Relation) and part.operator == "==":
        for one, other in ((part.left, part.right), (part.right, part.left)):
            if _free(one, other, columns):
                return [(one.column, other)]
        if any(columns[name].treated_as is Role.CONFIDENTIAL for name in named(part)):
            raise BadInput("put one confidential column alone on one side of ==")
    return []


def _oriented(part: Relation, columns: Mapping[str, Column]) -> list[Relation]:
    """Return the inequality with a confidential column alone on its left, if it has one."""
    if part.operator in ("==", "!="):
        return []
    turned = Relation(MIRRORED[part.operator], part.right, part.left, part.slack)
    return [each for each in (part, turned) if _free(each.left, each.right, columns)][:1]


def _free(one: Number, other: Number, columns: Mapping[str, Column]) -> TypeGuard[ColumnRef]:
    """Whether one side is a confidential column that the other side does not name."""
    return (
        isinstance(one, ColumnRef)
        and columns[one.column].treated_as is Role.CONFIDENTIAL
        and one.column not in named(other)
    )


def _check_possible(part: Relation, columns: Mapping[str, Column]) -> None:
    (a, b), (c, d) = extent(part.left, columns), extent(part.right, columns)
    possible = {
        "==": a <= d and c <= b,
        "!=": not a == b == c == d,
        "<": a < d,
        "<=": a <= d,
        ">": b > c,
        ">=": b >= c,
    }
    if not possible[part.operator]:
        raise BadInput("no values within the declared bounds obey it")
