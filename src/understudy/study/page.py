"""The page of the study, everything in the paper's order with a verdict, and the files beside it.

The simulation leaves in its directory

    index.html              the page
    figures/*.svg, *.png    every figure
    table-1.csv             counts of truncated and censored records, ours and the paper's
    table-supplement.csv    the same without and with downscaling
    utility.csv             every statistic of every arm, summarised
    illustration.csv        the densities of Figure 1, summarised
    results.parquet         every value of every replicate
    study.json              what was run

and the application `application/section.html`. The page is made from what lies there; what is not
there yet is replaced by the command that makes it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from understudy.errors import BadInput
from understudy.report.template import fill
from understudy.report.wording import NOTHING
from understudy.study import catalogue, illustration, paper
from understudy.study.arms import (
    ANALYSES,
    COLUMNS,
    LABELS,
    OURS,
    STATISTICS,
    Arm,
    Results,
    short,
    true_value,
)
from understudy.study.catalogue import FIGURES
from understudy.study.figures import write_figures
from understudy.study.findings import Agreement, Verdict, number
from understudy.study.synthesisers import promises
from understudy.study.tables import (
    CountRow,
    arm_summaries,
    supplement_table,
    table_1,
    write_tables,
)
from understudy.study.verdicts import checks, illustrated, verdicts
from understudy.support.files import written_atomically

RESULTS, SETTINGS = "results.parquet", "study.json"
_FACTS = {
    "replicates": "Replicates",
    "records": "Records in each table",
    "sampler": "Sampler",
    "seed": "Seed",
    "version": "understudy",
}


def write_outputs(results: pd.DataFrame, settings: Mapping[str, object], directory: Path) -> None:
    """Write the results, tables, figures and the page, each file whole or not at all."""
    read = Results(results)
    (directory / "figures").mkdir(parents=True, exist_ok=True)
    with written_atomically(directory / RESULTS) as path:
        results[list(COLUMNS)].to_parquet(path, index=False)
    with written_atomically(directory / SETTINGS) as path:
        path.write_text(json.dumps(dict(settings), indent=2) + "\n", encoding="utf-8")
    write_tables(read, directory)
    write_figures(read, directory / "figures")
    illustration.write_illustration(directory)
    write_index(directory)


def write_index(directory: Path) -> None:
    """Write `index.html` from what lies in the directory."""
    application = directory / "application" / "section.html"
    text = fill(
        "study.html.j2",
        facts=_facts(directory / SETTINGS),
        promises=promises(),
        simulation=_simulation(directory) if (directory / RESULTS).exists() else None,
        before=catalogue.BEFORE_APPLICATION,
        after=catalogue.AFTER_APPLICATION,
        application=application.read_text(encoding="utf-8") if application.exists() else None,
    )
    with written_atomically(directory / "index.html") as path:
        path.write_text(text, encoding="utf-8")


def _facts(path: Path) -> list[tuple[str, str]]:
    if not path.exists():
        return []
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise BadInput(f"{SETTINGS} is not JSON: run the study anew.") from None
    return [(name, str(settings[key])) for key, name in _FACTS.items() if key in settings]


def _simulation(directory: Path) -> dict[str, Any]:
    """Return what the template shows of the simulation, with the statements counted."""
    results = Results(pd.read_parquet(directory / RESULTS))
    judged = verdicts(results)
    judged[illustration.NAME] = illustrated(pd.read_csv(directory / "illustration.csv"))
    judged["utility"] = Verdict(())
    parts = catalogue.BEFORE_APPLICATION | catalogue.AFTER_APPLICATION
    shown = [name for shows in parts.values() for name in shows]
    statements = [(name, finding) for name in shown for finding in judged[name].findings]
    outcomes = [finding.agreement for _, finding in statements]
    return {
        "replicates": results.replicates,
        "enough": results.replicates >= paper.REPLICATES,
        "checks": checks(results),
        "total": len(statements),
        "counts": {agreement.lower(): outcomes.count(agreement) for agreement in Agreement},
        "differing": [each for each in statements if each[1].agreement is Agreement.DIFFERS],
        "views": {name: {"verdict": judged[name], **_view(name, results)} for name in shown},
    }


def _view(name: str, results: Results) -> dict[str, Any]:
    """Return what the template shows of one figure or table."""
    if name == illustration.NAME:
        return _picture(name, "1", illustration.TITLE, illustration.CAPTION, "Curves")
    if name in FIGURES:
        figure = FIGURES[name]
        shown = ", ".join(short(each) for each in (*figure.mechanisms, *figure.beyond))
        caption = figure.caption(results.replicates)
        return _picture(name, figure.number, figure.title, caption, f"Violin plots of {shown}")
    if name == "utility":
        return {
            "kind": "arms",
            "short": "Every arm",
            "heading": "Every arm in numbers (not in the paper)",
            "file": "utility.csv",
            "rows": [_true_row(), *(_arm_row(*each) for each in arm_summaries(results).items())],
        }
    downscaled = name == "table-supplement"
    table = "Supplement’s table" if downscaled else "Table 1"
    rows = supplement_table(results) if downscaled else table_1(results)
    return {
        "kind": "counts",
        "short": table,
        "heading": f"{table}. Records truncated (Weighted-e) or censored, out of {paper.N}",
        "file": f"{name}.csv",
        "guess": any(row.guess for row in rows),
        "rows": [_count_row(row, downscaled=downscaled) for row in rows],
    }


def _picture(name: str, figure: str | None, title: str, caption: str, alt: str) -> dict[str, Any]:
    known = f"Figure {figure}" if figure else "Not in the paper"
    names = {"kind": "figure", "name": name, "short": known, "heading": f"{known}. {title}"}
    return {**names, "caption": caption, "alt": f"{alt}. {caption}"}


def _count_row(row: CountRow, *, downscaled: bool) -> dict[str, Any]:
    return {
        "arm": f"c₁ = {row.c1:g}" if downscaled else f"ε = {row.epsilon:g}",
        "label": LABELS[row.mechanism],
        "ours": _counts(row.ours),
        "printed": _counts(row.printed),
        "guess": _counts(row.guess) if row.guess else None,
        "errors": f"{round(row.errors, 1) + 0.0:+.1f}".replace("-", "−"),
        "differs": row.differs,
    }


def _counts(counts: paper.Counts) -> list[str]:
    *records, sd = counts
    return [f"{value:,.0f}" for value in records] + [NOTHING if math.isnan(sd) else f"{sd:.2f}"]


def _true_row() -> dict[str, Any]:
    a, b = paper.SHAPES
    values = [*[NOTHING] * 6, *(number(true_value(statistic)) for statistic in ANALYSES)]
    return {"label": f"Beta({a:g}, {b:g})", "arm": "", "values": values, "beyond": False}


def _arm_row(arm: Arm, summaries: dict[str, paper.Counts]) -> dict[str, Any]:
    settings = [] if arm.epsilon is None else [f"ε = {arm.epsilon:g}"]
    if arm.c1 not in (None, 1.0):
        settings.append(f"c₁ = {arm.c1:g}")
    return {
        "label": short(arm.mechanism),
        "arm": ", ".join(settings),
        "values": list(_arm_numbers(summaries)),
        "beyond": arm.mechanism in OURS,
    }


def _arm_numbers(summaries: dict[str, paper.Counts]) -> Iterator[str]:
    """Yield median and largest bound, median and mean of the distances, and means of the rest."""
    for statistic in STATISTICS:
        summary = summaries.get(statistic)
        if summary is None:
            yield from (NOTHING, NOTHING)
        elif statistic in ANALYSES:
            yield number(summary.mean)
        else:
            scale = 1000.0 if statistic == "avg_ecdf" else 1.0
            bound = statistic == "lipschitz_bound"
            yield number(scale * summary.median)
            yield number(scale * (summary.maximum if bound else summary.mean))
