"""One worker against two: processes of a real Dask cluster on this machine.

Both clusters stand by at once, and passes over the same files are timed in turn, so that what else
the machine does falls on both. The first pass of each compiles kernels, and is not counted.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

import numpy as np

import understudy as us
from scaling.generated import CHUNK, shares, shares_schema, write_parts
from scaling.growing import scores_of
from scaling.measured import Lines, seconds
from understudy.domain.parts import parts_of
from understudy.domain.reading import MEMORY, Reading
from understudy.domain.records import Records, Streamed
from understudy.domain.table_files import files_of
from understudy.support.cluster import Cluster

if TYPE_CHECKING:
    from understudy.inference.contribution import ScoreContribution

ROWS = 10_000_000
_WORKERS = (1, 2)
_TIMES = 5


def run(rows: int, place: Path, lines: Lines) -> None:
    """Print how long a pass takes with each number of workers, and the ratio.

    Args:
        rows: Of the table, which is written in parts of a million.
        place: Where it is written, and removed again.
        lines: Where the result is kept.
    """
    folder = write_parts(place / f"scale-parts-{rows}", rows, max(rows // CHUNK, 2), shares)
    try:
        with ExitStack() as clusters:
            every = [_records(folder, rows, workers, clusters) for workers in _WORKERS]
            taken = _timed(every, scores_of(us.beta(shares_schema(rows))))
    finally:
        rmtree(folder)
    print(f"a pass over {rows:,} records in {len(every[0].parts)} files, by a cluster's workers")
    for workers, own in zip(_WORKERS, np.transpose(taken), strict=True):
        print(f"{workers} of them: {np.median(own):.2f} s ({own.min():.2f} to {own.max():.2f})")
        lines.add("cluster", n=rows, workers=workers, seconds=own.tolist())
    ratios = [one / two for one, two in taken]
    print(
        f"one takes {np.median(ratios):.2f} times as long as two ({min(ratios):.2f} to "
        f"{max(ratios):.2f})\n"
    )


def _records(folder: Path, rows: int, workers: int, clusters: ExitStack) -> Streamed:
    """Return a table that so many workers read, which have checked it once."""
    from distributed import LocalCluster

    cluster = clusters.enter_context(
        LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0"
        )
    )
    schema = shares_schema(rows)
    reading = replace(Reading.within(MEMORY), run=Cluster(cluster.scheduler_address))
    parts = parts_of([path.absolute() for path in files_of(folder)], schema)
    return Streamed.checked(parts, schema, batch=reading.batch(1), run=reading.run, seed=0)


def _timed(every: list[Streamed], scores: ScoreContribution) -> list[tuple[float, float]]:
    """Return the seconds of passes, in turn."""

    def passed(records: Records) -> float:
        return seconds(lambda: records.total(scores.total))

    for records in every:
        passed(records)
    return [(passed(every[0]), passed(every[1])) for _ in range(_TIMES)]
