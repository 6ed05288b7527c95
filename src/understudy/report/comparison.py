"""Comparing synthetic tables with the confidential one: for inside eyes only."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.domain import tables
from understudy.domain.schema import Schema
from understudy.errors import BadInput
from understudy.support.confidential import Confidential
from understudy.support.files import written_atomically
from understudy.utility import TableUtility, Utility
from understudy.utility.table import checked, in_both, measure_checked, population

if TYPE_CHECKING:
    import pandas as pd

    from understudy.utility import CategoricalUtility, Regression

CONFIDENTIAL = "CONFIDENTIAL: computed from the confidential table; do not publish."
_WORST = 5
"""Pairs that are told in words; all of them are in the JSON."""


@dataclass(frozen=True, repr=False)
class Synthesis(Confidential):
    """One synthetic table, and how close it is to the confidential one."""

    label: str
    table: pd.DataFrame
    utility: TableUtility


@dataclass(frozen=True, repr=False)
class Comparison(Confidential):
    """Utility of one synthetic table, or of several side by side."""

    title: str
    schema: Schema
    confidential: pd.DataFrame
    syntheses: tuple[Synthesis, ...]

    def to_json(self) -> str:
        """Return the measures as JSON that says that it is confidential."""
        found: dict[str, Any] = {"confidential": True}
        if len(self.syntheses) == 1:
            found |= self.syntheses[0].utility.to_dict()
        else:
            found["syntheses"] = [
                {"file": each.label} | each.utility.to_dict() for each in self.syntheses
            ]
        return json.dumps(found, indent=2)

    def to_text(self) -> str:
        """Return the measures as plain tables."""
        if len(self.syntheses) == 1:
            lines = list(_one(self.syntheses[0].utility))
        else:
            lines = list(_side_by_side(self.syntheses))
        return "\n".join([CONFIDENTIAL, *lines])

    def write_page(self, path: Path) -> None:
        """Write the comparison as an HTML page that only its owner can read."""
        from understudy.report.page import render_comparison, render_side_by_side

        if len(self.syntheses) == 1:
            (only,) = self.syntheses
            page = render_comparison(
                self.title, self.schema, self.confidential, only.table, only.utility
            )
        else:
            page = render_side_by_side(
                self.title,
                len(self.confidential),
                {each.label: (len(each.table), each.utility) for each in self.syntheses},
            )
        with written_atomically(path, private=True) as file:
            file.write_text(page, encoding="utf-8")


def compare_files(
    confidential: Path, synthetic: Sequence[Path], schema: Path, *, regression: str | None = None
) -> Comparison:
    """Read the tables against the schema and measure how close they are."""
    declared = Schema.load(schema)
    real, *made = [tables.read(path) for path in (confidential, *synthetic)]
    shared = in_both(declared, real, *made)
    ours = population(real, shared, str(confidential))
    # All are read and checked before any is measured: a slip in the last file shows at once.
    theirs = [
        checked(frame, shared, str(path)) for frame, path in zip(made, synthetic, strict=True)
    ]
    labels = _labels(synthetic)
    found = [measure_checked(ours, frame, shared, regression=regression) for frame in theirs]
    return Comparison(
        f"{confidential.name} and {', '.join(labels)}",
        shared,
        ours,
        tuple(map(Synthesis, labels, theirs, found)),
    )


def _labels(paths: Sequence[Path]) -> list[str]:
    """Return the ends of the paths that tell them apart: releases name their tables alike."""
    if len(set(paths)) < len(paths):
        raise BadInput("the same synthetic table is named twice: name each once.")
    for length in range(1, max(len(path.parts) for path in paths) + 1):
        labels = ["/".join(path.parts[-length:]) for path in paths]
        if len(set(labels)) == len(labels):
            return labels
    return [str(path) for path in paths]


def _one(utility: TableUtility) -> Iterator[str]:
    for name, measured in utility.columns.items():
        yield from ["", name, *_column(measured)]
        if measured.missing is not None:
            shares = measured.missing
            yield f"  {'missing':<14} {shares.confidential:>14.2%} {shares.synthetic:>14.2%}"
    worst = sorted(
        (pair for pair in utility.pairs if pair.total_variation is not None),
        key=lambda pair: -(pair.total_variation or 0),
    )
    if worst:
        yield from ["", "pairs of columns, furthest apart first"]
        yield f"  {'total variation':<16} {'second sample':>14}"
    for pair in worst[:_WORST]:
        yield f"  {pair.total_variation:<16.4f} {pair.expected:>14.4f}   {' × '.join(pair.columns)}"
    propensity = utility.propensity
    ratio = "" if propensity.ratio is None else f", {propensity.ratio:.2f} times a second sample's"
    yield from ["", "propensity", f"  pMSE             {propensity.pmse:.6f}{ratio}"]
    if utility.regression is not None:
        yield from ["", utility.regression.formula, *_regression(utility.regression)]


def _column(measured: Utility | CategoricalUtility) -> Iterator[str]:
    if not isinstance(measured, Utility):
        yield f"  total variation  {measured.total_variation:.4f}"
        return
    yield f"  max-ECDF         {measured.max_ecdf:.4f}"
    yield f"  avg-ECDF         {measured.avg_ecdf:.6f}"
    yield f"  {'':<14} {'confidential':>14} {'synthetic':>14}"
    real, made = measured.confidential, measured.synthetic
    for label, field in _STATISTICS.items():
        pair = f"{getattr(real, field):>14,.6g} {getattr(made, field):>14,.6g}"
        yield f"  {label:<14} {pair}"


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


def _side_by_side(syntheses: Sequence[Synthesis]) -> Iterator[str]:
    """One line for each measure, one column for each table, whose names come first."""
    yield ""
    for number, each in enumerate(syntheses, start=1):
        yield f"  [{number}] {each.label}"
    yield ""
    rows = [each.utility.headlines() for each in syntheses]
    width = max(map(len, rows[0]))
    yield f"  {'':<{width}}" + "".join(f"{f'[{k}]':>10}" for k in range(1, len(rows) + 1))
    for name in rows[0]:
        values = [row.get(name) for row in rows]
        cells = "".join(f"{'–' if value is None else f'{value:.4f}':>10}" for value in values)
        yield f"  {name:<{width}}{cells}"


_STATISTICS = {
    "mean": "mean",
    "median": "median",
    "15th percentile": "q15",
    "90th percentile": "q90",
}
