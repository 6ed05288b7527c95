"""What a question is: something with answers in every table that a schema declares.

Its answers have names, the same ones in the same order whatever the table, because levels come from
the schema. A table that cannot tell (a group without records) answers NaN. Records that lack a
value of a column that is asked about are left out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from understudy.domain.rules import present
from understudy.domain.tables import Columns


@dataclass(frozen=True)
class Question(ABC):
    """A question about a table."""

    text: str
    columns: tuple[str, ...]
    """The columns that it reads."""
    regression: ClassVar[bool] = False
    """Whether its answers are coefficients, which are printed as a regression table."""

    @abstractmethod
    def answer(self, columns: Columns) -> dict[str, float]:
        """Return the answers of a coded table, by name."""

    @abstractmethod
    def analyse(self, columns: Columns) -> dict[str, tuple[float, float]]:
        """Return each answer and its sampling variance, as if rows were independent records."""

    @abstractmethod
    def influence(self, columns: Columns) -> dict[str, NDArray[np.float64]]:
        """Return by how much each record of a large table moves each answer, times their number.

        The answers of a table of independent records differ from the population's by about the mean
        of this over its records.
        """


def among(rows: int, chosen: NDArray[np.bool_], influence: NDArray[np.float64]) -> Any:
    """Return the influence of all records on what only the chosen ones are asked about."""
    everyone = np.zeros(rows)
    everyone[chosen] = influence * (rows / max(len(influence), 1))
    return everyone


def complete(columns: Columns, names: tuple[str, ...]) -> Columns:
    """Return the columns of those names, without the records in which one of them is missing."""
    whole = having_all(columns, names)
    chosen = {name: columns[name] for name in names}
    return chosen if whole.all() else {name: values[whole] for name, values in chosen.items()}


def having_all(columns: Columns, names: tuple[str, ...]) -> NDArray[np.bool_]:
    """Return which records have a value in each of those columns."""
    return np.asarray(present({name: columns[name] for name in names}, iter(names)))
