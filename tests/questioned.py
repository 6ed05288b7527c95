"""A schema with a column of each kind, and simulated records to ask about."""

from __future__ import annotations

import numpy as np

from understudy.domain.schema import Schema
from understudy.domain.tables import Columns

SCHEMA = Schema.from_dict(
    {
        "columns": {
            "pay": {
                "role": "confidential",
                "type": "continuous",
                "bounds": [0, 1e6],
                "missing": "model",
            },
            "visits": {"role": "confidential", "type": "count", "bounds": [0, 500]},
            "age": {"role": "public", "type": "integer", "bounds": [0, 99]},
            "job": {
                "role": "confidential",
                "type": "categorical",
                "levels": ["x", "y", "z"],
                "missing": "model",
            },
            "owner": {"role": "confidential", "type": "binary", "levels": ["no", "yes"]},
            "hours a week": {"role": "public", "type": "continuous", "bounds": [0, 60]},
            "id": {"role": "unit"},
            "notes": {"role": "ignore"},
        },
        "table": {"rows_per_unit": 3},
    }
)


def records(rng: np.random.Generator, n: int, *, gaps: bool = False) -> Columns:
    """Return coded columns as `encode` gives them; with gaps, a fifth of pay and job is missing."""
    age = rng.integers(20, 60, n).astype(float)
    job = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    hours = rng.uniform(10, 50, n)
    columns: Columns = {
        "pay": np.exp(7 + 0.02 * age + 0.5 * (job == 2) + rng.normal(0, 0.4, n)),
        "visits": rng.poisson(np.exp(0.3 + 0.02 * age - 0.4 * (job == 1))).astype(float),
        "age": age,
        "job": job,
        "owner": (rng.random(n) < 1 / (1 + np.exp(-(age - 40) / 10))).astype(np.int64),
        "hours a week": hours,
    }
    if gaps:
        columns["pay"][rng.random(n) < 0.2] = np.nan
        columns["job"] = np.where(rng.random(n) < 0.2, -1, job)
    return columns
