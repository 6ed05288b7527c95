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
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from understudy.privacy.guarantee import Adjacency
from understudy.privacy.rounding import at_most
from understudy.report.template import fill
from understudy.report.wording import NOTHING, tick
from understudy.study import figure_style
from understudy.study.application import DISTANCES, LABELS, Application
from understudy.study.application_claims import figure_claims, marks, ranked, table_claims
from understudy.study.arms import ANALYSES, SYNTHESISERS
from understudy.study.paper import APPLICATION_EPSILON, APPLICATION_N, TABLE_2
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

_LINES: dict[str, Any] = {
    "weighted": (0, (6, 1.5)),
    "weighted-e": (0, (6, 1.5, 1.2, 1.5)),
    "censor-w": "-",
    "censor-uw": (0, (3, 1.2)),
    "ph": (0, (1.2, 1.2)),
    "summary-5": "-",
    "summary-1": (0, (3, 1.2)),
    "anchored-5": (0, (6, 1.5, 1.2, 1.5)),
    "anchored-1": (0, (4, 1.2, 1.2, 1.2, 1.2, 1.2)),
    "ph-sqrt": (0, (1.2, 1.2)),
    "unweighted": (0, (6, 1.5)),
}
"""Every line of a panel has a style of its own, so that the picture can be read in print and with
any kind of colour vision."""
_ANCHORED = figure_style.COLOURS["anchored-ladder"]
_COLOURS = figure_style.COLOURS | {
    "summary-5": figure_style.COLOURS["summary"],
    "summary-1": figure_style.COLOURS["summary"],
    "anchored-5": _ANCHORED,
    "anchored-1": _ANCHORED,
    "unweighted": "#666666",
}
_VISIBLE = 0.02
"""The picture ends where every density has fallen below this share of the highest."""


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
        "rows": [
            {
                "synthesiser": key,
                "statistic": statistic,
                "value": application.row(statistic)[key],
                "paper": _printed(application, statistic).get(key),
            }
            for key in application.labels
            for statistic in STATISTICS
        ],
        "guarantees": {
            key: {
                "kind": str(table.guarantee.kind),
                "epsilon": {str(a): (table.guarantee.epsilon or {}).get(a) for a in Adjacency},
            }
            for key, table in application.tables.items()
        },
    }
    return json.dumps(contents, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _printed(application: Application, statistic: str) -> dict[str, float | None]:
    """Return the paper's numbers, where they are about such a table."""
    return TABLE_2[statistic] if application.sample.comparable else {}


def _write_table(application: Application, path: Path) -> None:
    of_paper = [f"{LABELS[key]}, paper" for key in _printed(application, "mean")]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["", *application.labels.values(), *of_paper])
        for statistic, name in STATISTICS.items():
            ours, printed = _shown(application, statistic)
            texts = (*ours.values(), *printed.values())
            writer.writerow([name, *(text.replace(",", "") for text in texts)])


def _shown(application: Application, statistic: str) -> tuple[dict[str, str], dict[str, str]]:
    """Write our row of Table 2 and the paper's with the paper's digits, or NA."""
    # Two digits after the point where all of the outcome's range is below a thousand.
    small = application.sample.schema.confidential[0].upper < 1000
    digits = ",.0f" if statistic in ANALYSES and not small else ".2f"
    digits = ".4f" if statistic in DISTANCES else digits
    ours, printed = (
        {key: "NA" if number is None else f"{number:{digits}}" for key, number in row.items()}
        for row in (application.row(statistic), _printed(application, statistic))
    )
    return ours, printed


def write_densities(application: Application, folder: Path) -> None:
    """Draw the density plots: the data, the paper's synthesisers, and ours beside them."""
    column = application.sample.schema.confidential[0]
    at, densities = application.densities
    every = np.array(list(densities.values()))
    end = np.flatnonzero((every > _VISIBLE * every.max()).any(axis=0))[-1] + 1
    with figure_style.style():
        figure = Figure(figsize=(11.0, 4.3), dpi=figure_style.DPI, layout="constrained")
        panels = figure.subplots(1, 2, sharey=True)
        for axes, title in zip(panels, ("As in the paper", "Beyond the paper"), strict=True):
            axes.fill_between(at[:end], densities["data"][:end], color="#d9dee4", linewidth=0)
            axes.plot(at[:end], densities["data"][:end], color="black", linewidth=1.4, label="Data")
            for key in application.tables:
                if (key in SYNTHESISERS) == (axes is panels[0]):
                    line = {"color": _COLOURS[key], "linestyle": _LINES[key], "label": LABELS[key]}
                    axes.plot(at[:end], densities[key][:end], **line)
            axes.set_ylim(bottom=0)
            axes.set_yticks([])
            axes.spines["left"].set_visible(False)
            axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
            axes.xaxis.set_major_formatter(FuncFormatter(lambda number, _: tick(number)))
            axes.legend(loc="upper right", handlelength=3.2)
            axes.set_title(title, loc="left")
            axes.set_xlim(column.lower, at[end - 1])
            axes.set_xlabel(f"{column.name.capitalize()}, {application.sample.unit}")
        title = "Densities of the data and the synthetic tables"
        figure_style.save(figure, folder, "densities", title)


def render_section(application: Application) -> str:
    """Return the fragment of HTML; its links are relative to the directory above the files."""
    names = ", ".join(LABELS[key] for key in application.tables)
    return fill(
        "application.html.j2",
        sample=application.sample,
        epsilon=APPLICATION_EPSILON,
        seed=application.seed,
        records=len(application.sample.table),
        columns=[_column(application, key) for key in application.tables],
        rows=[_row(application, statistic) for statistic in STATISTICS],
        table_claims=table_claims(application),
        figure_claims=figure_claims(application),
        # For those who do not see the picture.
        description=f"Density curves of {application.sample.outcome} in the data and in {names}",
    )


def _column(application: Application, key: str) -> dict[str, Any]:
    guarantee = application.tables[key].guarantee
    name, _, remark = LABELS[key].partition(" (")
    return {
        "name": name,
        "remark": f"({remark}",
        "theirs": key in SYNTHESISERS,
        "kind": str(guarantee.kind),
        "epsilons": [
            at_most(guarantee.epsilon[adjacency], 4) if guarantee.epsilon else NOTHING
            for adjacency in Adjacency
        ],
    }


def _row(application: Application, statistic: str) -> dict[str, Any]:
    ours, printed = _shown(application, statistic)
    our_marks, their_marks = marks(application, statistic), ranked(statistic, TABLE_2[statistic])
    local = [key for key, table in application.tables.items() if not table.guarantee.epsilon]
    cells = [
        {
            "text": text,
            "mark": our_marks.get(key),
            "local": statistic == "epsilon" and key in local,
            "paper": printed.get(key),
            "paper_mark": their_marks.get(key),
            "theirs": key in ("data", *SYNTHESISERS),
        }
        for key, text in ours.items()
    ]
    return {"name": STATISTICS[statistic], "statistic": statistic, "cells": cells}


def as_text(application: Application, folder: Path) -> str:
    """Return what the terminal shows: what the data are, the table, and where the files are."""
    sample = application.sample
    lines = [textwrap.fill(f"{sample.statement} {sample.size}", 100), ""]
    width = max(map(len, application.labels.values()))
    lines.append(" " * width + "".join(f"{name:>11}" for name in STATISTICS.values()))
    rows = [_shown(application, statistic)[0] for statistic in STATISTICS]
    for key, label in application.labels.items():
        lines.append(f"{label:<{width}}" + "".join(f"{row[key]:>11}" for row in rows))
    lines += ["", f"Table, picture and page: {folder}"]
    return "\n".join(lines)
