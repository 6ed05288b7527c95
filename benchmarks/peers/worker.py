"""One cell of the table, in a process of its own: what happens in it cannot hurt the others.

Reads a cell as JSON from its input, and writes what it found as JSON to its output.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from peers.k_marginal import k_marginal
from peers.sources import SOURCES, Source
from peers.tools import BASELINES, EVERY, PeerFailed, Task
from understudy.utility import Utility, measure_table

if TYPE_CHECKING:
    import pandas as pd


def run(
    source: Source,
    directory: Path,
    tool: str,
    epsilon: float,
    *,
    pythons: dict[str, str] | None = None,
    keep: Path | None = None,
) -> dict[str, Any]:
    """Synthesise once and measure; the seconds are those of the synthesis.

    Args:
        source: The table.
        directory: Where it is.
        tool: The name of the tool.
        epsilon: ε, or infinity for what is run without privacy.
        pythons: Interpreters of tools and, as `judge`, of the judges, by name.
        keep: A file for the synthetic table.
    """
    table = source.read(directory)
    chosen = EVERY if np.isfinite(epsilon) else BASELINES
    task = Task(table, source.schema, epsilon, pythons or {})
    started = time.monotonic()
    synthetic = chosen[tool](task)
    seconds = time.monotonic() - started
    if keep is not None:
        keep.parent.mkdir(parents=True, exist_ok=True)
        synthetic.to_csv(keep, index=False)
    found = {"seconds": seconds} | measures(source, table, synthetic)
    if "judge" in task.pythons:
        found["judges"] = judged(task.pythons["judge"], source, table, synthetic)
    return found


def measures(source: Source, table: pd.DataFrame, synthetic: pd.DataFrame) -> dict[str, Any]:
    """Return what we measure ourselves."""
    measured = measure_table(table, synthetic, source.schema, regression=source.regression)
    stated = measured.regression
    return {
        "max_ecdf": {
            name: each.max_ecdf
            for name, each in measured.columns.items()
            if isinstance(each, Utility)
        },
        "pairs": measured.headlines()["pairs: mean total variation"],
        "k_marginal": k_marginal(table, synthetic, source.schema, source.steps),
        "pmse_ratio": measured.propensity.ratio,
        "coefficients": {
            each.name: each.relative_difference
            for each in (() if stated is None else stated.coefficients)
            if each.name != "Intercept"
        },
    }


def judged(
    python: str, source: Source, table: pd.DataFrame, synthetic: pd.DataFrame
) -> dict[str, Any]:
    """Return what judges that others wrote say, or how they failed."""
    kinds = {c.name: "number" if c.numeric else "category" for c in source.schema.columns}
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        table.to_csv(place / "real.csv", index=False)
        synthetic.to_csv(place / "made.csv", index=False)
        (place / "kinds.json").write_text(json.dumps(kinds))
        files = [str(place / name) for name in ("real.csv", "made.csv", "kinds.json")]
        script = str(Path(__file__).with_name("judge.py"))
        done = subprocess.run(
            [python, script, *files], stdout=subprocess.PIPE, text=True, check=False
        )
    if done.returncode or not done.stdout:
        return {"error": f"crash, exit code {done.returncode}"}
    return json.loads(done.stdout)


def answer(work: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Read what is asked for, do it within the memory that it may take, and write what was found.

    Args:
        work: Takes what is asked for, and returns what was found.
    """
    cell = json.load(sys.stdin)
    output, sys.stdout = sys.stdout, sys.stderr
    if cell.get("memory"):
        # More memory is refused to the tool: elsewhere the machine would choose whom to end.
        resource.setrlimit(resource.RLIMIT_DATA, (int(cell["memory"] * 2**30),) * 2)
    try:
        found = work(cell)
    except PeerFailed as error:
        traceback.print_exc()
        found = {"error": str(error)}
    except Exception as error:  # noqa: BLE001 - a tool's failure, of any kind, is a result
        traceback.print_exc()
        found = {"error": type(error).__name__}
    json.dump(found, output)


def asked(cell: dict[str, Any]) -> dict[str, Any]:
    """Run the cell that is asked for."""
    return run(
        SOURCES[cell["source"]],
        Path(cell["directory"]),
        cell["tool"],
        cell["epsilon"],
        pythons=cell.get("pythons"),
        keep=None if cell.get("keep") is None else Path(cell["keep"]),
    )


if __name__ == "__main__":
    answer(asked)
