"""The measures of a table as plain text, and what a notebook shows in place of their numbers."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from understudy.utility.marginal import STATISTICS, ColumnUtility, Utility

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from understudy.utility.regression import Regression
    from understudy.utility.table import TableUtility

_WORST = 5
"""Pairs that are told in words; all of them are in the JSON."""


def confidential(lines: Iterable[str]) -> str:
    """Return lines of text under one that says who may read them."""
    banner = "CONFIDENTIAL: computed from the confidential table; do not publish."
    return "\n".join([banner, *lines])


def lines(utility: TableUtility) -> Iterator[str]:
    """Yield all measures of a table, those of the pairs furthest apart."""
    for name, measured in utility.columns.items():
        yield from ["", name, *_column(measured)]
        if (shares := measured.missing) is not None:
            yield f"  {'missing':<14} {shares.confidential:>14.2%} {shares.synthetic:>14.2%}"
    apart = [pair for pair in utility.pairs if pair.total_variation is not None]
    if apart:
        yield from ["", "pairs of columns, furthest apart first"]
        yield f"  {'total variation':<16} {'second sample':>14}"
    for pair in sorted(apart, key=lambda pair: -(pair.total_variation or 0))[:_WORST]:
        yield f"  {pair.total_variation:<16.4f} {pair.expected:>14.4f}   {' × '.join(pair.columns)}"
    propensity = utility.propensity
    ratio = "" if propensity.ratio is None else f", {propensity.ratio:.2f} times a second sample's"
    yield from ["", "propensity", f"  pMSE             {propensity.pmse:.6f}{ratio}"]
    if utility.regression is not None:
        yield from ["", utility.regression.formula, *_regression(utility.regression)]


def _column(measured: ColumnUtility) -> Iterator[str]:
    if not isinstance(measured, Utility):
        yield f"  total variation  {measured.total_variation:.4f}"
        return
    yield f"  max-ECDF         {measured.max_ecdf:.4f}"
    yield f"  avg-ECDF         {measured.avg_ecdf:.6f}"
    yield f"  {'':<14} {'confidential':>14} {'synthetic':>14}"
    for field, label in STATISTICS.items():
        both = (getattr(table, field) for table in (measured.confidential, measured.synthetic))
        yield f"  {label:<14} " + " ".join(f"{number:>14,.6g}" for number in both)


def _regression(regression: Regression) -> Iterator[str]:
    yield f"  {'':<24} {'confidential':>14} {'synthetic':>14} {'overlap':>9} {'difference':>11}"
    for each in regression.coefficients:
        cells = [
            "–" if estimate is None else f"{estimate.value:.6g}"
            for estimate in (each.confidential, each.synthetic)
        ]
        cells += [
            "–" if share is None else f"{share:.1%}"
            for share in (each.overlap, each.relative_difference)
        ]
        yield "  {:<24} {:>14} {:>14} {:>9} {:>11}".format(each.name, *cells)


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
