"""Rows that are drawn from a release and written, beside rows that are only written.

In turn, a few times each: rows are drawn and dropped; ready-made random values of the same shape
are written, by the same writer in batches of the same size; and both, by `understudy sample`. A
file is removed before the next is begun. Nobody waits for the disk to have it all, as the command
does not: a slow disk would make the writing slower, and not the drawing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

import understudy as us
from scaling.generated import shares_schema
from scaling.measured import MIB, Lines, alone, peak, seconds
from understudy import cli
from understudy.domain import tables
from understudy.synthesis.large import in_batches
from understudy.synthesis.simulation import sample_large

ROWS = 100_000_000
_RECORDS = 100_000
_TIMES = 3
_LESS_TEXT = 10
"""Numbers as text take so much longer to write that fewer rows tell as much."""
_READY = 4
"""Batches of ready-made values that are written again and again."""


@dataclass(frozen=True)
class Drawn:
    """Seconds of each time, and the most memory of all."""

    drawing: list[float]
    writing: list[float]
    both: list[float]
    memory: int
    """Bytes beside those of the interpreter and its libraries."""


def run(rows: int, place: Path, lines: Lines) -> None:
    """Print what drawing takes beside writing, for Parquet and for CSV.

    Args:
        rows: Drawn for Parquet; for CSV a tenth of them.
        place: Where files are written, and removed again.
        lines: Where the results are kept.
    """
    with TemporaryDirectory(dir=place, prefix="scale-sampling-") as directory:
        release = Path(directory) / "release"
        alone(_released, release)
        for suffix, wanted in ((".parquet", rows), (".csv", max(rows // _LESS_TEXT, 1))):
            drawn = alone(timed, release / "public", Path(directory) / f"rows{suffix}", wanted)
            _tell(suffix, wanted, drawn)
            lines.add("sampling", format=suffix[1:], n=wanted, **asdict(drawn))
    print()


def timed(public: Path, path: Path, rows: int) -> Drawn:
    """Draw, write, and do both, in turn."""
    before = peak()

    def drawn() -> us.Synthetic:
        # As little as may be asked for, so that rows come in batches where there are many.
        return sample_large(public, rows=rows, memory="64MiB")

    ready = _ready_made(len(next(iter(in_batches(drawn())))))
    words = ["sample", str(public), "--rows", str(rows), "-o", str(path), "--memory", "64MiB"]

    def both() -> None:
        assert cli.run([*words, "--quiet"]) == 0

    every = [
        (
            seconds(lambda: _drop(drawn())),
            _gone(lambda: tables.write_all(_batches(ready, rows), path), path),
            _gone(both, path),
        )
        for _ in range(_TIMES)
    ]
    drawing, writing, together = np.transpose(every).tolist()
    return Drawn(drawing, writing, together, peak() - before)


def _released(directory: Path) -> None:
    """Write a release of the Beta model to draw from."""
    table = pd.DataFrame({"x": np.random.default_rng(0).beta(0.5, 3, _RECORDS)})
    schema = shares_schema(_RECORDS)
    us.synthesize(us.beta(schema), table, us.Summary(epsilon=1.0), seed=1).write(directory)


def _drop(table: us.Synthetic) -> None:
    for _ in in_batches(table):
        pass


def _gone(work: Callable[[], None], path: Path) -> float:
    """Return the seconds of work that writes a file, which is removed then."""
    taken = seconds(work)
    path.unlink()
    return taken


def _ready_made(rows: int) -> list[pd.DataFrame]:
    generator = np.random.default_rng(0)
    return [pd.DataFrame({"x": generator.beta(0.5, 3, rows)}) for _ in range(_READY)]


def _batches(ready: list[pd.DataFrame], rows: int) -> Iterator[pd.DataFrame]:
    """Yield as many rows in batches as are asked for."""
    for frame in cycle(ready):
        if rows <= 0:
            return
        yield frame if rows >= len(frame) else frame[:rows]
        rows -= len(frame)


def _tell(suffix: str, rows: int, drawn: Drawn) -> None:
    def ratios(of: list[float]) -> str:
        every = [one / other for one, other in zip(of, drawn.writing, strict=True)]
        return f"{np.median(every):.2f} ({min(every):.2f} to {max(every):.2f})"

    print(
        f"{rows:,} rows as {suffix[1:]}: drawing alone {np.median(drawn.drawing):.1f} s, writing "
        f"alone {np.median(drawn.writing):.1f} s, both {np.median(drawn.both):.1f} s, "
        f"{drawn.memory / MIB:.0f} MiB beside the libraries"
    )
    print(f"  drawing takes {ratios(drawn.drawing)} times as long as writing", flush=True)
    print(f"  both take {ratios(drawn.both)} times as long as writing", flush=True)
