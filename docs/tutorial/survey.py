"""Writes the tables of the tutorial: a simulated employment survey, month by month.

    python survey.py [--records 2000]

2025.csv is the year before, from which the policy is calibrated; 2026-01.csv to 2026-12.csv are the
months that are released. Pay rises by 0.6 % a month, in information by twice as much, and every
person is simulated.
"""

import argparse

import numpy as np
import pandas as pd

SECTORS = ["industry", "information", "services"]
SCHEMA = """\
[table]
size = {records}
[columns.pay]
role = "confidential"
type = "continuous"
bounds = [0, 12000]
[columns.sector]
role = "public"
type = "categorical"
levels = ["industry", "information", "services"]
"""


def month(number: int, records: int, generator: np.random.Generator) -> pd.DataFrame:
    """Return one month of the survey, counted from January 2026."""
    sector = generator.choice(SECTORS, records, p=[0.3, 0.2, 0.5])
    base = pd.Series(sector).map({"industry": 0.27, "information": 0.38, "services": 0.22})
    growth = 1.006 ** (number * (1 + (sector == "information")))
    mean = np.minimum(base.to_numpy() * growth, 0.9)
    pay = 12_000 * generator.beta(8 * mean, 8 * (1 - mean))
    return pd.DataFrame({"pay": pay.round(2), "sector": sector})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=2000)
    records = parser.parse_args().records
    generator = np.random.default_rng(2026)
    month(-6, records, generator).to_csv("2025.csv", index=False)
    for number in range(12):
        month(number, records, generator).to_csv(f"2026-{number + 1:02d}.csv", index=False)
    with open("pay.toml", "w", encoding="utf-8") as file:
        file.write(SCHEMA.format(records=records))
