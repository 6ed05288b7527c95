"""Tables of growing size: seconds, memory and utility.

    python benchmarks/scale.py [--cps cps_earnings_1992_2004.csv] [--runs 3]
                               [--largest 1e8] [--place DIRECTORY]

The ladder on real earnings and on a million records; then sums over tables that are streamed from
Parquet files, which are written to a directory and removed again.

The CPS table is not part of the project; without it, that part is left out and the output says so.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import understudy as us
from understudy.domain.parts import parts_of
from understudy.domain.records import Streamed
from understudy.inference.contribution import UNIT as UNITS
from understudy.inference.contribution import ScoreContribution
from understudy.models.record.declared import as_declared
from understudy.synthesis.reading import Reading

_STEADY = 100_000
"""Records below which what does not grow with them takes most of the time."""
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
    print(f"peak memory {peak() / 2**30:.2f} GiB\n")


def growing(largest: int, place: Path) -> None:
    """The Beta model by summary from Parquet, n = 10⁴ up to the largest, each by itself."""
    print("Beta model by summary from Parquet, ε = 1 add-remove, each n in a process of its own")
    print(f"{'n':>13}  {'seconds':>8}  {'passes':>8}  {'Arrow':>8}  {'peak less start':>15}")
    sizes = [10**k for k in range(4, 19) if 10**k <= largest]
    seconds = []
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as processes:
        for n in sizes:
            path = place / f"scale-{n}.parquet"
            write(path, n)
            taken = processes.submit(synthesised, path, n).result()
            path.unlink()
            seconds.append(taken.seconds)
            print(
                f"{n:>13,}  {taken.seconds:8.1f}  {taken.passes:8.2f}  {taken.arrow:8.2f}  "
                f"{taken.memory / 2**20:11.0f} MiB"
            )
    many = [k for k, n in enumerate(sizes) if n >= _STEADY]
    if len(many) > 1:
        exponent, _ = np.polyfit(np.log(sizes)[many], np.log(seconds)[many], 1)
        print(f"seconds grow like n to the power of {exponent:.2f} from {_STEADY:,} records up")
    print(f"copying memory: {bandwidth() / 2**30:.1f} GiB per second\n")


@dataclass(frozen=True)
class Taken:
    """What one synthesis took."""

    seconds: float
    passes: float
    """Seconds of a pass over the table for the scores, kernels compiled."""
    arrow: float
    """Seconds in which Arrow reads the same column in the same batches and adds it up."""
    memory: int
    """Bytes beside those of the interpreter and its libraries."""


def write(path: Path, rows: int) -> None:
    """Write a table, a million rows at a time."""
    generator = np.random.default_rng(0)
    with pq.ParquetWriter(path, pa.schema([("x", pa.float64())])) as file:
        for start in range(0, rows, 1_000_000):
            values = generator.beta(0.5, 3, min(1_000_000, rows - start))
            file.write_table(pa.table({"x": values}))


def synthesised(path: Path, n: int) -> Taken:
    """Synthesise a file once, then time a pass over it beside Arrow's."""
    schema = us.Schema.from_dict({"table": {"size": n}, "columns": {"x": UNIT}})
    model = us.beta(schema)
    before, started = peak(), time.monotonic()
    us.synthesize(model, path, us.Summary(epsilon=1.0), rows=100_000)
    seconds, memory = time.monotonic() - started, peak() - before
    reading = Reading.within("1GiB")
    parts, batch = parts_of([path], schema), reading.batch(1)
    records = Streamed.checked(parts, schema, batch=batch, run=reading.run, seed=0)
    # What a pass costs does not depend on where scores are taken, nor in which directions.
    scores = ScoreContribution(
        as_declared(model), np.zeros(2), np.eye(2), np.zeros(2), length=2 * UNITS
    )
    scores.total(records.shown)
    started = time.monotonic()
    records.total(scores.total)
    passed, started = time.monotonic() - started, time.monotonic()
    with pq.ParquetFile(path) as file:
        sum(pc.sum(each.column(0)).as_py() for each in file.iter_batches(batch))
    return Taken(seconds, passed, time.monotonic() - started, memory)


def peak() -> int:
    """Return the most bytes that this process has had in memory."""
    status = Path("/proc/self/status").read_text("utf-8").splitlines()
    return 1024 * int(next(line for line in status if line.startswith("VmHWM")).split()[1])


def bandwidth() -> float:
    """Return how many bytes per second memory copies, the best of a few times."""
    block = np.ones(2**25)
    other = np.empty_like(block)
    best = np.inf
    for _ in range(5):
        started = time.monotonic()
        other[:] = block
        best = min(best, time.monotonic() - started)
    return 2 * block.nbytes / best


def main() -> None:
    """Print all parts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cps", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--largest", type=float, default=1e7)
    parser.add_argument("--place", type=Path, default=Path())
    arguments = parser.parse_args()
    if arguments.cps is None:
        print("CPS: no table given, left out\n")
    else:
        earnings(arguments.cps, arguments.runs)
    million()
    growing(int(arguments.largest), arguments.place)


if __name__ == "__main__":
    main()
