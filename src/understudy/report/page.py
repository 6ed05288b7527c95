"""The report as a page: `sections.py` says what it tells, `report.html.j2` how it looks.

The guarantee comes first, because it is what the readers answer for. Everything below it is drawn
from confidential records, so the page never leaves the building, and says so in its first line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.domain.schema import Schema
from understudy.ledger.statement import Statement
from understudy.privacy.guarantee import Guarantee
from understudy.report import groups, influence, sections, table_sections
from understudy.report.comparison import Comparison
from understudy.report.drift import Earlier, since
from understudy.report.intervals import Interval, interval_row
from understudy.report.template import fill
from understudy.support.confidential import Confidential
from understudy.utility.marginal import ColumnUtility
from understudy.utility.pairs import PairUtility

if TYPE_CHECKING:
    from pandas import DataFrame

_SECTIONS = ["guarantee", "closeness", "answers", "spending", "overview", "columns", "groups"]
_SECTIONS += ["drift", "pairs", "propensity", "regression", "influence", "convergence"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Page(Confidential):
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
    utility: Mapping[str, ColumnUtility]
    diagnostics: Mapping[str, Any]
    alpha: NDArray[np.float64] | None
    largest_score: NDArray[np.float64] | None
    bound: float | None
    outcome: tuple[str, NDArray[np.float64]]
    """What weights and scores are drawn against, a value for each record, and what it is called."""
    rows: int
    """Rows of the confidential table, before survey weights repeated them."""
    sampled: bool = False
    """Whether there are too many records to be held, and some of them stand for all."""
    pairs: Sequence[PairUtility] = ()
    answers: Sequence[Interval] = ()
    """What the release says of its main columns."""
    earlier: Earlier | None = None
    """The last period's release, to see what moved since."""
    statement: Statement | None = None
    """The ledger's, up to and including this release."""

    def __post_init__(self) -> None:
        for per_record in (self.alpha, self.largest_score):
            if per_record is not None and per_record.shape != (self.records,):
                raise ValueError("the report needs one weight and one score for each record")

    @property
    def records(self) -> int:
        """The number of records: of units, where the schema declares them."""
        return len(self.outcome[1])

    def render(self) -> str:
        """Return the page as HTML, the same text for the same run."""
        tables = self.confidential, self.synthetic
        label, values = self.outcome
        period = self.guarantee.period
        return _render(
            title=self.title if period is None else f"{period}: {self.title}",
            sizes=_sizes(self.rows, self.guarantee.rows, self.records, sampled=self.sampled),
            guarantee=sections.promise(self.guarantee),
            closeness=sections.closeness(self.schema, self.utility, self.earlier, self.synthetic),
            answers=[interval_row(each) for each in self.answers],
            columns=sections.columns(self.schema, *tables, self.utility),
            groups=groups.by_group(groups.most_different(self.schema, *tables)),
            drift=self.earlier and since(self.earlier, self.synthetic, self.schema),
            spending=sections.spending(self.statement),
            pairs=table_sections.pairs({"": self.pairs}),
            influence={
                "stages": influence.stages(self.diagnostics),
                "measured": influence.measured(self.diagnostics),
                "coarse": influence.coarse_stages(self.diagnostics),
                "mostly_censored": influence.mostly_censored(self.diagnostics, self.records),
                "facts": influence.facts(self.diagnostics, self.largest_score, self.records),
                "weights": influence.weights(self.alpha, values, label),
                "scores": influence.scores(self.largest_score, values, self.bound, label),
                "label": label,
                "censored": influence.censored_where(self.largest_score, values, self.bound),
            },
            convergence=sections.convergence(self.diagnostics, self.guarantee.sampler),
        )


def render_comparison(comparison: Comparison) -> str:
    """Return the page of a comparison: its tables side by side, and no promise."""
    tables = {each.label: each for each in comparison.compared}
    records, note = comparison.records, comparison.sampled
    told = "" if note is None else f". {note}"
    if len(tables) > 1:
        return _render(
            title=comparison.title,
            sizes=f"{records:,} confidential records · {len(tables)} synthetic tables{told}",
            overview=table_sections.overview(
                {name: (each.rows, each.utility.headlines()) for name, each in tables.items()}
            ),
            pairs=table_sections.pairs({name: each.utility.pairs for name, each in tables.items()}),
            regression=table_sections.regression(
                {name: each.utility.regression for name, each in tables.items()}
            ),
        )
    first = comparison.compared[0]
    table, utility = first.table, first.utility
    return _render(
        title=comparison.title,
        sizes=_sizes(records, first.rows) + told,
        columns=sections.columns(
            comparison.schema, comparison.confidential, table, utility.columns
        ),
        pairs=table_sections.pairs({"": utility.pairs}),
        propensity=table_sections.propensity(utility.propensity),
        regression=table_sections.regression({"Synthetic": utility.regression}),
    )


def _sizes(rows: int, synthetic: int, records: int | None = None, *, sampled: bool = False) -> str:
    size = f"{rows:,} confidential records"
    if sampled:
        size += f", of which {records:,}, drawn at random, are shown here"
    elif records not in (None, rows):
        size = f"{records:,} confidential records with {rows:,} rows"
    return f"{size} · {synthetic:,} synthetic rows"


def _render(**view: Any) -> str:
    return fill("report.html.j2", **(dict.fromkeys(_SECTIONS) | view))
