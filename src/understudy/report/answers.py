"""The answer to a question: a table, JSON, and a figure of intervals with and without the noise."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.questions.printing import ends, lined_up
from understudy.report.intervals import Interval
from understudy.report.svg import FAINT, INK, inline_svg, printable
from understudy.report.wording import NOTHING, percent, readable
from understudy.support.files import written_atomically

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BLUE = "#0072B2"


@dataclass(frozen=True)
class Answer:
    """What a release says to a question: public, like the release."""

    question: str
    """What was asked."""
    level: float
    """Of the intervals."""
    about: str
    """Whom the answer is about."""
    estimates: tuple[Interval, ...]
    """The answers with their intervals."""
    warnings: tuple[str, ...]
    """What is to be said of them, and of the model."""
    regression: bool = False
    """Whether the estimates are the coefficients of a regression."""

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON holds it."""
        return {
            "question": self.question,
            "level": self.level,
            "about": self.about,
            "estimates": [each.to_dict() for each in self.estimates],
            "warnings": list(self.warnings),
        }

    def to_json(self) -> str:
        """Return the answer as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def to_text(self) -> str:
        """Return the answer as a table."""
        return "\n".join(self._lines())

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        """Show the figure and the table in a notebook."""
        return f"{self.figure()}<pre>{escape(self.to_text())}</pre>"

    def _table(self) -> list[list[str]]:
        named = "coef" if self.regression else "estimate"
        head = ["", named, "std err", *ends(self.level), "due to privacy"]
        return [head, *map(_cells, self.estimates)]

    def _lines(self) -> Iterator[str]:
        head, *rows = self._table()
        yield f"{self.question}, {percent(self.level)} intervals"
        yield f"About {self.about}."
        yield from lined_up(head, rows)
        yield from (f"Warning: {warning}" for warning in self.warnings)

    def figure(self) -> str:
        """Return a picture of the intervals, as SVG: in dark what they would be without noise."""
        known = [each for each in self.estimates if math.isfinite(each.upper - each.lower)]

        def draw(axes: Axes) -> None:
            for place, each in enumerate(known):
                axes.plot([each.lower, each.upper], [place] * 2, color=_BLUE, linewidth=2.2)
                if each.privacy_share is not None:
                    ends = each.without_noise
                    axes.plot(ends, [place] * 2, color=INK, linewidth=5, solid_capstyle="butt")
                axes.plot(each.estimate, place, marker="o", color="white", markeredgecolor=INK)
            if any(each.lower < 0 < each.upper for each in known):
                axes.axvline(0, color=FAINT, linewidth=1)
            axes.set_yticks(range(len(known)), [printable(each.name) for each in known])
            axes.set_ylim(len(known) - 0.5, -0.5)
            axes.grid(axis="y", visible=False)

        height = 0.9 + 0.34 * max(len(known), 1)
        return inline_svg(draw, f"{self.question}: estimates with their intervals", height)

    def write(self, path: Path) -> None:
        """Write it as a page, a figure or JSON, as the file's name ends.

        Args:
            path: The file: .html, .svg or .json.
        """
        from understudy.report.template import fill

        if path.suffix == ".json":
            text = self.to_json() + "\n"
        elif path.suffix == ".svg":
            text = self.figure()
        else:
            head, *rows = self._table()
            text = fill(
                "answer.html.j2",
                answer=self,
                level=percent(self.level),
                figure=self.figure(),
                head=head[1:],
                rows=rows,
            )
        with written_atomically(path) as file:
            file.write_text(text, encoding="utf-8")


def _cells(each: Interval) -> list[str]:
    share = NOTHING if each.privacy_share is None else f"{100 * each.privacy_share:.0f} %"
    numbers = (each.estimate, each.deviation, each.lower, each.upper)
    return [each.name, *(readable(number, digits=4) for number in numbers), share]
