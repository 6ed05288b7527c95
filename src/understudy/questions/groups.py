"""A statistic of the whole table, or of each group and how they differ from the first.

Groups have no record in common, so the variance of a difference is the sum of both variances.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from understudy.domain.column import Column
from understudy.domain.tables import Columns
from understudy.questions.question import Question, among, complete, having_all
from understudy.questions.statistics import Floats, Statistic


@dataclass(frozen=True)
class Whole(Question):
    """A statistic of all records."""

    statistic: Statistic

    def answer(self, columns: Columns) -> dict[str, float]:
        """Return one answer, named by the question's text."""
        return {self.text: self.statistic.value(complete(columns, self.columns))}

    def analyse(self, columns: Columns) -> dict[str, tuple[float, float]]:
        """Return it with its variance."""
        rows = complete(columns, self.columns)
        return {self.text: (self.statistic.value(rows), self.statistic.variance(rows))}

    def influence(self, columns: Columns) -> dict[str, Floats]:
        """Return that of each record."""
        whole = having_all(columns, self.columns)
        own = self.statistic.influence(complete(columns, self.columns))
        return {self.text: among(len(whole), whole, own)}


@dataclass(frozen=True)
class Grouped(Question):
    """A statistic of the records of each level of a column."""

    statistic: Statistic
    group: Column

    def answer(self, columns: Columns) -> dict[str, float]:
        """Return an answer for each level, and `B − A` for each that is not the first, A."""
        values = self._each(columns, self.statistic.value)
        return dict(zip(self.names, [*values, *(v - values[0] for v in values[1:])], strict=True))

    def analyse(self, columns: Columns) -> dict[str, tuple[float, float]]:
        """Return them with their variances."""
        answers = self.answer(columns)
        variances = self._each(columns, self.statistic.variance)
        variances += [variance + variances[0] for variance in variances[1:]]
        return {
            name: (answer, variance)
            for (name, answer), variance in zip(answers.items(), variances, strict=True)
        }

    def influence(self, columns: Columns) -> dict[str, Floats]:
        """Return that of each record: on its own group's answer, and on the differences from it."""
        whole, codes = having_all(columns, self.columns), columns[self.group.name]
        found = []
        for level in range(len(self.group.levels or ())):
            chosen = whole & (codes == level)
            rows = {name: columns[name][chosen] for name in self.statistic.columns}
            own = self.statistic.influence(rows) if chosen.any() else np.empty(0)
            found.append(among(len(whole), chosen, own))
        return dict(
            zip(self.names, [*found, *(each - found[0] for each in found[1:])], strict=True)
        )

    @property
    def names(self) -> list[str]:
        """Of the levels' answers, and of the differences from the first."""
        levels = self.group.levels or ()
        return [*levels, *(f"{level} − {levels[0]}" for level in levels[1:])]

    def _each(self, columns: Columns, number: Callable[[Columns], float]) -> list[float]:
        """Return a number of each level's records."""
        rows = complete(columns, self.columns)
        levels = len(self.group.levels or ())
        # Small codes are put in order without being compared.
        codes = rows[self.group.name].astype(np.min_scalar_type(levels))
        order = np.argsort(codes, kind="stable")
        ends = np.cumsum(np.bincount(codes, minlength=levels))[:-1]
        parts = {name: np.split(rows[name][order], ends) for name in self.statistic.columns}
        return [
            number({name: split[level] for name, split in parts.items()}) for level in range(levels)
        ]
