"""The joint model of a whole table: utility at several ε, beside the posterior without privacy.

    python benchmarks/joint.py cps_earnings_1992_2004.csv [--runs 5] [--model joint]

The table is the CPS of 2004 (hourly earnings, degree, gender, age; 7986 records). Printed are the
max-ECDF of earnings, and how far the coefficients of gender and degree in a regression of the
logarithm of earnings are from those of the confidential table, relative to them. Add-remove,
NUTS (conditional on convergence), no history. Seeds are fixed; runs whose chains did not converge
are counted.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd

import understudy as us
from understudy.adapters.loading import load_model
from understudy.utility import max_ecdf

YEAR = 2004
EPSILONS = (None, 1.0, 0.5, 0.1)
CONFIDENTIAL = {"role": "confidential"}
SCHEMA = us.Schema.from_dict(
    {
        "table": {"size": 8000},
        "columns": {
            "earnings": CONFIDENTIAL | {"type": "continuous", "bounds": [0, 100]},
            "degree": CONFIDENTIAL | {"type": "categorical", "levels": ["highschool", "bachelor"]},
            "gender": CONFIDENTIAL | {"type": "categorical", "levels": ["female", "male"]},
            "age": CONFIDENTIAL | {"type": "integer", "bounds": [25, 34]},
        },
    }
)


def coefficients(table: pd.DataFrame) -> np.ndarray:
    """Return those of gender and degree in the regression of log earnings on them and on age."""
    predictors = [table["gender"] == "male", table["degree"] == "bachelor", table["age"]]
    design = np.column_stack([np.ones(len(table)), *predictors]).astype(float)
    logarithms = np.log(np.maximum(table["earnings"].to_numpy(), 0.01))
    return np.asarray(np.linalg.lstsq(design, logarithms, rcond=None)[0][1:3])


def main() -> None:
    """Print a row for each ε."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=100)
    parser.add_argument("--model", default="joint")
    parser.add_argument("--epsilon", type=float, nargs="*", default=EPSILONS)
    options = parser.parse_args()
    years = pd.read_csv(options.data)
    table = years[years["year"] == YEAR].drop(columns="year").reset_index(drop=True)
    model, truth = load_model(options.model, schema=SCHEMA), coefficients(table)
    print(
        "| ε | max-ECDF of earnings | gender | degree | seconds a run | largest R-hat | refused |"
    )
    print("|---|---|---|---|---|---|---|")
    for epsilon in options.epsilon:
        mechanism = us.Unweighted() if epsilon is None else us.Anchored(epsilon=epsilon)
        distances, errors, rhats = [], [], []
        started = time.monotonic()
        for seed in range(options.seed, options.seed + options.runs):
            try:
                release = us.synthesize(model, table, mechanism, sampler="nuts", seed=seed)
            except us.Refused:
                continue
            made = release.synthetic
            distances.append(max_ecdf(table["earnings"].to_numpy(), made["earnings"].to_numpy()))
            errors.append(coefficients(made) / truth - 1)
            diagnostics = release.internal.diagnostics
            judged = [*diagnostics["parameters"].values(), *diagnostics["gate"].values()]
            rhats.append(max(each["rhat"] for each in judged))
        cells = [
            f"{np.mean(distances):.3f} ± {np.std(distances):.3f}",
            *(f"{each.mean():+.0%} ± {each.std():.0%}" for each in np.transpose(errors)),
            f"{(time.monotonic() - started) / options.runs:.0f}",
            f"{max(rhats):.3f}",
            f"{options.runs - len(rhats)} of {options.runs}",
        ]
        name = "no privacy" if epsilon is None else f"{epsilon:g}"
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
