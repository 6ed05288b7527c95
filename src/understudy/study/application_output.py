"""Section 5 as files: a table, a picture, tidy results, and a section for the study's page.

    results.json       every number, one row each, with the paper's beside it
    table-2.csv        the paper's Table 2, ours and the paper's
    densities.svg      the density plots; densities.png for documents that take no SVG
    section.html       a fragment of HTML that the page of the study includes

The table is public or simulated; see `application_sample.py`. Nothing depends on the clock.
"""

from __future__ import annotations

import csv
import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from understudy.privacy.guarantee import Adjacency
from understudy.privacy.rounding import at_most
from understudy.report.template import fill
from understudy.report.wording import NOTHING
from understudy.study.application import Application, MeasuredTable
from understudy.study.application_claims import (
    figure_claims,
    marks,
    paper_marks,
    paper_values,
    table_claims,
)
from understudy.study.application_figure import write_densities
from understudy.study.paper import APPLICATION_EPSILON, APPLICATION_N, LABELS
from understudy.support.files import written_atomically

STATISTICS = {
    "lipschitz_bound": "Lipschitz",
    "epsilon": "Privacy ε",
    "max_ecdf": "max-ECDF",
    "avg_ecdf": "avg-ECDF",
    "mean": "Mean",
    "median": "Median",
    "q15": "15th Q",
    "q90": "90th Q",
}
"""The rows of the paper's Table 2, by the names of `paper.TABLE_2`."""


def write_application(application: Application, folder: Path) -> None:
    """Write every file into a directory that exists, each of them whole or not at all."""
    with written_atomically(folder / "results.json") as file:
        file.write_text(_results(application), encoding="utf-8")
    with written_atomically(folder / "table-2.csv") as file:
        _write_table(application, file)
    write_densities(application, folder)
    with written_atomically(folder / "section.html") as file:
        file.write_text(render_section(application), encoding="utf-8")


def _results(application: Application) -> str:
    contents = {
        "data": application.sample.source,
        "records": len(application.sample.table),
        "records_of_the_paper": APPLICATION_N,
        "seed": application.seed,
        "epsilon": APPLICATION_EPSILON,
        "rows": list(_rows(application)),
        "guarantees": {
            table.key: {
                "kind": str(table.kind),
                "epsilon": {str(a): (table.guaranteed or {}).get(a) for a in Adjacency},
            }
            for table in application.tables
        },
    }
    return json.dumps(contents, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _rows(application: Application) -> Iterator[dict[str, Any]]:
    """Yield one row for each synthesiser and statistic, the data first."""
    for key in application.labels:
        for statistic in STATISTICS:
            yield {
                "synthesiser": key,
                "statistic": statistic,
                "value": application.row(statistic)[key],
                "paper": _printed(application, statistic).get(key),
            }


def _printed(application: Application, statistic: str) -> dict[str, float | None]:
    """Return the paper's numbers, where they are about such a table."""
    return paper_values(statistic) if application.sample.comparable else {}


def _write_table(application: Application, path: Path) -> None:
    of_paper = [f"{LABELS[key]}, paper" for key in _printed(application, "mean")]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["", *application.labels.values(), *of_paper])
        for statistic, name in STATISTICS.items():
            ours, printed = application.row(statistic), _printed(application, statistic)
            numbers = (*ours.values(), *printed.values())
            texts = (_shown(statistic, number, application) for number in numbers)
            writer.writerow([name, *(text.replace(",", "") for text in texts)])


def _shown(statistic: str, number: float | None, application: Application) -> str:
    """Write a number with the paper's digits, or NA."""
    if number is None:
        return "NA"
    if statistic in ("lipschitz_bound", "epsilon"):
        return f"{number:.2f}"
    if statistic in ("max_ecdf", "avg_ecdf"):
        return f"{number:.4f}"
    # Two digits after the point where all of the outcome's range is below a thousand.
    small = application.sample.schema.confidential[0].upper < 1000
    return f"{number:.2f}" if small else f"{number:,.0f}"


def render_section(application: Application) -> str:
    """Return the fragment of HTML; its links are relative to the directory above the files."""
    names = ", ".join(table.label for table in application.tables)
    return fill(
        "application.html.j2",
        sample=application.sample,
        epsilon=APPLICATION_EPSILON,
        seed=application.seed,
        records=len(application.sample.table),
        columns=[_column(each, theirs=each in application.paper) for each in application.tables],
        rows=[_row(application, statistic) for statistic in STATISTICS],
        table_claims=table_claims(application),
        figure_claims=figure_claims(application),
        # For those who do not see the picture.
        description=f"Density curves of {application.sample.outcome} in the data and in {names}",
    )


def _column(table: MeasuredTable, *, theirs: bool) -> dict[str, Any]:
    guaranteed = table.guaranteed or {}
    name, _, remark = table.label.partition(" (")
    return {
        "name": name,
        "remark": f"({remark}",
        "theirs": theirs,
        "kind": str(table.kind),
        "epsilons": [
            at_most(guaranteed[adjacency], 4) if adjacency in guaranteed else NOTHING
            for adjacency in Adjacency
        ],
    }


def _row(application: Application, statistic: str) -> dict[str, Any]:
    printed = _printed(application, statistic)
    our_marks, their_marks = marks(application, statistic), paper_marks(statistic)
    ours = {table.key for table in application.beyond}
    local = {table.key for table in application.tables if not table.guaranteed}
    cells = [
        {
            "text": _shown(statistic, number, application),
            "mark": our_marks.get(key),
            "local": statistic == "epsilon" and key in local,
            "paper": _shown(statistic, printed[key], application) if key in printed else None,
            "paper_mark": their_marks.get(key),
            "theirs": key not in ours,
        }
        for key, number in application.row(statistic).items()
    ]
    return {"name": STATISTICS[statistic], "statistic": statistic, "cells": cells}


def as_text(application: Application, folder: Path) -> str:
    """Return what the terminal shows: what the data are, the table, and where the files are."""
    sample = application.sample
    lines = [textwrap.fill(f"{sample.statement} {sample.size}", 100), ""]
    width = max(map(len, application.labels.values()))
    lines.append(" " * width + "".join(f"{name:>11}" for name in STATISTICS.values()))
    rows = {statistic: application.row(statistic) for statistic in STATISTICS}
    for key, label in application.labels.items():
        shown = (_shown(each, row[key], application) for each, row in rows.items())
        lines.append(f"{label:<{width}}" + "".join(f"{text:>11}" for text in shown))
    lines += ["", f"Table, picture and page: {folder}"]
    return "\n".join(lines)
