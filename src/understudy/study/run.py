"""The whole simulation: every replicate that is not on disk yet, then all of them as one table."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.errors import BadInput
from understudy.study import workers as ways
from understudy.study.store import ReplicateStore, StudySettings
from understudy.support.progress import Progress, silent

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

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
    """Run what is missing of the study in the directory, and return every finding, tidily.

    By default there is one worker for each core.
    """
    _check(replicates, seed, sampler, workers, scheduler)
    store = ReplicateStore.open(Path(directory), StudySettings(seed=seed, sampler=sampler))
    kept = {number: store.read(number) for number in range(1, replicates + 1)}
    missing = [number for number, frame in kept.items() if frame is None]
    progress("Replicates", 1 - len(missing) / replicates)
    for done, (number, found) in enumerate(
        _finished(missing, seed, sampler, workers, scheduler), start=1
    ):
        store.write(number, found)
        progress("Replicates", 1 - (len(missing) - done) / replicates)
    return _together(store, replicates)


def _finished(
    missing: Sequence[int], seed: int, sampler: str, workers: int | None, scheduler: str | None
) -> ways.Finished:
    if scheduler is not None and missing:
        return ways.on_cluster(missing, seed, sampler, scheduler=scheduler)
    count = min(workers or os.cpu_count() or 1, len(missing))
    if count > 1:
        return ways.in_processes(missing, seed, sampler, workers=count)
    return ways.in_this_process(missing, seed, sampler)


def _together(store: ReplicateStore, replicates: int) -> pd.DataFrame:
    """Join the replicates in the order of their numbers."""
    import pandas as pd

    frames = [store.read(number) for number in range(1, replicates + 1)]
    whole = [frame for frame in frames if frame is not None]
    if len(whole) < replicates:
        raise BadInput(f"replicates vanished from '{store.directory}' while the study ran.")
    return pd.concat(whole, ignore_index=True)


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
