"""Utility of `summary` beside the posterior without privacy and `anchored`.

    python benchmarks/summary.py beta [--runs 40] [--mechanism summary] [--balanced]
    python benchmarks/summary.py cps --data ../shared/data [--runs 10]
    python benchmarks/summary.py survey [--runs 10]

`beta`: tables of 2000 records from Beta(0.5, 3). `cps`: hourly earnings of 2004 on degree, gender
and age, a beta regression with public predictors. `survey`: the embedded survey's salaries, a beta
regression with twelve parameters. Printed are the mean max-ECDF of one synthetic table, of
independent or of balanced rows, with its standard error, and the median of the seconds of a
synthesis, the first run with its compilation beside it. Add-remove, strict, no history. Seeds are
fixed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import understudy as us
from understudy import data
from understudy.mechanisms import BY_NAME
from understudy.utility import max_ecdf

EPSILONS = (5.0, 1.0, 0.5, 0.1)
N = 2000
SHARE = {"role": "confidential", "type": "continuous", "bounds": [0, 1]}


@dataclass(frozen=True)
class Case:
    """A model, the column that is judged, and a table for each run."""

    model: us.Model
    column: str
    table: Callable[[int], pd.DataFrame]


def beta() -> Case:
    """Return the paper's Beta tables."""
    schema = us.Schema.from_dict({"table": {"size": N}, "columns": {"x": SHARE}})
    return Case(
        us.beta(schema),
        "x",
        lambda run: pd.DataFrame({"x": np.random.default_rng(500 + run).beta(0.5, 3, N)}),
    )


def cps(directory: Path) -> Case:
    """Return the earnings of 2004."""
    levels = {"role": "public", "type": "categorical"}
    schema = us.Schema.from_dict(
        {
            "table": {"size": 8000},
            "columns": {
                "earnings": SHARE | {"bounds": [0, 80]},
                "degree": levels | {"levels": ["highschool", "bachelor"]},
                "gender": levels | {"levels": ["female", "male"]},
                "age": {"role": "public", "type": "integer", "bounds": [25, 34]},
            },
        }
    )
    years = pd.read_csv(directory / "cps_earnings_1992_2004.csv")
    table = years[years["year"] == 2004].drop(columns="year").reset_index(drop=True)
    model = us.formula("earnings ~ degree + gender + age", family="beta", schema=schema)
    return Case(model, "earnings", lambda run: table)


def survey() -> Case:
    """Return the embedded survey."""
    schema = us.Schema.load(data.survey_schema())
    table = pd.read_csv(data.survey_table())
    model = us.formula("salary ~ gender + age + weeks", family="beta", schema=schema)
    return Case(model, "salary", lambda run: table)


def measure(
    case: Case, mechanism: us.Mechanism, runs: int, seed: int, *, balanced: bool = False
) -> str:
    """Return a cell of the table."""
    distances, seconds = [], []
    for run in range(runs):
        table = case.table(run)
        started = time.monotonic()
        release = us.synthesize(case.model, table, mechanism, balanced=balanced, seed=seed + run)
        seconds.append(time.monotonic() - started)
        real, made = (t[case.column].to_numpy() for t in (table, release.synthetic))
        distances.append(max_ecdf(real, made))
    error = np.std(distances) / np.sqrt(runs)
    took = f"{np.median(seconds):.1f} s, first {seconds[0]:.1f} s"
    return f"{np.mean(distances):.4f} ± {error:.4f} ({took})"


def main() -> None:
    """Print a row for each ε."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("case", choices=["beta", "cps", "survey"])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--mechanism", default="summary", choices=["summary", "anchored"])
    parser.add_argument("--epsilon", type=float, nargs="*", default=EPSILONS)
    parser.add_argument("--balanced", action="store_true")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    asked = parser.parse_args()
    case = {"beta": beta, "cps": lambda: cps(asked.data), "survey": survey}[asked.case]()
    for epsilon in asked.epsilon:
        mechanism = BY_NAME[asked.mechanism](epsilon=epsilon)  # type: ignore[call-arg]
        found = measure(case, mechanism, asked.runs, asked.seed, balanced=asked.balanced)
        print(f"{asked.case}, ε = {epsilon:g}: {found}", flush=True)


if __name__ == "__main__":
    main()
