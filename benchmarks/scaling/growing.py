"""Tables of growing size: the Beta model by summary, streamed from Parquet.

Each size has a process of its own. After the synthesis, a pass over the table for the scores is
timed beside Arrow, which reads the same column in batches of the same size and adds it up: in turn,
a few times, and the middle is told. The pages of these files are in the system's memory where they
fit. How fast the disk is, is measured on the largest file once its pages were forgotten.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

import understudy as us
from scaling.generated import shares, shares_schema, write
from scaling.measured import (
    GIB,
    MIB,
    Lines,
    alone,
    disk_bandwidth,
    memory_bandwidth,
    peak,
    seconds,
)
from understudy.domain.parts import parts_of
from understudy.domain.reading import MEMORY, Reading
from understudy.domain.records import Streamed
from understudy.inference.contribution import UNIT, ScoreContribution
from understudy.models.record.declared import as_declared

STEADY = 100_000
"""Records below which what does not grow with them takes most of the time."""
_VALUE = 8
"""Bytes of a record's one number: in a file too, since random numbers cannot be compressed."""
_TIMES = 3
"""How often a pass, and Arrow's, is timed."""


@dataclass(frozen=True)
class Taken:
    """What one synthesis took."""

    n: int
    seconds: float
    memory: int
    """Bytes beside those of the interpreter and its libraries."""
    passed: float
    """Seconds of a pass over the table for the scores, kernels compiled."""
    arrow: float
    """Seconds in which Arrow reads the same column in the same batches and adds it up."""


@dataclass(frozen=True)
class Bandwidths:
    """Bytes per second of the machine."""

    memory: float
    disk: float


def run(largest: int, place: Path, lines: Lines) -> None:
    """Print a row for each size, how the seconds grow, and what the last pass used of the machine.

    Args:
        largest: Records of the largest table.
        place: Where tables are written, and removed again.
        lines: Where rows are kept.
    """
    print("Beta model by summary from Parquet, ε = 1 add-remove, each n in a process of its own")
    print(
        f"{'n':>13}  {'seconds':>8}  {'peak less start':>15}  {'pass':>8}  {'Arrow':>8}  "
        f"{'times':>6}  {'bytes/s':>12}"
    )
    sizes = [10**k for k in range(4, 19) if 10**k <= largest]
    every: list[Taken] = []
    for n in sizes:
        path = write(place / f"scale-{n}.parquet", n, shares)
        try:
            every.append(alone(synthesised, path, n))
            _print(every[-1])
            lines.add("growing", **asdict(every[-1]))
            if n == sizes[-1]:
                _compare(every[-1], Bandwidths(memory_bandwidth(), disk_bandwidth(path)), lines)
        finally:
            path.unlink()
    _tell_growth(every, lines)


def synthesised(path: Path, n: int) -> Taken:
    """Synthesise a file once, then time passes over it beside Arrow's."""
    schema = shares_schema(n)
    model = us.beta(schema)
    before, started = peak(), time.monotonic()
    us.synthesize(model, path, us.Summary(epsilon=1.0), rows=100_000)
    taken, memory = time.monotonic() - started, peak() - before
    reading = Reading.within(MEMORY)
    batch = reading.batch(1)
    records = Streamed.checked(
        parts_of([path], schema), schema, batch=batch, run=reading.run, seed=0
    )
    scores = scores_of(model)
    # The first pass compiles kernels.
    records.total(scores.total)
    times = [
        (seconds(lambda: records.total(scores.total)), seconds(lambda: added(path, batch)))
        for _ in range(_TIMES)
    ]
    passed, arrow = np.median(times, axis=0).tolist()
    return Taken(n, taken, memory, passed, arrow)


def scores_of(model: us.Model) -> ScoreContribution:
    """Return scores of the Beta model, whose pass costs the same wherever they are taken."""
    return ScoreContribution(
        as_declared(model), np.zeros(2), np.eye(2), np.zeros(2), length=2 * UNIT
    )


def added(path: Path, batch: int) -> float:
    """Return the sum of a file's first column, by Arrow alone."""
    with pq.ParquetFile(path) as file:
        return sum(pc.sum(each.column(0)).as_py() for each in file.iter_batches(batch))


def exponent(sizes: list[int], taken: list[float]) -> float | None:
    """Return the power of n by which seconds grow, by least squares of logarithms.

    None where fewer than two sizes are large enough for it.
    """
    many = [k for k, n in enumerate(sizes) if n >= STEADY]
    if len(many) < 2:
        return None
    return float(np.polyfit(np.log(sizes)[many], np.log(taken)[many], 1)[0])


def _print(taken: Taken) -> None:
    print(
        f"{taken.n:>13,}  {taken.seconds:8.1f}  {taken.memory / MIB:11.0f} MiB  "
        f"{taken.passed:8.3f}  {taken.arrow:8.3f}  {taken.passed / taken.arrow:6.2f}  "
        f"{_VALUE * taken.n / taken.passed / GIB:8.2f} GiB",
        flush=True,
    )


def _tell_growth(every: list[Taken], lines: Lines) -> None:
    sizes = [taken.n for taken in every]
    for what, values in (
        ("seconds", [taken.seconds for taken in every]),
        ("seconds of a pass", [taken.passed for taken in every]),
    ):
        power = exponent(sizes, values)
        if power is not None:
            print(f"{what} grow like n to the power of {power:.2f} from {STEADY:,} records up")
            lines.add("exponent", what=what, power=power)
    print()


def _compare(taken: Taken, machine: Bandwidths, lines: Lines) -> None:
    """Print the bytes per second of the largest table's passes beside those of the machine."""
    ours, arrow = (_VALUE * taken.n / each for each in (taken.passed, taken.arrow))
    print(
        f"bytes per second, n = {taken.n:,}: a pass {ours / GIB:.2f} GiB, Arrow "
        f"{arrow / GIB:.2f} GiB; copying memory {machine.memory / GIB:.1f} GiB, reading the file "
        f"from the disk {machine.disk / GIB:.2f} GiB"
    )
    print(
        f"a pass uses {ours / machine.memory:.1%} of memory's bandwidth and "
        f"{ours / machine.disk:.0%} of the disk's"
    )
    lines.add("bandwidth", n=taken.n, passed=ours, arrow=arrow, **asdict(machine))
