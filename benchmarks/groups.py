"""A varying-intercept model with 50 groups and 10,000 records.

    python benchmarks/groups.py [--family beta] [--epsilon 1] [--mechanism summary]

The table is simulated. Printed are the seconds, the rounds or stages, and the max-ECDF of the
outcome.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pandas as pd

import understudy as us
from understudy.mechanisms import BY_NAME

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
    parser.add_argument("--mechanism", default="summary", choices=["summary", "anchored"])
    asked = parser.parse_args()
    model = us.formula("y ~ x + (1 | state)", family=asked.family, schema=SCHEMA)
    mechanism = BY_NAME[asked.mechanism](epsilon=asked.epsilon)  # type: ignore[call-arg]
    started = time.monotonic()
    release = us.synthesize(model, table(np.random.default_rng(0)), mechanism)
    print(
        f"{asked.family}, {model.dimension} parameters, {mechanism.name}, ε = {asked.epsilon:g}: "
        f"{time.monotonic() - started:.1f} s in {release.guarantee.stages} stages, "
        f"max-ECDF {release.internal.diagnostics['utility']['y']['max_ecdf']:.4f}"
    )


if __name__ == "__main__":
    main()
