"""All measures of a synthetic table: of its columns, of pairs of them, and of all at once.

They are told as plain text; a notebook shows in their place what was measured, and no number.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

from understudy.domain.cells import measurable
from understudy.domain.frames import Tabular, frame_of
from understudy.domain.schema import Column, Role, Schema
from understudy.domain.tables import Columns, decode, encode
from understudy.domain.weighing import by_weight
from understudy.support.aligned import aligned
from understudy.support.confidential import Confidential
from understudy.utility.counting import Counted
from understudy.utility.marginal import STATISTICS, ColumnUtility, Utility, compare
from understudy.utility.pairs import PairUtility, measure_pairs
from understudy.utility.propensity import Propensity, measure_propensity
from understudy.utility.regression import Regression, measure_regression

if TYPE_CHECKING:
    from pandas import DataFrame

_POPULATION = 1_000_000
_WORST = 5
"""Pairs that are told in words; all of them are in the JSON."""


@dataclass(frozen=True, kw_only=True, repr=False)
class TableUtility(Confidential):
    """How close a synthetic table is to the confidential one. All of it is confidential."""

    columns: dict[str, ColumnUtility]
    """Each confidential column by itself, over the values that are not missing."""
    pairs: tuple[PairUtility, ...]
    """Every two columns together, the public ones among them."""
    propensity: Propensity
    """How well a model tells the tables apart."""
    regression: Regression | None
    """The regression that was stated, if one was."""

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as JSON can hold them."""
        return {
            "utility": {name: measured.to_dict() for name, measured in self.columns.items()},
            "pairs": [asdict(pair) for pair in self.pairs],
            "propensity": asdict(self.propensity),
            "regression": None if self.regression is None else asdict(self.regression),
        }

    def to_text(self) -> str:
        """Return the numbers as plain tables, under a line that says that they are confidential."""
        return confidential_text(self.lines())

    def lines(self) -> Iterator[str]:
        """Yield the lines of these tables."""
        return _lines(self)

    def _repr_html_(self) -> str:
        return notebook("Utility of a synthetic table", measured(self))

    def headlines(self) -> dict[str, float | None]:
        """Return the few numbers by which several syntheses are compared, by what they are."""
        numbers: dict[str, float | None] = {}
        for name, measured in self.columns.items():
            if isinstance(measured, Utility):
                numbers[f"{name}: max-ECDF"] = measured.max_ecdf
            else:
                numbers[f"{name}: total variation"] = measured.total_variation
        distances = [p.total_variation for p in self.pairs if p.total_variation is not None]
        if distances:
            numbers["pairs: mean total variation"] = sum(distances) / len(distances)
            numbers["pairs: largest total variation"] = max(distances)
        numbers["propensity: pMSE ratio"] = self.propensity.ratio
        if self.regression is not None:
            numbers["regression: mean overlap"] = self.regression.mean_overlap
        return numbers


def measure_table(
    confidential: Tabular,
    synthetic: Tabular,
    schema: Schema,
    *,
    regression: str | None = None,
) -> TableUtility:
    """Return the utility of a synthetic table. It is confidential.

    Public columns count in pairs, propensity and regression where both tables have them.

    Args:
        confidential: The confidential table; with a survey weight, the population it stands for.
        synthetic: The synthetic table, which may have more or fewer rows.
        schema: What both tables are declared to hold.
        regression: A formula such as `log(pay) ~ gender + age` to fit to both tables, or None.

    Raises:
        BadInput: A table does not fit the schema, or the formula cannot be meant.
    """
    real, made = frame_of(confidential), frame_of(synthetic)
    shared = in_both(schema, real.columns, made.columns)
    return BothTables(
        shared,
        population(encode(real, shared, name="the confidential table"), shared),
        as_declared(encode(made, unweighed(shared), name="the synthetic table"), shared),
    ).all(regression)


def in_both(schema: Schema, *headers: Collection[str]) -> Schema:
    """Return the columns to compare: the confidential ones, and the public ones of all tables."""

    def compared(column: Column) -> bool:
        public = column.role is Role.PUBLIC
        everywhere = all(column.name in header for header in headers)
        return column.treated_as in (Role.CONFIDENTIAL, Role.SURVEY_WEIGHT) or (
            public and everywhere
        )

    columns = (c if compared(c) else Column(c.name, Role.IGNORE) for c in schema.columns)
    # Nobody is protected here, so nobody has to say whom an id stands for.
    return Schema(size=schema.size, columns=tuple(columns), row_is_unit=True)


def unweighed(schema: Schema) -> Schema:
    """Return what a synthetic table holds: a survey weight is in it only if it is released."""
    columns = (
        Column(c.name, Role.IGNORE) if c.treated_as is Role.SURVEY_WEIGHT else c
        for c in schema.columns
    )
    return replace(schema, columns=tuple(columns))


def as_declared(columns: Columns, schema: Schema) -> DataFrame:
    """Return the confidential and public columns of a coded table for those who measure."""
    return measurable(decode(columns, schema), schema.columns)


def population(columns: Columns, schema: Schema) -> DataFrame:
    """Return a confidential table likewise, as the population that its survey weights make."""
    return as_declared(as_population(columns, schema), schema)


def as_population(columns: Columns, schema: Schema) -> Columns:
    """Return a coded table as the population that its survey weights make of it.

    A synthesis under weights describes the population, so it is compared with a table in which each
    row stands as often as its weight says, up to one: in ten times as many rows, or a million. With
    a weight that is released both are samples, and compared as they are.
    """
    if schema.survey_weight is None:
        return columns
    rows = len(columns[schema.survey_weight.name])
    return by_weight(columns, schema.survey_weight.name, max(rows, min(10 * rows, _POPULATION)))


@dataclass(frozen=True, repr=False)
class BothTables(Confidential):
    """A confidential and a synthetic table that have been checked against the schema."""

    schema: Schema
    confidential: DataFrame
    """All records, or some that stand for all."""
    synthetic: DataFrame
    counts: tuple[Counted, Counted] | None = None
    """Of all records, where some stand for all: columns are measured by these, and pairs where they
    were counted."""

    def columns(self) -> dict[str, ColumnUtility]:
        """Return the utility of every confidential column, by name."""
        if self.counts is None:
            return compare(self.confidential, self.synthetic, self.schema)
        confidential, synthetic = self.counts
        return confidential.utility(synthetic)

    def pairs(self) -> tuple[PairUtility, ...]:
        """Return the utility of every pair of columns."""
        if self.counts is None or not self.counts[0].counting.pairs:
            return measure_pairs(self.confidential, self.synthetic, self._compared)
        confidential, synthetic = self.counts
        return confidential.pair_utility(synthetic)

    def all(self, regression: str | None) -> TableUtility:
        """Return all measures.

        Args:
            regression: A formula, or None.
        """
        frames = self.confidential, self.synthetic
        return TableUtility(
            columns=self.columns(),
            pairs=self.pairs(),
            propensity=measure_propensity(*frames, self._compared),
            regression=(
                None if regression is None else measure_regression(*frames, self.schema, regression)
            ),
        )

    @property
    def _compared(self) -> tuple[Column, ...]:
        return self.schema.having(Role.CONFIDENTIAL, Role.PUBLIC)


def confidential_text(lines: Iterable[str]) -> str:
    """Return lines of text under one that says who may read them."""
    banner = "CONFIDENTIAL: computed from the confidential table; do not publish."
    return "\n".join([banner, *lines])


def _lines(utility: TableUtility) -> Iterator[str]:
    """Yield all measures of a table, those of the pairs furthest apart."""
    for name, measured in utility.columns.items():
        yield from ["", name, *_column(measured)]
    apart = [pair for pair in utility.pairs if pair.total_variation is not None]
    if apart:
        worst = sorted(apart, key=lambda pair: -(pair.total_variation or 0))[:_WORST]
        rows = [
            (" × ".join(pair.columns), f"{pair.total_variation:.4f}", f"{pair.expected:.4f}")
            for pair in worst
        ]
        yield from ["", "pairs of columns, furthest apart first"]
        yield from _indented([("", "total variation", "second sample"), *rows])
    propensity = utility.propensity
    ratio = "" if propensity.ratio is None else f", {propensity.ratio:.2f} times a second sample's"
    yield from ["", "propensity", f"  pMSE             {propensity.pmse:.6f}{ratio}"]
    if utility.regression is not None:
        yield from ["", utility.regression.formula, *_regression(utility.regression)]


def _indented(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    return (f"  {line}" for line in aligned(rows))


def _column(measured: ColumnUtility) -> Iterator[str]:
    rows = []
    if isinstance(measured, Utility):
        yield f"  max-ECDF         {measured.max_ecdf:.4f}"
        yield f"  avg-ECDF         {measured.avg_ecdf:.6f}"
        for field, label in STATISTICS.items():
            both = (getattr(table, field) for table in (measured.confidential, measured.synthetic))
            rows.append((label, *(f"{number:,.6g}" for number in both)))
    else:
        yield f"  total variation  {measured.total_variation:.4f}"
    if (shares := measured.missing) is not None:
        rows.append(("missing", f"{shares.confidential:.2%}", f"{shares.synthetic:.2%}"))
    if rows:
        yield from _indented([("", "confidential", "synthetic"), *rows])


def _regression(regression: Regression) -> Iterator[str]:
    rows = []
    for each in regression.coefficients:
        cells = [
            "–" if estimate is None else f"{estimate.value:.6g}"
            for estimate in (each.confidential, each.synthetic)
        ]
        cells += [
            "–" if share is None else f"{share:.1%}"
            for share in (each.overlap, each.relative_difference)
        ]
        rows.append((each.name, *cells))
    yield from _indented([("", "confidential", "synthetic", "overlap", "difference"), *rows])


def measured(utility: TableUtility) -> dict[str, str]:
    """Return what was measured and on what, without any number."""
    facts = {
        "columns": ", ".join(utility.columns),
        "of each": "max-ECDF and avg-ECDF of numbers, total variation of levels",
        "of every two": "total variation, Cramér's V, correlation",
        "of all": "propensity (pMSE)",
    }
    if utility.regression is not None:
        facts["regression"] = utility.regression.formula
    return facts


def notebook(title: str, facts: dict[str, str]) -> str:
    """Return the HTML of a confidential object: what it holds, and how to see the numbers."""
    rows = "".join(
        f'<tr><th style="text-align: left">{escape(name, quote=False)}</th>'
        f'<td style="text-align: left">{escape(fact, quote=False)}</td></tr>'
        for name, fact in facts.items()
    )
    return (
        f"<p><strong>{escape(title, quote=False)}</strong>: confidential, stays inside. "
        f"Its method <code>to_text()</code> returns the numbers.</p><table>{rows}</table>"
    )
