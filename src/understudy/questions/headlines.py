"""What everybody asks first: means, medians and group differences of a table's main columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from understudy.domain.column import Column, Type
from understudy.domain.expressions import ColumnRef, Constant, Relation
from understudy.domain.schema import Schema
from understudy.questions.groups import Grouped, Whole
from understudy.questions.question import Question
from understudy.questions.statistics import Mean, Quantile, Share
from understudy.questions.together import Together

_COLUMNS = 4
"""Confidential columns that are asked about, in the order of the schema."""
_LEVELS = range(2, 7)
"""Levels of a column by which groups are told apart."""


@dataclass(frozen=True)
class Headlines:
    """Questions about a table, and which of their answers are told."""

    question: Together
    names: tuple[str, ...]


def headlines(
    schema: Schema, related: Callable[[str, str], bool] = lambda one, other: True
) -> Headlines | None:
    """Return what to ask about a table; None where there is nothing to ask.

    Args:
        schema: Of the table.
        related: Whether two columns may depend on each other. Differences between groups that a
            number does not depend on are none at any θ: no table would be large enough to tell
            their spread from the chance of its rows.
    """
    own = [column for column in schema.confidential if not column.release]
    groups = [each for each in (*schema.public, *own) if len(each.levels or ()) in _LEVELS]
    questions = [question for column in own[:_COLUMNS] for question in _of(column, groups, related)]
    if not questions:
        return None
    names = [name for question in questions for name in _told(question)]
    return Headlines(Together.of(questions), tuple(names))


def _of(
    column: Column, groups: Sequence[Column], related: Callable[[str, str], bool]
) -> Iterator[Question]:
    name, own = column.name, (column.name,)
    if column.numeric and column.type is not Type.DATE:
        yield Whole(f"mean of {name}", own, Mean(name))
        yield Whole(f"median of {name}", own, Quantile(name, 0.5))
        group = next((each for each in groups if related(name, each.name)), None)
        if group is not None:
            yield Grouped(f"mean of {name} by {group.name}", (name, group.name), Mean(name), group)
    elif column.levels is not None and len(column.levels) == 2:
        holds = Relation("==", ColumnRef(name), Constant(1.0), 0.0)
        yield Whole(f"share of {name} = {column.levels[1]}", own, Share(holds))


def _told(question: Question) -> Sequence[str]:
    """Return the names of an answer about all, or of the differences between groups."""
    if isinstance(question, Grouped):
        differences = question.names[len(question.group.levels or ()) :]
        return [f"{question.text}: {name}" for name in differences]
    return [question.text]
