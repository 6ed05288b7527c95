"""Utility of `summary`, beside `anchored` where that is asked for.

    python benchmarks/summary.py beta --runs 40 [--balanced] [--mechanism summary]
    python benchmarks/summary.py cps --runs 10 --data ../shared/data
    python benchmarks/summary.py survey --runs 10
    python benchmarks/summary.py joint-cps --runs 5      # and joint-ce, joint-survey
    python benchmarks/summary.py narrow --epsilon 1      # and wide
    python benchmarks/summary.py million missing --epsilon 1 --runs 3

`beta`: tables of 2000 records from Beta(0.5, 3). `cps`: hourly earnings of 2004 on degree, gender
and age, a beta regression with public predictors. `survey`: the embedded survey's salaries, a beta
regression with twelve parameters. `joint-*`: all columns of a table, as other tools synthesise them
(`peers/sources.py`). `narrow`, `wide`: a lognormal regression of 2000 salaries with bounds of a
million, and of a thousand times as much. `million`: a million records of Beta(0.5, 3). `missing`:
7,500 records of five columns, three of which may be missing, by `joint`.

Printed are means over runs with standard errors: the max-ECDF of a column, and for whole tables the
mean total variation of pairs; and the median of the seconds of a synthesis, the first run with its
compilation beside it. Add-remove, strict, no history. Seeds are fixed.
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
from peers.sources import SOURCES
from understudy import data
from understudy.mechanisms import BY_NAME
from understudy.utility import max_ecdf, measure_pairs

EPSILONS = (5.0, 1.0, 0.5, 0.1)
N = 2000
SHARE = {"role": "confidential", "type": "continuous", "bounds": [0, 1]}


@dataclass(frozen=True)
class Case:
    """A model, the columns that are judged, and a table for each run."""

    model: us.Model
    columns: tuple[str, ...]
    table: Callable[[int], pd.DataFrame]
    pairs: bool = False

    def judge(self, real: pd.DataFrame, made: pd.DataFrame) -> dict[str, float]:
        """Return the distance of each column, and of pairs."""
        found = {
            name: max_ecdf(*(t[name].dropna().to_numpy() for t in (real, made)))
            for name in self.columns
        }
        if self.pairs:
            each = measure_pairs(real, made, self.model.schema.confidential)
            found["pairs"] = float(np.mean([pair.total_variation for pair in each]))
        return found


def beta() -> Case:
    """Return the paper's Beta tables."""
    schema = us.Schema.from_dict({"table": {"size": N}, "columns": {"x": SHARE}})
    return Case(
        us.beta(schema),
        ("x",),
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
    return Case(model, ("earnings",), lambda run: table)


def survey() -> Case:
    """Return the embedded survey."""
    schema = us.Schema.load(data.survey_schema())
    table = pd.read_csv(data.survey_table())
    model = us.formula("salary ~ gender + age + weeks", family="beta", schema=schema)
    return Case(model, ("salary",), lambda run: table)


def joint(name: str, directory: Path) -> Case:
    """Return a table whose columns are all confidential."""
    source = SOURCES[name]
    table = source.read(directory)
    numbers = tuple(c.name for c in source.schema.columns if c.levels is None and c.name != "age")
    return Case(us.joint(source.schema), numbers, lambda run: table, pairs=True)


def salaries(upper: float) -> Case:
    """Return lognormal salaries in two groups, within bounds that are declared."""
    group = {"role": "public", "type": "categorical", "levels": ["a", "b"]}
    columns = {"salary": SHARE | {"bounds": [0, upper]}, "group": group}
    schema = us.Schema.from_dict({"table": {"size": N}, "columns": columns})

    def table(run: int) -> pd.DataFrame:
        generator = np.random.default_rng(700 + run)
        member = generator.integers(2, size=N)
        salary = np.exp(10.6 + 0.3 * member + 0.6 * generator.standard_normal(N))
        return pd.DataFrame({"salary": salary.clip(0, 1e6), "group": np.array(["a", "b"])[member]})

    model = us.formula("salary ~ group", family="lognormal", schema=schema)
    return Case(model, ("salary",), table)


def million() -> Case:
    """Return a million records."""
    schema = us.Schema.from_dict({"table": {"size": 10**6}, "columns": {"x": SHARE}})
    table = pd.DataFrame({"x": np.random.default_rng(1).beta(0.5, 3, 10**6)})
    return Case(us.beta(schema), ("x",), lambda run: table)


def missing() -> Case:
    """Return five columns, three of which may be missing."""
    confidential, model = {"role": "confidential"}, {"missing": "model"}
    levels = confidential | {"type": "categorical", "levels": ["low", "middle", "high"]}
    columns = {
        "pay": SHARE | model | {"bounds": [0, 200]},
        "hours": confidential | model | {"type": "integer", "bounds": [0, 99]},
        "grade": levels | model,
        "region": levels,
        "age": confidential | {"type": "integer", "bounds": [16, 80]},
    }
    schema = us.Schema.from_dict({"table": {"size": 7500}, "columns": columns})
    generator = np.random.default_rng(3)
    grade, region = generator.integers(3, size=(2, 7500))
    names = np.array(["low", "middle", "high"])
    full = pd.DataFrame(
        {
            "pay": (8 + 6 * grade) * generator.lognormal(0, 0.5, 7500),
            "hours": np.rint(generator.normal(34 + 2 * region, 8, 7500)).clip(0, 99),
            "grade": names[grade],
            "region": names[region],
            "age": generator.integers(16, 81, 7500),
        }
    )
    full["pay"] = full["pay"].clip(0, 200)
    for column, share in (("pay", 0.1), ("hours", 0.2), ("grade", 0.05)):
        full[column] = full[column].where(generator.random(7500) > share)
    return Case(us.joint(schema), ("pay", "hours"), lambda run: full, pairs=True)


def cases(directory: Path) -> dict[str, Callable[[], Case]]:
    """Return every case by its name."""
    return {
        "beta": beta,
        "cps": lambda: cps(directory),
        "survey": survey,
        "joint-cps": lambda: joint("CPS 2004", directory),
        "joint-ce": lambda: joint("CE 2017", directory),
        "joint-survey": lambda: joint("survey", directory),
        "narrow": lambda: salaries(1e6),
        "wide": lambda: salaries(1e9),
        "million": million,
        "missing": missing,
    }


def measure(
    case: Case, mechanism: us.Mechanism, runs: int, seed: int, *, balanced: bool = False
) -> str:
    """Return a cell of the table."""
    found, seconds = [], []
    for run in range(runs):
        table = case.table(run)
        started = time.monotonic()
        release = us.synthesize(case.model, table, mechanism, balanced=balanced, seed=seed + run)
        seconds.append(time.monotonic() - started)
        found.append(case.judge(table, release.synthetic))
    parts = []
    for name in found[0]:
        distances = [each[name] for each in found]
        error = np.std(distances) / np.sqrt(runs)
        parts.append(f"{name} {np.mean(distances):.4f} ± {error:.4f}")
    took = f"{np.median(seconds):.1f} s, first {seconds[0]:.1f} s"
    return f"{', '.join(parts)} ({took})"


def main() -> None:
    """Print a row for each case and ε."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("case", nargs="+", choices=list(cases(Path())))
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=20_000)
    parser.add_argument("--mechanism", default="summary", choices=["summary", "anchored"])
    parser.add_argument("--epsilon", type=float, nargs="*", default=EPSILONS)
    parser.add_argument("--balanced", action="store_true")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    asked = parser.parse_args()
    for name in asked.case:
        case = cases(asked.data)[name]()
        for epsilon in asked.epsilon:
            mechanism = BY_NAME[asked.mechanism](epsilon=epsilon)  # type: ignore[call-arg]
            found = measure(case, mechanism, asked.runs, asked.seed, balanced=asked.balanced)
            print(f"{name}, ε = {epsilon:g}: {found}", flush=True)


if __name__ == "__main__":
    main()
