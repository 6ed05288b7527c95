"""The page of the study: everything in the paper's order, each with a verdict.

`index.html` is made from what lies in its directory: `results.parquet`, `study.json` and
`illustration.csv` from the simulation, `application/section.html` from the application. What is
not there yet is replaced by the command that makes it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from understudy.errors import BadInput
from understudy.report.template import fill
from understudy.report.wording import NOTHING
from understudy.study import illustration, paper
from understudy.study.arms import OURS, STATISTICS, Results, short, true_value
from understudy.study.catalogue import FIGURES, ViolinFigure
from understudy.study.findings import Agreement, Finding, Verdict, number
from understudy.study.promises import promises
from understudy.study.sections import (
    AFTER_APPLICATION,
    BEFORE_APPLICATION,
    ILLUSTRATION,
    SUPPLEMENT_TABLE,
    TABLE_1,
    UTILITY,
)
from understudy.study.tables import (
    Arm,
    CountRow,
    arm_values,
    arms,
    has,
    summarise,
    supplement_table,
    table_1,
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
    "seconds": "Seconds",
}
_SCALES = {"avg_ecdf": 1000.0}
_MEANS = ("mean", "median", "q15", "q90")


def write_index(directory: Path) -> None:
    """Write `index.html` from what lies in the directory."""
    application = directory / "application" / "section.html"
    text = fill(
        "study.html.j2",
        facts=_facts(directory),
        promises=promises(),
        simulation=_simulation(directory) if (directory / RESULTS).exists() else None,
        before=BEFORE_APPLICATION,
        after=AFTER_APPLICATION,
        application=application.read_text(encoding="utf-8") if application.exists() else None,
    )
    with written_atomically(directory / "index.html") as path:
        path.write_text(text, encoding="utf-8")


def _facts(directory: Path) -> list[tuple[str, str]]:
    path = directory / SETTINGS
    if not path.exists():
        return []
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise BadInput(f"{SETTINGS} is not JSON: run the study anew.") from None
    return [(name, _fact(settings[key])) for key, name in _FACTS.items() if key in settings]


def _fact(value: object) -> str:
    if value is None:
        return NOTHING
    return f"{value:,.1f}" if isinstance(value, float) else str(value)


def _simulation(directory: Path) -> dict[str, Any]:
    import pandas as pd

    results = Results(pd.read_parquet(directory / RESULTS))
    judged = verdicts(results)
    judged[ILLUSTRATION] = illustrated(pd.read_csv(directory / "illustration.csv"))
    shown = [
        name for section in (*BEFORE_APPLICATION, *AFTER_APPLICATION) for name in section.shows
    ]
    views = {name: _view(name, results, judged.get(name)) for name in shown}
    return {
        "replicates": results.replicates,
        "enough": results.replicates >= paper.REPLICATES,
        "checks": [_finding(finding) for finding in checks(results)],
        "summary": _summary(judged, views),
        "views": views,
    }


def _summary(judged: Mapping[str, Verdict], views: Mapping[str, Any]) -> dict[str, Any]:
    """Count the statements, and list those that do not agree."""
    findings = [(name, f) for name in views if name in judged for f in judged[name].findings]
    return {
        "total": len(findings),
        "counts": {o.lower(): sum(f.outcome is o for _, f in findings) for o in Agreement},
        "differing": [
            {"name": name, "heading": views[name]["short"], "text": finding.statement}
            for name, finding in findings
            if finding.outcome is Agreement.DIFFERS
        ],
    }


def _finding(finding: Finding) -> dict[str, str]:
    return {"outcome": str(finding.outcome), "text": finding.sentence}


def _view(name: str, results: Results, verdict: Verdict | None) -> dict[str, Any]:
    """Return what the template shows of one figure or table."""
    judged = {
        "findings": [_finding(finding) for finding in verdict.findings] if verdict else [],
        "beyond": verdict.beyond if verdict else "",
    }
    if name in FIGURES:
        return {**judged, **_figure(FIGURES[name], results.replicates)}
    if name == ILLUSTRATION:
        return {**judged, **_illustration()}
    if name == UTILITY:
        rows = [_true_row(), *(_arm_row(results, arm) for arm in arms())]
        return {
            **judged,
            "kind": "arms",
            "short": "Every arm",
            "heading": "Every arm in numbers (not in the paper)",
            "file": "utility.csv",
            "rows": rows,
        }
    downscaled = name == SUPPLEMENT_TABLE
    rows = [_count_row(row, downscaled) for row in _COUNTS[name](results)]
    number_ = "Supplement’s table" if downscaled else "Table 1"
    return {
        **judged,
        "kind": "counts",
        "short": number_,
        "heading": f"{number_}. Records truncated (Weighted-e) or censored, out of {paper.N}",
        "file": f"{name}.csv",
        "guess": any(row["guess"] for row in rows),
        "rows": rows,
    }


_COUNTS = {TABLE_1: table_1, SUPPLEMENT_TABLE: supplement_table}


def _figure(figure: ViolinFigure, replicates: int) -> dict[str, Any]:
    known = f"Figure {figure.number}" if figure.number else "Not in the paper"
    caption = figure.caption(replicates)
    rows = [short(m) for m in (*figure.mechanisms, *figure.beyond)]
    return {
        "kind": "figure",
        "name": figure.name,
        "short": known,
        "heading": f"{known}. {figure.title}",
        "caption": caption,
        "alt": f"Violin plots of {', '.join(rows)}. {caption}",
    }


def _illustration() -> dict[str, Any]:
    a, b = paper.ILLUSTRATION_SHAPES
    caption = (
        f"Density of φ, the mean of the records, for {paper.N} records from Beta({a:g}, {b:g}) and "
        f"ε = {paper.ILLUSTRATION_EPSILON:g}: prior, posterior and posterior of Censor_uw, as they "
        f"are (left) and centred (right). The paper does not say which parameter it shows. Top: "
        f"given all the records. Bottom: given the largest of them alone."
    )
    return {
        "kind": "figure",
        "name": illustration.NAME,
        "short": "Figure 1",
        "heading": f"Figure 1. {illustration.TITLE}",
        "caption": caption,
        "alt": f"Curves. {caption}",
    }


def _count_row(row: CountRow, downscaled: bool) -> dict[str, Any]:
    return {
        "arm": f"c₁ = {row.c1:g}" if downscaled else f"ε = {row.epsilon:g}",
        "label": row.label,
        "ours": _counts(row.ours),
        "printed": _counts(row.printed),
        "guess": _counts(row.guess) if row.guess else None,
        "errors": f"{round(row.errors, 1) + 0.0:+.1f}".replace("-", "−"),
        "differs": row.differs,
    }


def _counts(counts: paper.Counts) -> list[str]:
    *whole, sd = counts
    return [f"{value:,.0f}" for value in whole] + [NOTHING if math.isnan(sd) else f"{sd:.2f}"]


def _true_row() -> dict[str, Any]:
    a, b = paper.SHAPES
    values = [*[NOTHING] * 6, *(number(true_value(statistic)) for statistic in _MEANS)]
    return {"label": f"Beta({a:g}, {b:g})", "arm": "", "values": values, "beyond": False}


def _arm_row(results: Results, arm: Arm) -> dict[str, Any]:
    return {
        "label": short(arm.mechanism),
        "arm": ", ".join(_settings(arm)),
        "values": list(_arm_numbers(results, arm)),
        "beyond": arm.mechanism in OURS,
    }


def _settings(arm: Arm) -> Iterator[str]:
    if arm.epsilon is not None:
        yield f"ε = {arm.epsilon:g}"
    if arm.c1 not in (None, 1.0):
        yield f"c₁ = {arm.c1:g}"


def _arm_numbers(results: Results, arm: Arm) -> Iterator[str]:
    """Yield median and largest bound, median and mean of the distances, and means of the rest."""
    for statistic in STATISTICS:
        if not has(arm.mechanism, statistic):
            yield from (NOTHING, NOTHING)
            continue
        summary = summarise(arm_values(results, arm, statistic))
        if statistic in _MEANS:
            yield number(summary.mean)
        else:
            scale = _SCALES.get(statistic, 1.0)
            bound = statistic == "lipschitz_bound"
            yield number(scale * summary.median)
            yield number(scale * (summary.maximum if bound else summary.mean))
