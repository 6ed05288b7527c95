"""The report as a page: `sections.py` says what it tells, `report.html.j2` how it looks.

The guarantee comes first, because it is what the readers answer for. Everything below it is drawn
from confidential records, so the page never leaves the building, and says so in its first line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.guarantee import Guarantee
from understudy.report import sections

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pandas import DataFrame

    from understudy.schema import Schema
    from understudy.utility import CategoricalUtility, Utility


@dataclass(frozen=True, kw_only=True, eq=False)
class Page:
    """The report of one run, `internal/report.html`.

    `alpha` and `largest_score` hold a number for each record and are None where the mechanism has
    no likelihood; `bound` is None or infinite where nothing is censored. What the diagnostics lack
    or hold as None is shown as a dash.
    """

    title: str
    guarantee: Guarantee
    schema: Schema
    confidential: DataFrame
    synthetic: DataFrame
    utility: Mapping[str, Utility | CategoricalUtility]
    diagnostics: Mapping[str, Any]
    alpha: NDArray[np.float64] | None
    largest_score: NDArray[np.float64] | None
    bound: float | None

    def __post_init__(self) -> None:
        for per_record in (self.alpha, self.largest_score):
            if per_record is not None and per_record.shape != (len(self.confidential),):
                raise ValueError("the report needs one weight and one score for each record")

    def render(self) -> str:
        """Return the page as HTML, the same text for the same run."""
        label, values = sections.outcome(self.schema, self.confidential)
        return _render(
            title=self.title,
            sizes=_sizes(self.confidential, self.synthetic),
            guarantee=sections.promise(self.guarantee),
            columns=sections.columns(self.schema, self.confidential, self.synthetic, self.utility),
            influence={
                "stages": sections.stages(self.diagnostics),
                "coarse": sections.candidates_warning(self.diagnostics),
                "warning": sections.censoring_warning(self.diagnostics, len(self.confidential)),
                "facts": sections.influence_facts(
                    self.diagnostics, self.largest_score, len(self.confidential)
                ),
                "weights": sections.weights(self.alpha, values, label),
                "scores": sections.scores(self.largest_score, values, self.bound, label),
            },
            convergence=sections.convergence(self.diagnostics, self.guarantee.sampler),
        )


def render_comparison(
    title: str,
    schema: Schema,
    confidential: DataFrame,
    synthetic: DataFrame,
    utility: Mapping[str, Utility | CategoricalUtility],
) -> str:
    """Return the page of `understudy compare`: the two tables side by side, and no promise."""
    return _render(
        title=title,
        sizes=_sizes(confidential, synthetic),
        guarantee=None,
        columns=sections.columns(schema, confidential, synthetic, utility),
        influence=None,
        convergence=None,
    )


def _sizes(confidential: DataFrame, synthetic: DataFrame) -> str:
    return f"{len(confidential):,} confidential records · {len(synthetic):,} synthetic rows"


def _render(**view: Any) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("understudy", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("report.html.j2").render(view)
