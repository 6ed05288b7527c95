"""What judges that nobody here wrote say of a synthetic table: SDMetrics and SynthEval.

    PYTHON judge.py REAL.csv MADE.csv KINDS.json [--rows 5000]

The JSON names each column `number` or `category`. Printed is JSON: `shapes` and `trends`, the
quality report of SDMetrics over columns and over pairs of them, 1 for equal; `detection`, 1 where
its logistic regression cannot tell the tables apart and 0 where it always can; `propensity`, the
mean squared error of SynthEval's propensity scores, 0 where they cannot be told apart and 0.25
where they always can; and `propensity_accuracy` of the same. A judge that fails is named by the
class of its error. Classifiers are given the same number of rows of both tables, drawn with a fixed
seed. Both are logistic regressions without interactions: they see columns, and hardly what ties
them together.

Nothing of `understudy` is imported. The judges have an environment of their own:

    python3.11 -m venv ENV && ENV/bin/pip install sdmetrics==0.32.0 syntheval==1.7.3
"""

from __future__ import annotations

import argparse
import json
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

Kinds = dict[str, str]


def read(path: Path, kinds: Kinds) -> pd.DataFrame:
    """Return a table whose categories are text, "N" and "NA" among them."""
    categories = [name for name, kind in kinds.items() if kind == "category"]
    frame = pd.read_csv(
        path, dtype=dict.fromkeys(categories, str), keep_default_na=False, na_values=[""]
    )[list(kinds)]
    for name in categories:
        frame[name] = frame[name].fillna("missing").astype(object)
    return frame.astype({name: float for name in kinds if name not in categories})


def quality(real: pd.DataFrame, made: pd.DataFrame, kinds: Kinds) -> dict[str, float]:
    """Return the two scores of SDMetrics' quality report."""
    from sdmetrics.reports.single_table import QualityReport

    report = QualityReport()
    report.generate(real, made, _metadata(kinds), verbose=False)
    scores = report.get_properties().set_index("Property")["Score"]
    return {
        "shapes": float(scores["Column Shapes"]),
        "trends": float(scores["Column Pair Trends"]),
    }


def detection(real: pd.DataFrame, made: pd.DataFrame, kinds: Kinds) -> dict[str, float]:
    """Return SDMetrics' logistic detection.

    It makes a column of each level, but only of those in the first table, and fails at another one.
    So the columns of all levels are made here, in the same way.
    """
    from sdmetrics.single_table import LogisticDetection

    categories = [name for name, kind in kinds.items() if kind == "category"]
    both = pd.get_dummies(pd.concat([real, made]), columns=categories, dtype=float)
    told = _metadata(dict.fromkeys(both.columns, "number"))
    parts = (both[: len(real)], both[len(real) :].reset_index(drop=True))
    return {"detection": float(LogisticDetection.compute(*parts, told))}


def propensity(real: pd.DataFrame, made: pd.DataFrame, kinds: Kinds) -> dict[str, float]:
    """Return SynthEval's propensity; it takes no missing numbers, so they become a category."""
    from syntheval import SynthEval

    categories = [name for name, kind in kinds.items() if kind == "category"]
    tables = [real.copy(), made.copy()]
    for name in set(kinds) - set(categories):
        if any(table[name].isna().any() for table in tables):
            middle = real[name].median()
            for table in tables:
                table[f"{name} missing"] = table[name].isna().map({True: "yes", False: "no"})
                table[name] = table[name].fillna(middle)
            categories.append(f"{name} missing")
    judge = SynthEval(
        tables[0], cat_cols=categories, verbose=False, enable_plots=False, console="off"
    )
    judge.evaluate(tables[1], p_mse={})
    found = judge._raw_results["p_mse"]
    return {
        "propensity": float(found["avg pMSE"]),
        "propensity_accuracy": float(found["avg acc"]),
    }


def _metadata(kinds: Kinds) -> dict[str, Any]:
    types = {"number": "numerical", "category": "categorical"}
    return {"columns": {name: {"sdtype": types[kind]} for name, kind in kinds.items()}}


def judge(real: pd.DataFrame, made: pd.DataFrame, kinds: Kinds, rows: int) -> dict[str, Any]:
    """Return what every judge says."""
    few = min(rows, len(real), len(made))
    drawn = [t.sample(few, random_state=0).reset_index(drop=True) for t in (real, made)]
    asked: dict[str, Callable[[], dict[str, float]]] = {
        "quality": lambda: quality(real, made, kinds),
        "detection": lambda: detection(drawn[0], drawn[1], kinds),
        "propensity": lambda: propensity(drawn[0], drawn[1], kinds),
    }
    said: dict[str, Any] = {}
    for name, ask in asked.items():
        try:
            said |= ask()
        except Exception as error:  # noqa: BLE001 - a judge's failure, of any kind, is a result
            traceback.print_exc()
            said[f"{name}_error"] = type(error).__name__
    return said


def main() -> None:
    """Judge the tables that are named."""
    parser = argparse.ArgumentParser(description="Judge a synthetic table.")
    parser.add_argument("real", type=Path)
    parser.add_argument("made", type=Path)
    parser.add_argument("kinds", type=Path)
    parser.add_argument("--rows", type=int, default=5000, help="rows for classifiers")
    asked = parser.parse_args()
    kinds = json.loads(asked.kinds.read_text())
    output, sys.stdout = sys.stdout, sys.stderr
    real, made = read(asked.real, kinds), read(asked.made, kinds)
    json.dump(judge(real, made, kinds, asked.rows), output)


if __name__ == "__main__":
    main()
