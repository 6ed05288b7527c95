"""What several synthetic tables tell together: for people, for programs and for notebooks."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from understudy.questions.combining import Combined
from understudy.questions.printing import NOTHING, ends, lined_up, written
from understudy.support.html import html_table


@dataclass(frozen=True, kw_only=True)
class Pooled:
    """What several synthetic tables tell together. `print` shows it as a table."""

    question: str
    """What was asked."""
    level: float
    """With what probability an interval is to hold the answer."""
    tables: int
    """How many were combined."""
    rows: int
    """Rows of the smallest of them."""
    regression: bool
    """Whether the answers are coefficients."""
    estimates: tuple[Combined, ...]
    """The answers with their intervals."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Why answers have no interval, where they have none."""
        problems: dict[str, list[str]] = {}
        for each in self.estimates:
            if each.problem is not None:
                problems.setdefault(each.problem, []).append(f"'{each.name}'")
        return tuple(
            f"There is no interval for {', '.join(names)}: {problem}."
            for problem, names in problems.items()
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        estimates = [asdict(each) for each in self.estimates]
        for each in estimates:
            del each["problem"]
        return {
            "question": self.question,
            "level": self.level,
            "tables": self.tables,
            "rows": self.rows,
            "estimates": estimates,
            "warnings": list(self.warnings),
        }

    def to_json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def to_text(self) -> str:
        """Return a table, of a regression with the columns that regression tables have."""
        title = f"{self.question}\ncombined from {self.tables} tables of {self.rows:,} rows"
        return "\n".join([title, *lined_up(*self._cells()), *self.warnings])

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        header, rows = self._cells()
        notes = [("note", warning) for warning in self.warnings]
        return html_table(rows, header=tuple(header)) + (html_table(notes) if notes else "")

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        tested = ["t", "P>|t|"] if self.regression else []
        header = ["", "coef" if self.regression else "estimate", "std err", *tested, "df"]
        rows = [
            [
                each.name,
                written(each.estimate),
                written(each.standard_error, 4),
                *(_tested(each) if self.regression else ()),
                written(each.degrees_of_freedom, 3),
                written(each.lower),
                written(each.upper),
            ]
            for each in self.estimates
        ]
        return [*header, *ends(self.level)], rows


def _tested(each: Combined) -> tuple[str, str]:
    """Return Student's t of a coefficient, and how probable a larger one would be without it."""
    from scipy.stats import t

    if each.estimate is None or not each.standard_error or each.degrees_of_freedom is None:
        return NOTHING, NOTHING
    ratio = each.estimate / each.standard_error
    return written(ratio, 4), f"{2 * t.sf(abs(ratio), each.degrees_of_freedom):.3f}"
