"""Work on several things at once, by the workers of a Dask cluster.

What a worker returns is brought back to the one who asked; what it read stays where it is. A worker
that dies is replaced by another one: the same work on the same thing has the same result. That is
so where all compute alike, to the last bit, so a worker with other code, other libraries or another
kind of processor refuses the work.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from understudy.errors import BadInput, Problem, Refused
from understudy.support.build import build as own_build

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_RETRIES = 3
_PATIENCE = 20.0
"""Seconds."""


@dataclass(frozen=True)
class Cluster:
    """The workers behind a scheduler."""

    scheduler: str
    """Its address, such as tcp://host:8786."""

    def __call__(
        self, work: Callable[[_Item], _Result], items: Sequence[_Item], /
    ) -> Iterator[_Result]:
        """Yield what the work returns for each item, in order.

        Args:
            work: Can be sent to another process, with all that it knows.
            items: Likewise.
        """
        try:
            from distributed import Client, KilledWorker
            from distributed.client import CancelledError
            from distributed.protocol.pickle import dumps
        except ImportError:
            raise BadInput(
                "`scheduler` needs Dask, which is not installed: pip install 'understudy[cluster]'."
            ) from None
        try:
            client = Client(self.scheduler, timeout=_PATIENCE, set_as_default=False)
        except (OSError, ValueError):
            raise BadInput(
                f"no Dask scheduler answers at '{self.scheduler}': start one there (dask "
                f"scheduler), or leave out `scheduler`."
            ) from None
        with client:
            try:
                client.wait_for_workers(1, timeout=_PATIENCE)
            except TimeoutError:
                raise BadInput(
                    f"no worker has joined the Dask scheduler at '{self.scheduler}': start some "
                    f"(dask worker {self.scheduler}), or leave out `scheduler`."
                ) from None
            options: dict[str, Any] = {"pure": False, "retries": _RETRIES}
            try:
                futures = client.map(_done, items, work=dumps(work), build=own_build(), **options)
                yield from client.gather(futures)
            except (CancelledError, TimeoutError, OSError):
                raise Refused(
                    f"the Dask scheduler at '{self.scheduler}' stopped answering while the table "
                    f"was read: run it again when the cluster is up."
                ) from None
            except KilledWorker:
                raise Refused(
                    "workers of the cluster died again and again, perhaps for want of memory: give "
                    "them more, or less `memory` to each part of the table."
                ) from None


def _done(item: Any, work: bytes, build: str) -> Any:
    """Do the work on one item: what a worker does."""
    if own_build() != build:
        raise Refused(
            "a worker of the cluster has another version of understudy, Python, JAX or NumPy, or "
            "another kind of processor than the machine that the command runs on, so that its sums "
            "might not be the same: use the same versions on machines alike."
        )
    try:
        received = _received(work)
    except (ImportError, AttributeError):
        raise BadInput(
            "a worker of the cluster cannot import what the model is made of: a model in a Python "
            "file, or of a package that workers do not have, is summed on one machine. Leave out "
            "`scheduler`."
        ) from None
    try:
        return received(item)
    except Problem:
        raise
    except Exception as error:  # noqa: BLE001 - a worker's log could show confidential values
        kind = type(error).__name__
    raise RuntimeError(f"an unforeseen {kind}, whose details could be confidential")


@lru_cache(maxsize=4)
def _received(work: bytes) -> Any:
    """Return work that was sent; the same object each time, so that kernels are compiled once."""
    return pickle.loads(work)
