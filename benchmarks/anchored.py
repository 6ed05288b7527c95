"""Utility of every mechanism with a stated ε at the same ε, beside the posterior without privacy.

    python benchmarks/anchored.py [--replicates 20]

Tables of 2000 records from Beta(0.5, 3); mean max-ECDF over the replicates with its standard error;
add-remove. Seeds are fixed, so the table is reproducible.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pandas as pd

import understudy as us
from understudy.utility import max_ecdf

N = 2000
EPSILONS = (3.0, 1.0, 0.5, 0.1)
HISTORY = {"phi": 0.55 / 3.25, "lambda": 3.25}
COLUMN = {"role": "confidential", "type": "continuous", "bounds": [0, 1]}
SCHEMA = us.Schema.from_dict({"table": {"size": N}, "columns": {"x": COLUMN}})
MODEL = us.beta(SCHEMA)


def mechanisms(epsilon: float) -> dict[str, us.Mechanism]:
    """Return what is compared, by the name of its row."""
    return {
        "no privacy (posterior draw)": us.Unweighted(),
        "anchored, ladder from nothing": us.Anchored(epsilon=epsilon),
        "anchored at a drifted history": us.Anchored(epsilon=epsilon, anchor=HISTORY),
        "censor-uw": us.CensorUw(epsilon=epsilon),
        "censor-w (same data, asymptotic)": us.CensorW(epsilon=epsilon),
        "ph with √n bins": us.PerturbedHistogram(epsilon=epsilon),
    }


def measure(mechanism: us.Mechanism, replicates: int) -> tuple[float, float]:
    """Return the mean max-ECDF and its standard error."""
    distances = []
    for r in range(replicates):
        table = pd.DataFrame({"x": np.random.default_rng(500 + r).beta(0.5, 3, N)})
        release = us.synthesize(MODEL, table, mechanism, seed=r)
        distances.append(max_ecdf(table["x"].to_numpy(), release.synthetic["x"].to_numpy()))
    return float(np.mean(distances)), float(np.std(distances) / np.sqrt(replicates))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--replicates", type=int, default=20)
    replicates = parser.parse_args().replicates
    started = time.monotonic()
    print("| mechanism | " + " | ".join(f"ε = {epsilon:g}" for epsilon in EPSILONS) + " |")
    print("|---|" + "---|" * len(EPSILONS))
    for name in mechanisms(1.0):
        cells = []
        for epsilon in EPSILONS:
            mean, error = measure(mechanisms(epsilon)[name], replicates)
            cells.append(f"{mean:.3f} ± {error:.3f}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    print(f"\n{replicates} replicates in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
