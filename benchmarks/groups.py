"""A varying-intercept model with 50 groups and 10,000 records, synthesised under `anchored`.

    python benchmarks/groups.py [--family beta] [--epsilon 1]

The table is simulated. Printed are the seconds, the convergence of the last stage's chains and the
max-ECDF of the outcome.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pandas as pd

import understudy as us

RECORDS, GROUPS = 10_000, 50
LEVELS = [f"state {number:02d}" for number in range(GROUPS)]
SCHEMA = us.Schema.from_dict(
    {
        "table": {"size": RECORDS},
        "columns": {
            "y": {"role": "confidential", "type": "continuous", "bounds": [0, 1]},
            "x": {"role": "public", "type": "continuous", "bounds": [0, 1]},
            "state": {"role": "public", "type": "categorical", "levels": LEVELS},
        },
    }
)


def table(generator: np.random.Generator) -> pd.DataFrame:
    """Simulate a beta regression whose states differ."""
    state, x = generator.integers(GROUPS, size=RECORDS), generator.random(RECORDS)
    mean = 1 / (1 + np.exp(1 - x - generator.normal(0, 0.5, GROUPS)[state]))
    y = generator.beta(6 * mean, 6 * (1 - mean))
    return pd.DataFrame({"y": y, "x": x, "state": np.array(LEVELS)[state]})


def main() -> None:
    """Synthesise once and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--family", default="beta")
    parser.add_argument("--epsilon", type=float, default=1.0)
    asked = parser.parse_args()
    model = us.formula("y ~ x + (1 | state)", family=asked.family, schema=SCHEMA)
    started = time.monotonic()
    release = us.synthesize(
        model, table(np.random.default_rng(0)), us.Anchored(epsilon=asked.epsilon)
    )
    diagnostics = release.internal.diagnostics
    rhat = max(np.max(each["rhat"]) for each in diagnostics["parameters"].values())
    print(
        f"{asked.family}, {model.dimension} parameters, ε = {asked.epsilon:g}: "
        f"{time.monotonic() - started:.0f} s in {release.guarantee.stages} stages, "
        f"largest R-hat {rhat:.4f}, max-ECDF {diagnostics['utility']['y']['max_ecdf']:.4f}"
    )


if __name__ == "__main__":
    main()
