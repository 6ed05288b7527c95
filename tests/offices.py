"""An office that releases a table of pay every month, and what it types."""

import numpy as np
import pandas as pd

import understudy as us
from settling import settled

SCHEMA = """\
[table]
size = 120
[columns.pay]
role = "confidential"
type = "continuous"
bounds = [0, 100]
"""


def write_tables(place, names, *, drift=0.0):
    """Write a schema, and a table for each name."""
    generator = np.random.default_rng(0)
    for number, name in enumerate(names):
        pay = 100 * generator.beta(2 + drift * number, 5, 120)
        pd.DataFrame({"pay": pay}).to_csv(place / f"{name}.csv", index=False)
    (place / "pay.toml").write_text(SCHEMA)
    return place


def calibrated(place, **changes):
    """Calibrate on the reference of a place."""
    given = {
        "reference_is": "public",
        "schema": place / "pay.toml",
        "model": "beta",
        "mechanisms": ["anchored"],
        "draws": 2,
        "population": "<b>staff</b>",
    }
    return settled(place / "reference.csv", **(given | changes))


def arguments(office, period, *more, table=1, ledger="ledger.db", policy="POLICY.toml"):
    """Return the command that releases a period."""
    return [
        "release", str(office / f"{table}.csv"), "--policy", str(office / policy),
        "--period", period, "--ledger", str(office / ledger), "--out", str(office / period),
        "--quiet", *more,
    ]  # fmt: skip


def entries(office):
    return us.Ledger.open(office / "ledger.db").entries()
