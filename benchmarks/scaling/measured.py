"""What is measured everywhere: memory, bandwidths, and the lines that are kept of them."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import ParamSpec, TypeVar

import numpy as np

MIB, GIB = 2**20, 2**30
_READ = 8 * MIB

_Result = TypeVar("_Result")
_Asked = ParamSpec("_Asked")


@dataclass(frozen=True)
class Lines:
    """Where what was measured is kept: a line of JSON each, in a file if there is one."""

    path: Path | None = None

    def add(self, part: str, **values: object) -> None:
        """Add a line, as soon as its values are known: a run that is stopped keeps the others."""
        if self.path is None:
            return
        with self.path.open("a") as file:
            file.write(json.dumps({"part": part} | values) + "\n")


def alone(
    work: Callable[_Asked, _Result], /, *asked: _Asked.args, **named: _Asked.kwargs
) -> _Result:
    """Return the result of some work in a process of its own, whose memory nothing else has used.

    The process is started anew, and has imported what the work's own file imports.
    """
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as processes:
        return processes.submit(work, *asked, **named).result()


def peak() -> int:
    """Return the most bytes that this process has had in memory."""
    status = Path("/proc/self/status").read_text("utf-8").splitlines()
    return 1024 * int(next(line for line in status if line.startswith("VmHWM")).split()[1])


def seconds(work: Callable[[], object]) -> float:
    """Return how long some work takes."""
    started = time.monotonic()
    work()
    return time.monotonic() - started


def memory_bandwidth() -> float:
    """Return how many bytes per second a copy reads and writes, the best of a few times."""
    block = np.ones(2**25)
    other = np.empty_like(block)
    return 2 * block.nbytes / min(seconds(lambda: np.copyto(other, block)) for _ in range(5))


def disk_bandwidth(path: Path) -> float:
    """Return how many bytes of a file are read per second that the system does not hold.

    The file is written out, and the system is asked to forget its pages. What a disk's own cache,
    or the machine beneath a virtual one, still holds cannot be told apart from a fast disk.
    """
    block = bytearray(_READ)
    with path.open("rb", buffering=0) as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        started, read_bytes = time.monotonic(), 0
        while some := file.readinto(block):
            read_bytes += some
        return read_bytes / (time.monotonic() - started)
