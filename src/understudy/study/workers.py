"""Who runs the replicates: this process, several on this machine, or a Dask cluster.

Each way yields finished replicates as they come. None of them changes a result, which depends on
the study's seed and the replicate's number alone. A worker that dies takes down only the replicate
it was working on; that one is run again.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait

from understudy.errors import BadInput, Refused
from understudy.study.arms import ResultRow

Finished = Iterator[tuple[int, "list[ResultRow]"]]

_LARGEST_BREAKDOWNS = 3
"""Breakdowns in a row, without one finished replicate between them, after which a study ends."""
_RETRIES = 3
_CLUSTER_TIMEOUT = "20s"
_KEEP_DYING = (
    "workers died again and again, perhaps for want of memory: finished replicates are kept, so "
    "run the command again with fewer workers."
)


def run_one(number: int, seed: int, sampler: str) -> tuple[int, list[ResultRow]]:
    """Run one replicate: what every kind of worker does."""
    from understudy.study.replicate import replicate

    return number, replicate(number, seed=seed, sampler=sampler)


def in_processes(numbers: Sequence[int], seed: int, sampler: str, *, workers: int) -> Finished:
    """Run the replicates in so many processes of this machine."""
    left = list(numbers)
    breakdowns = 0
    while left:
        processes = pool(min(workers, len(left)))
        try:
            futures = [processes.submit(run_one, number, seed, sampler) for number in left]
            for future in as_completed(futures):
                number, rows = future.result()
                left.remove(number)
                breakdowns = 0
                yield number, rows
        except BrokenProcessPool:
            breakdowns += 1
            if breakdowns >= _LARGEST_BREAKDOWNS:
                raise Refused(_KEEP_DYING) from None
        finally:
            processes.shutdown(wait=False, cancel_futures=True)


def pool(workers: int) -> ProcessPoolExecutor:
    """Return so many worker processes, which end with this one."""
    return ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _begin)


def on_cluster(numbers: Sequence[int], seed: int, sampler: str, *, scheduler: str) -> Finished:
    """Run the replicates on the Dask cluster of that scheduler."""
    try:
        from distributed import Client, KilledWorker, as_completed
    except ImportError:
        raise BadInput(
            "`scheduler` needs Dask, which is not installed: pip install 'understudy[cluster]'."
        ) from None
    try:
        client = Client(scheduler, timeout=_CLUSTER_TIMEOUT, set_as_default=False)
    except (OSError, ValueError):
        raise BadInput(
            f"no Dask scheduler answers at '{scheduler}': start one there (dask scheduler), or use "
            f"`workers`."
        ) from None
    with client:
        futures = [
            client.submit(run_one, number, seed, sampler, pure=False, retries=_RETRIES)
            for number in numbers
        ]
        for future in as_completed(futures, loop=client.loop):
            try:
                yield future.result()
            except KilledWorker:
                raise Refused(_KEEP_DYING) from None
            future.release()


def _begin() -> None:
    """Prepare a worker process, before it imports anything heavy."""
    # XLA takes this for the number of cores. Workers that each use all of them wait for each other.
    os.environ["NPROC"] = "1"
    threading.Thread(target=_follow_parent, daemon=True).start()


def _follow_parent() -> None:
    """End this worker when the process that started it has ended, however that came about."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
