"""Replicates that take no time, for tests of who runs them; a worker process can import them."""

import os
from pathlib import Path

from understudy.study.arms import ResultRow

MARK = "UNDERSTUDY_TEST_MARK"
"""Environment variable that names the file which the first worker to die leaves behind."""


def quick(number, seed, sampler):
    """Return a replicate that is known beforehand."""
    return number, [ResultRow(number, "data", 1.0, 1.0, sampler, seed + number / 7)]


def quick_but_one_dies(number, seed, sampler):
    """Do the same, except that the first process to get here dies."""
    try:
        Path(os.environ[MARK]).touch(exist_ok=False)
    except FileExistsError:
        return quick(number, seed, sampler)
    os._exit(9)


def die(number, seed, sampler):
    """Die at once."""
    os._exit(9)
