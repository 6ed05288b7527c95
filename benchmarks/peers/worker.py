"""One cell of the table, in a process of its own: what happens in it cannot hurt the others.

Reads a cell as JSON from its input, and writes what it found as JSON to its output.
"""

from __future__ import annotations

import json
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np

from peers.sources import SOURCES, Source
from peers.tools import BASELINES, TOOLS, Task
from understudy.utility import Utility, measure_table


def run(source: Source, directory: Path, tool: str, epsilon: float) -> dict[str, Any]:
    """Synthesise once and measure; the seconds are those of the synthesis."""
    table = source.read(directory)
    chosen = TOOLS if np.isfinite(epsilon) else BASELINES
    task = Task(table, source.schema, epsilon)
    started = time.monotonic()
    synthetic = chosen[tool](task)
    seconds = time.monotonic() - started
    measured = measure_table(table, synthetic, source.schema, regression=source.regression)
    assert measured.regression is not None
    return {
        "seconds": seconds,
        "max_ecdf": {
            name: each.max_ecdf
            for name, each in measured.columns.items()
            if isinstance(each, Utility)
        },
        "pairs": measured.headlines()["pairs: mean total variation"],
        "pmse_ratio": measured.propensity.ratio,
        "coefficients": {
            each.name: each.relative_difference
            for each in measured.regression.coefficients
            if each.name != "Intercept"
        },
    }


def main() -> None:
    """Run the cell that is asked for."""
    cell = json.load(sys.stdin)
    output, sys.stdout = sys.stdout, sys.stderr
    try:
        answer = run(
            SOURCES[cell["source"]], Path(cell["directory"]), cell["tool"], cell["epsilon"]
        )
    except Exception as error:  # noqa: BLE001 - a tool's failure, of any kind, is a result
        traceback.print_exc()
        answer = {"error": type(error).__name__}
    json.dump(answer, output)


if __name__ == "__main__":
    main()
