"""A year of releases under one policy, and a jump of twelve years: how close do they stay?

    python benchmarks/year.py                       twelve months, n = 10,000, with drift
    python benchmarks/year.py cps_earnings.csv      1992 calibrates, 2004 is released

Every release goes through a policy and a ledger, as on the command line. The first part repeats the
year and compares December with January; the second compares with the same model's posterior without
privacy.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import understudy as us
from understudy.periods.calibration import Calibration, calibrate
from understudy.periods.pending import PendingRelease
from understudy.synthesis.large import whole
from understudy.utility import max_ecdf

RECORDS = 10_000
MECHANISM = "summary"
PAY = """\
[table]
size = 10000
[columns.pay]
role = "confidential"
type = "continuous"
bounds = [0, 200]
"""
CPS = """\
[table]
size = 8000
[columns.earnings]
role = "confidential"
type = "continuous"
bounds = [0, 100]
"""


def month(number: int, generator: np.random.Generator) -> pd.DataFrame:
    """Pay rises by 1 % a month, and its spread with it."""
    pay = 200 * generator.beta(2.0 * 1.01**number, 8.0 * 0.995**number, RECORDS)
    return pd.DataFrame({"pay": pay})


def _calibrated(reference: pd.DataFrame, schema: Path, epsilon: float, **terms: Any) -> Calibration:
    """Calibrate the beta model, and write the policy beside its schema."""
    model = us.beta(us.Schema.load(schema))
    calibration = calibrate(model, reference, epsilon=epsilon, mechanisms=[MECHANISM], **terms)
    calibration.write(schema.parent / "POLICY.toml", schema=schema)
    return calibration


def year(epsilon: float, place: Path, seed: int) -> list[float]:
    """Calibrate on last December, release twelve months, and return each month's max-ECDF."""
    generator = np.random.default_rng(seed)
    (place / "pay.toml").write_text(PAY)
    _calibrated(
        month(-1, generator),
        place / "pay.toml",
        epsilon,
        reference_is="confidential",
        draws=2,
        population="employees",
        seed=seed,
    )
    us.Ledger.create(
        place / "ledger.db", budget=12 * epsilon, adjacency="add-remove", population="employees"
    )
    distances = []
    for number in range(12):
        table = month(number, generator)
        period = f"2026-{number + 1:02d}"
        pending = PendingRelease.of(place / "POLICY.toml", period, place / "ledger.db")
        release = pending.release(table)
        release.write(place / period)
        assert str(release.guarantee.kind) == "strict"
        assert release.guarantee.epsilon is not None
        distances.append(max_ecdf(table["pay"], release.synthetic["pay"]))
    ledger = us.Ledger.open(place / "ledger.db")
    assert ledger.spent().epsilon == 12 * epsilon, "the ledger has what was released"
    assert ledger.left() == 0
    return distances


def twelve_months(epsilon: float, repetitions: int) -> None:
    """Repeat the year and print each month's mean."""
    began = time.perf_counter()
    years = []
    for seed in range(repetitions):
        with tempfile.TemporaryDirectory() as place:
            years.append(year(epsilon, Path(place), seed))
    means, spreads = np.mean(years, axis=0), np.std(years, axis=0, ddof=1)
    print(f"twelve months, n = {RECORDS:,}, ε = {epsilon:g} a month, {repetitions} repetitions")
    for number, (mean, spread) in enumerate(zip(means, spreads, strict=True), start=1):
        print(f"  2026-{number:02d}   max-ECDF {mean:.4f}   sd {spread:.4f}")
    print(f"  December minus January: {means[-1] - means[0]:+.4f} (at most 0.01 is wanted)")
    print(f"  {time.perf_counter() - began:.0f} s")


def jump(file: Path, epsilon: float, runs: int) -> None:
    """Calibrate on 1992, release 2004."""
    both = pd.read_csv(file)
    tables = {year: both.loc[both["year"] == year, ["earnings"]] for year in (1992, 2004)}
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        (place / "cps.toml").write_text(CPS)
        calibration = _calibrated(
            tables[1992],
            place / "cps.toml",
            epsilon,
            reference_is="public",
            draws=3,
            population="workers",
            budget=epsilon,
        )
        print(f"CPS, policy of 1992 ({calibration.chosen.setting}), 2004 at ε = {epsilon:g}")
        model = us.beta(us.Schema.load(place / "cps.toml"))
        plain = us.synthesize(model, tables[2004], us.Unweighted(), tables=runs)
        without = [max_ecdf(tables[2004]["earnings"], whole(t)["earnings"]) for t in plain.tables]
        private = []
        for run in range(runs):
            ledger = place / f"{run}.db"
            us.Ledger.create(ledger, budget=epsilon, adjacency="add-remove", population="workers")
            pending = PendingRelease.of(place / "POLICY.toml", "2004", ledger)
            release = pending.release(tables[2004])
            assert str(release.guarantee.kind) == "strict"
            private.append(max_ecdf(tables[2004]["earnings"], release.synthetic["earnings"]))
    print(f"  without privacy   {np.mean(without):.4f}   {np.round(without, 4)}")
    print(f"  released          {np.mean(private):.4f}   {np.round(private, 4)}")
    print(f"  difference        {np.mean(private) - np.mean(without):+.4f} (0.02 is wanted)")
    print(f"  {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cps", nargs="?", type=Path)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    if given.cps is None:
        twelve_months(given.epsilon, given.repetitions)
    else:
        jump(given.cps, given.epsilon, given.runs)
