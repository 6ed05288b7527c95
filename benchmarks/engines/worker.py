"""One run of one engine, or the measuring for all of them, in a process of its own.

    python -m engines.worker PUBLISHED.json

Reads a cell as JSON from its input, as `peers.worker` does. Of the memory, what the process had
before is not counted: the interpreter and the libraries.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engines import pool, simulated
from engines.published import Published, measure
from engines.sequence import sequence
from engines.tree import tree
from peers.sources import SOURCES
from peers.worker import answer, measures
from scaling.measured import MIB, peak

if TYPE_CHECKING:
    import pandas as pd

Engine = Callable[[Published, np.random.Generator], "tuple[pd.DataFrame, Any]"]

TABLES = SOURCES | {simulated.NAME: simulated.SOURCE}
MEASURING = "measuring"
ENGINES: dict[str, Engine] = {
    "sequence": sequence,
    "junction tree": tree,
    "pool of independents": pool.of_independents,
    "pool of the sequence": pool.of_the_sequence,
    "sequence, resampled": pool.resampled,
    "independent columns": pool.independent,
}
_LIBRARIES = {"junction tree": ("mbi",)}
"""Imported beforehand."""


def asked(path: Path, cell: dict[str, Any]) -> dict[str, Any]:
    """Measure and publish, or let an engine make rows of what was published.

    Args:
        path: Where it is published.
        cell: What is asked for.
    """
    source, engine = TABLES[cell["source"]], cell["tool"]
    table = source.read(Path(cell["directory"]))
    if engine == MEASURING:
        started = time.monotonic()
        contents = measure(table, source.schema, cell["epsilon"])
        path.write_text(json.dumps(contents))
        return {"seconds": time.monotonic() - started}
    for library in _LIBRARIES.get(engine, ()):
        import_module(library)
    published = Published.of(json.loads(path.read_text()))
    before, started = peak(), time.monotonic()
    synthetic, told = ENGINES[engine](published, np.random.default_rng())
    used = {"seconds": time.monotonic() - started, "memory": (peak() - before) / MIB}
    return used | told | measures(source, table, synthetic)


if __name__ == "__main__":
    answer(partial(asked, Path(sys.argv[1])))
