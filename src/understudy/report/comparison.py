"""Comparing synthetic tables with the confidential one: for inside eyes only."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from understudy.domain.frames import Tabular, frame_of, name_of
from understudy.domain.reading import MEMORY, Reading
from understudy.domain.records import Held, Records, Streamed
from understudy.domain.schema import Schema
from understudy.domain.table_files import header_of, streamable
from understudy.domain.tables import count_records
from understudy.errors import BadInput
from understudy.support.aligned import aligned
from understudy.support.confidential import Confidential
from understudy.support.files import written_atomically
from understudy.utility.counting import Counted, Counting
from understudy.utility.table import (
    BothTables,
    TableUtility,
    as_declared,
    confidential_text,
    in_both,
    measured,
    notebook,
    population,
    unweighed,
)

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, repr=False)
class ComparedTable(Confidential):
    """One synthetic table, and how close it is to the confidential one."""

    label: str
    table: DataFrame
    """All of its rows; or some at random where they are too many to be held."""
    rows: int
    utility: TableUtility


@dataclass(frozen=True, repr=False)
class Comparison(Confidential):
    """Utility of one synthetic table, or of several side by side. All of it is confidential."""

    title: str
    """What was compared."""
    schema: Schema
    """The columns that were compared."""
    confidential: DataFrame
    """The confidential table as declared, or the population that its survey weights make of it;
    of one that is too large to be held, records at random."""
    records: int
    """How many there are in all."""
    compared: tuple[ComparedTable, ...]
    """Each synthetic table with its measures."""
    sampled: str | None = None
    """What is told where some records stand for all."""

    def to_json(self) -> str:
        """Return the measures as JSON that says that it is confidential."""
        told: dict[str, Any] = {"confidential": True}
        if self.sampled is not None:
            told["sampled"] = self.sampled
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
            lines = self.compared[0].utility.lines()
        else:
            lines = _side_by_side(self.compared)
        return confidential_text(lines if self.sampled is None else [*lines, "", self.sampled])

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
    memory: int | str = MEMORY,
) -> Comparison:
    """Measure how close synthetic tables are to the confidential one. The result is confidential.

    Public columns count where all tables have them.

    Args:
        table: The confidential table, or its file; a folder, or a pattern, where there are several.
        synthetic: A synthetic table, or its file; several side by side as a list, or by name.
        schema: What all the tables are declared to hold, or the file that declares it.
        regression: A formula such as `log(pay) ~ gender + age` to fit to every table, or None.
        memory: What the tables may take together, such as `1GiB`. Larger ones are read batch by
            batch, from CSV or Parquet: columns and pairs are measured on all their records, and
            the rest on records at random.

    Returns:
        The measures; see `Comparison.to_text`, `to_json` and `write_page`.

    Raises:
        BadInput: A table does not fit the schema, or the formula cannot be meant.
    """
    declared = schema if isinstance(schema, Schema) else Schema.load(schema)
    given = _by_name(synthetic)
    called = ["the confidential table", *given]
    called = [name_of(t, name) for t, name in zip((table, *given.values()), called, strict=True)]
    tables = [each if streamable(each) else frame_of(each) for each in (table, *given.values())]
    labels = list(given) if isinstance(synthetic, Mapping) else _labels(list(map(Path, called[1:])))
    shared = in_both(declared, *map(_header, tables))
    reading = Reading.within(memory).shared_by(len(tables))
    schemas = [shared] + [unweighed(shared)] * len(given)
    # All are read and checked before any is measured: a slip in the last file shows at once.
    records = [
        reading.records(each, its, name=name)
        for each, its, name in zip(tables, schemas, called, strict=True)
    ]
    confidential = population(records[0].shown, shared)
    frames = [as_declared(each.shown, shared) for each in records[1:]]
    counting = _counting(records, shared)
    compared = tuple(
        ComparedTable(
            label,
            frame,
            each.count,
            BothTables(shared, confidential, frame, counts).all(regression),
        )
        for label, frame, each, counts in zip(
            labels, frames, records[1:], _counts(records, counting), strict=True
        )
    )
    return Comparison(
        f"{Path(called[0]).name} and {', '.join(labels)}",
        shared,
        confidential,
        len(confidential) if isinstance(records[0], Held) else records[0].count,
        compared,
        _sampled(records, counting),
    )


def _header(table: Tabular) -> Collection[str]:
    """Return the names of the columns of a table, which is read only if it has to be."""
    files = streamable(table)
    return header_of(files[0]) if files else frame_of(table).columns


def _counting(records: Sequence[Records], schema: Schema) -> Counting | None:
    """Return how all records are counted where some tables are not held; None if there is no need.

    A weighted table is compared as the population it stands for, which is made of held records.
    """
    if schema.survey_weight is not None or not any(isinstance(r, Streamed) for r in records):
        return None
    return Counting.like(records[0].shown, schema)


def _counts(
    records: Sequence[Records], counting: Counting | None
) -> Iterator[tuple[Counted, Counted] | None]:
    """Yield what is counted of the confidential table and of each synthetic one."""
    first, *others = records
    counted = None if counting is None else counting.of(first)
    for each in others:
        yield None if counting is None or counted is None else (counted, counting.of(each))


def _sampled(records: Sequence[Records], counting: Counting | None) -> str | None:
    """Return a sentence on what is measured on some records only; None if all are held."""
    streamed = [each for each in records if isinstance(each, Streamed)]
    if not streamed:
        return None
    most = max(count_records(each.shown) for each in streamed)
    what = "All measures"
    if counting is not None and counting.pairs:
        what = "Columns and pairs are measured on all records; propensity, regressions and pictures"
    elif counting is not None:
        what = "Columns are measured on all records; pairs, propensity, regressions and pictures"
    return (
        f"{what} are of at most {most:,} records, drawn at random, of each table that "
        f"does not fit into the memory it may take."
    )


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
