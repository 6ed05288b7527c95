"""How long does a calibration take that tries sixty settings?

    python benchmarks/sweep.py [--settings 60] [--data ../shared/data]

The regression of hourly earnings on the CPS of 1992, as `understudy calibrate` tries it: `summary`
at so many ε between 0.05 and 10, at each one release from nothing and five that follow each other,
and the model without privacy beside them. Seconds count compilation, but not imports and reading.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd

import understudy as us
from understudy.domain.tables import decode, encode
from understudy.periods.calibration.sweep import Sweep, settings
from understudy.privacy.guarantee import Adjacency


def sweep_of(data: Path) -> Sweep:
    """Return the reference with its model."""
    frame = pd.read_csv(data / "cps_earnings_1992_2004.csv")
    frame = frame[frame["year"] == 1992].drop(columns="year")
    columns = {
        "earnings": {"role": "confidential", "type": "continuous", "bounds": [0, 100]},
        "age": {"role": "public", "type": "integer", "bounds": [25, 34]},
        "degree": {
            "role": "public",
            "type": "categorical",
            "levels": ["bachelor", "highschool"],
        },
        "gender": {"role": "public", "type": "categorical", "levels": ["female", "male"]},
    }
    schema = us.Schema.from_dict({"table": {"size": len(frame)}, "columns": columns})
    return Sweep(
        model=us.formula("earnings ~ degree + gender + age", family="beta", schema=schema),
        schema=schema,
        table=frame,
        measured=decode(encode(frame, schema), schema),
        theta=None,
        adjacency=Adjacency.ADD_REMOVE,
        rows=None,
        balanced=False,
        draws=5,
        seed=0,
    )


def main() -> None:
    """Time the sweep."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--settings", type=int, default=60)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    wanted = parser.parse_args()
    sweep = sweep_of(wanted.data)
    epsilons = np.geomspace(0.05, 10, wanted.settings).round(4).tolist()
    tried = settings(
        sweep.schema, sweep.model, public=True, epsilons=epsilons, mechanisms=["summary"]
    )
    start = time.perf_counter()
    _, outcomes = sweep.run(tried, lambda share: None)
    seconds = time.perf_counter() - start
    print(f"{len(outcomes)} settings in {seconds:.0f} s, {seconds / len(outcomes):.1f} s a setting")
    for outcome in outcomes[:: max(len(outcomes) // 6, 1)]:
        print(f"  ε = {outcome.setting.epsilon:g}: distance {outcome.distance:.4f}")


if __name__ == "__main__":
    main()
