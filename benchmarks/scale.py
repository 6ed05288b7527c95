"""The ladder on real earnings and on a million records: seconds, memory and utility.

    python benchmarks/scale.py [--cps cps_earnings_1992_2004.csv] [--runs 3]

The CPS table is not part of the project; without it, that half is left out and the output says so.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd

import understudy as us

UNIT = {"role": "confidential", "type": "continuous", "bounds": [0, 1]}


def timed(model: us.Model, table: pd.DataFrame, mechanism: us.Mechanism, column: str) -> float:
    """Synthesise once, print what it took, and return the max-ECDF."""
    started = time.monotonic()
    release = us.synthesize(model, table, mechanism)
    seconds = time.monotonic() - started
    distance = float(release.internal.diagnostics["utility"][column]["max_ecdf"])
    stages = [
        round(stage["effective_candidates"])
        for stage in release.internal.diagnostics.get("stages", [])
    ]
    print(f"{mechanism.name:>12}  max-ECDF {distance:.4f}  {seconds:5.1f} s  candidates {stages}")
    return distance


def earnings(path: Path, runs: int) -> None:
    """CPS 2004, beta regression of hourly earnings, no history, ε = 0.5."""
    table = pd.read_csv(path)
    table = table[table["year"] == 2004].drop(columns="year").reset_index(drop=True)
    schema = us.Schema.from_dict(
        {
            "table": {"size": 8000},
            "columns": {
                "earnings": {"role": "confidential", "type": "continuous", "bounds": [0, 80]},
                "degree": {
                    "role": "public",
                    "type": "categorical",
                    "levels": ["highschool", "bachelor"],
                },
                "gender": {"role": "public", "type": "categorical", "levels": ["female", "male"]},
                "age": {"role": "public", "type": "integer", "bounds": [25, 34]},
            },
        }
    )
    model = us.formula("earnings ~ gender + degree + age", family="beta", schema=schema)
    print(f"CPS 2004, n = {len(table)}, {model.dimension} parameters, ε = 0.5 add-remove")
    without = np.mean([timed(model, table, us.Unweighted(), "earnings") for _ in range(runs)])
    private = np.mean(
        [timed(model, table, us.Anchored(epsilon=0.5), "earnings") for _ in range(runs)]
    )
    print(f"difference of the means: {private - without:+.4f}\n")


def million() -> None:
    """A million simulated records under the Beta model, ε = 1."""
    schema = us.Schema.from_dict({"table": {"size": 1_000_000}, "columns": {"x": UNIT}})
    table = pd.DataFrame({"x": np.random.default_rng(0).beta(0.5, 3, 1_000_000)})
    print("Beta model, n = 1,000,000, ε = 1 add-remove")
    timed(us.beta(schema), table, us.Anchored(epsilon=1.0), "x")
    status = Path("/proc/self/status").read_text().splitlines()
    peak = next(line for line in status if line.startswith("VmHWM"))
    print(f"peak memory {int(peak.split()[1]) / 1024**2:.2f} GiB")


def main() -> None:
    """Print both halves."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cps", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    if arguments.cps is None:
        print("CPS: no table given, left out\n")
    else:
        earnings(arguments.cps, arguments.runs)
    million()


if __name__ == "__main__":
    main()
