"""The simulation: every replicate that is not on disk yet, then all of them as one table."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from understudy.errors import BadInput
from understudy.study import workers as ways
from understudy.study.store import ReplicateStore, StudySettings
from understudy.support.progress import Progress, silent

SAMPLERS = ("quadrature", "nuts")
LARGEST_REPLICATES = 9999


def run_study(
    directory: str | os.PathLike[str],
    *,
    replicates: int,
    seed: int,
    sampler: str = "quadrature",
    workers: int | None = None,
    scheduler: str | None = None,
    progress: Progress = silent,
) -> pd.DataFrame:
    """Run what is missing of the study in the directory, and return every result, tidily.

    By default there is one worker for each core.
    """
    _check(replicates, seed, sampler, workers, scheduler)
    store = ReplicateStore.open(Path(directory), StudySettings(seed=seed, sampler=sampler))
    missing = [number for number in range(1, replicates + 1) if store.read(number) is None]
    progress("Replicates", 1 - len(missing) / replicates)
    finished = _finished(missing, seed, sampler, workers, scheduler)
    for done, (number, rows) in enumerate(finished, start=1):
        store.write(number, rows)
        progress("Replicates", 1 - (len(missing) - done) / replicates)
    frames = [store.read(number) for number in range(1, replicates + 1)]
    if any(frame is None for frame in frames):
        raise BadInput(f"replicates vanished from '{store.directory}' while the study ran.")
    return pd.concat(frames, ignore_index=True)


def _finished(
    missing: Sequence[int], seed: int, sampler: str, workers: int | None, scheduler: str | None
) -> ways.Finished:
    if scheduler is not None and missing:
        return ways.on_cluster(missing, seed, sampler, scheduler=scheduler)
    count = min(workers or os.cpu_count() or 1, len(missing))
    if count > 1:
        return ways.in_processes(missing, seed, sampler, workers=count)
    return ways.in_this_process(missing, seed, sampler)


def _check(
    replicates: int, seed: int, sampler: str, workers: int | None, scheduler: str | None
) -> None:
    if not 1 <= replicates <= LARGEST_REPLICATES:
        raise BadInput(f"`replicates` must be from 1 to {LARGEST_REPLICATES:,}, not {replicates}.")
    if not 0 <= seed < 2**63:
        raise BadInput(f"`seed` must be a whole number from 0 to 2^63 − 1, not {seed}.")
    if sampler not in SAMPLERS:
        raise BadInput(f"`sampler` must be quadrature or nuts, not '{sampler}'.")
    if workers is not None and workers < 1:
        raise BadInput(f"`workers` must be 1 or more, not {workers}.")
    if workers is not None and scheduler is not None:
        raise BadInput("`workers` and `scheduler` were both given: leave out one of them.")
