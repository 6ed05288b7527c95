"""Comparing synthetic tables with the confidential one: for inside eyes only."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from understudy.domain.frames import Tabular, frame_of, name_of
from understudy.domain.schema import Schema
from understudy.errors import BadInput
from understudy.support.aligned import aligned
from understudy.support.confidential import Confidential
from understudy.support.files import written_atomically
from understudy.utility.table import (
    TableUtility,
    checked,
    confidential_text,
    in_both,
    measure_checked,
    measured,
    notebook,
    population,
)

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, repr=False)
class ComparedTable(Confidential):
    """One synthetic table, and how close it is to the confidential one."""

    label: str
    table: DataFrame
    utility: TableUtility


@dataclass(frozen=True, repr=False)
class Comparison(Confidential):
    """Utility of one synthetic table, or of several side by side. All of it is confidential."""

    title: str
    """What was compared."""
    schema: Schema
    """The columns that were compared."""
    confidential: DataFrame
    """The confidential table as declared, or the population that its survey weights make of it."""
    compared: tuple[ComparedTable, ...]
    """Each synthetic table with its measures."""

    def to_json(self) -> str:
        """Return the measures as JSON that says that it is confidential."""
        told: dict[str, Any] = {"confidential": True}
        if len(self.compared) == 1:
            told |= self.compared[0].utility.to_dict()
        else:
            told["syntheses"] = [
                {"file": each.label} | each.utility.to_dict() for each in self.compared
            ]
        return json.dumps(told, indent=2)

    def to_text(self) -> str:
        """Return the measures as plain tables, under a line that says who may read them."""
        if len(self.compared) == 1:
            return self.compared[0].utility.to_text()
        return confidential_text(_side_by_side(self.compared))

    def _repr_html_(self) -> str:
        labels = ", ".join(each.label for each in self.compared)
        facts = {"synthetic tables": labels, **measured(self.compared[0].utility)}
        return notebook(f"Comparison: {self.title}", facts)

    def write_page(self, path: str | PathLike[str]) -> None:
        """Write the comparison as an HTML page that only its owner can read.

        Args:
            path: The file, which is replaced if it exists.
        """
        from understudy.report.page import render_comparison

        page = render_comparison(self)
        with written_atomically(Path(path), private=True) as file:
            file.write_text(page, encoding="utf-8")


def compare(
    table: Tabular,
    synthetic: Tabular | Sequence[Tabular] | Mapping[str, Tabular],
    schema: Schema | str | PathLike[str],
    *,
    regression: str | None = None,
) -> Comparison:
    """Measure how close synthetic tables are to the confidential one. The result is confidential.

    Public columns count where all tables have them.

    Args:
        table: The confidential table, or its file.
        synthetic: A synthetic table, or its file; several side by side as a list, or by name.
        schema: What all the tables are declared to hold, or the file that declares it.
        regression: A formula such as `log(pay) ~ gender + age` to fit to every table, or None.

    Returns:
        The measures; see `Comparison.to_text`, `to_json` and `write_page`.

    Raises:
        BadInput: A table does not fit the schema, or the formula cannot be meant.
    """
    declared = schema if isinstance(schema, Schema) else Schema.load(schema)
    given = _by_name(synthetic)
    real, *made = [frame_of(each) for each in (table, *given.values())]
    shared = in_both(declared, real, *made)
    name = name_of(table, "the confidential table")
    names = [name_of(each, label) for label, each in given.items()]
    confidential = population(real, shared, name)
    # All are read and checked before any is measured: a slip in the last file shows at once.
    made = [checked(frame, shared, label) for frame, label in zip(made, names, strict=True)]
    labels = list(given) if isinstance(synthetic, Mapping) else _labels(list(map(Path, names)))
    compared = tuple(
        ComparedTable(
            label, frame, measure_checked(confidential, frame, shared, regression=regression)
        )
        for label, frame in zip(labels, made, strict=True)
    )
    return Comparison(f"{Path(name).name} and {', '.join(labels)}", shared, confidential, compared)


def _by_name(
    synthetic: Tabular | Sequence[Tabular] | Mapping[str, Tabular],
) -> Mapping[str, Tabular]:
    if isinstance(synthetic, Mapping):
        given: Mapping[str, Tabular] = synthetic
    elif isinstance(synthetic, list | tuple):
        given = {f"synthetic table {k}": each for k, each in enumerate(synthetic, start=1)}
    else:
        given = {"the synthetic table": cast("Tabular", synthetic)}
    if not given:
        raise BadInput("there is nothing to compare with: `synthetic` must hold a table.")
    return given


def _labels(paths: Sequence[Path]) -> list[str]:
    """Return the ends of the paths that tell them apart: releases name their tables alike."""
    if len(set(paths)) < len(paths):
        raise BadInput("the same synthetic table is named twice: name each once.")
    for length in range(1, max(len(path.parts) for path in paths) + 1):
        labels = ["/".join(path.parts[-length:]) for path in paths]
        if len(set(labels)) == len(labels):
            return labels
    return [str(path) for path in paths]


def _side_by_side(compared: Sequence[ComparedTable]) -> Iterator[str]:
    """One line for each measure, one column for each table, whose names come first."""
    yield ""
    for number, each in enumerate(compared, start=1):
        yield f"  [{number}] {each.label}"
    yield ""
    measures = [each.utility.headlines() for each in compared]
    rows = [("", *(f"[{number}]" for number in range(1, len(measures) + 1)))]
    for name in measures[0]:
        values = [each.get(name) for each in measures]
        rows.append((name, *("–" if value is None else f"{value:.4f}" for value in values)))
    yield from (f"  {line}" for line in aligned(rows))
