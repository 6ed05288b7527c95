"""Whole releases of one large table: a beta regression on public columns, and `joint`.

Each is made in a process of its own, with kernels that may have been compiled by an earlier run of
the same part, and written to a directory as a data holder would. Parquet files are streamed.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import understudy as us
from scaling.generated import (
    PREDICTORS,
    people,
    people_schema,
    predicted,
    predicted_schema,
    write,
)
from scaling.measured import MIB, Lines, alone, peak
from understudy.adapters.loading import load_model

REGRESSION_ROWS, JOINT_ROWS = 1_000_000, 10_000_000
FORMULA = "y ~ " + " + ".join(f"g{k}" for k in range(PREDICTORS))


@dataclass(frozen=True)
class Made:
    """What a release took."""

    seconds: float
    """Of the synthesis."""
    memory: int
    """Its bytes beside those of the interpreter and its libraries."""
    written: float
    """Seconds more to draw all rows, as many as records, and to write them and the report."""
    most: int
    """Bytes of both together."""


def regression(rows: int, place: Path, lines: Lines) -> None:
    """Print what a beta regression with ten categorical predictors takes.

    Args:
        rows: Of the table.
        place: Where it is written, and removed again.
        lines: Where the result is kept.
    """
    path = write(place / f"scale-regression-{rows}.parquet", rows, predicted)
    _told(
        "regression", f"beta regression with {PREDICTORS} categorical predictors", path, rows, lines
    )


def joint(rows: int, place: Path, lines: Lines) -> None:
    """Print what `joint` takes for a table of the CPS's shape.

    Args:
        rows: Of the table.
        place: Where it is written, and removed again.
        lines: Where the result is kept.
    """
    path = write(place / f"scale-joint-{rows}.parquet", rows, people)
    _told("joint", "joint model of the CPS's four columns", path, rows, lines)


def _told(part: str, title: str, path: Path, rows: int, lines: Lines) -> None:
    try:
        made = alone(released, part, path, rows)
    finally:
        path.unlink()
    print(
        f"{title}, n = {rows:,}: {made.seconds:.1f} s, {made.memory / MIB:.0f} MiB beside the "
        f"libraries; {made.written:.1f} s more to draw and write {rows:,} rows, "
        f"{made.most / MIB:.0f} MiB in the end\n",
        flush=True,
    )
    lines.add(part, n=rows, **asdict(made))


def released(part: str, path: Path, rows: int) -> Made:
    """Make and write a release by summary."""
    if part == "joint":
        model = load_model("joint", schema=people_schema(rows))
    else:
        model = us.formula(FORMULA, family="beta", schema=predicted_schema(rows))
    before, started = peak(), time.monotonic()
    release = us.synthesize(model, path, us.Summary(epsilon=1.0))
    ended, memory = time.monotonic(), peak() - before
    with tempfile.TemporaryDirectory(dir=path.parent) as directory:
        release.write(Path(directory) / "release")
        written = time.monotonic() - ended
    return Made(ended - started, memory, written, peak() - before)
