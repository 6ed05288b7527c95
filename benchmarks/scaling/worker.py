"""One tool on one table in a file, in a process of its own."""

from __future__ import annotations

import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

import understudy as us
from peers.tools import EVERY, Task
from peers.worker import answer
from scaling.generated import people_schema
from scaling.measured import peak
from understudy.adapters.loading import load_model

_LIBRARIES = {"OpenDP AIM": ("opendp.prelude", "polars", "mbi"), "mbi, all pairs": ("mbi",)}
"""Imported beforehand, so that they are no part of what a run takes."""


def run(cell: dict[str, Any]) -> dict[str, Any]:
    """Synthesise a file once, and return the seconds and the bytes beside the libraries."""
    path, tool = Path(cell["directory"]) / cell["source"], cell["tool"]
    schema = people_schema(pq.read_metadata(path).num_rows)
    for library in _LIBRARIES.get(tool, ()):
        import_module(library)
    before, started = peak(), time.monotonic()
    if tool == "understudy joint":
        rows = _streamed(path, schema, cell["epsilon"])
    else:
        import pandas as pd

        task = Task(pd.read_parquet(path), schema, cell["epsilon"])
        rows = len(EVERY[tool](task))
    assert rows == schema.size
    return {"seconds": time.monotonic() - started, "memory": peak() - before}


def _streamed(path: Path, schema: us.Schema, epsilon: float) -> int:
    """Return how many rows ours has drawn, from a file that it need not hold."""
    from understudy.synthesis.large import in_batches

    model = load_model("joint", schema=schema)
    release = us.synthesize(model, path, us.Summary(epsilon=epsilon))
    return int(np.sum([len(frame) for frame in in_batches(release.tables[0])]))


if __name__ == "__main__":
    answer(run)
