"""Several questions as one, for those who ask all of them of the same tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.domain.tables import Columns
from understudy.questions.question import Question


@dataclass(frozen=True)
class Together(Question):
    """The answers to several questions, by the question's text and the answer's name."""

    questions: tuple[Question, ...]

    @classmethod
    def of(cls, questions: Sequence[Question]) -> Together:
        """Put questions together.

        Args:
            questions: At least one.
        """
        columns = dict.fromkeys(name for each in questions for name in each.columns)
        text = "; ".join(each.text for each in questions)
        return cls(text, tuple(columns), tuple(questions))

    def answer(self, columns: Columns) -> dict[str, float]:
        """Return all answers."""
        return self._each(lambda question: question.answer(columns))

    def analyse(self, columns: Columns) -> dict[str, tuple[float, float]]:
        """Return them with their variances."""
        return self._each(lambda question: question.analyse(columns))

    def influence(self, columns: Columns) -> dict[str, NDArray[np.float64]]:
        """Return the influence of each record on all of them."""
        return self._each(lambda question: question.influence(columns))

    def _each(self, ask: Callable[[Question], dict[str, Any]]) -> dict[str, Any]:
        return {
            name if name == question.text else f"{question.text}: {name}": found
            for question in self.questions
            for name, found in ask(question).items()
        }
