"""Running cells in processes of their own, within a time limit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Cell:
    """One tool on one table at one ε, and what each run found."""

    source: str
    epsilon: float
    tool: str
    runs: list[dict[str, Any]] = field(default_factory=list)

    @property
    def sound(self) -> list[dict[str, Any]]:
        """The runs that ended with a table."""
        return [run for run in self.runs if "error" not in run]

    @property
    def errors(self) -> list[str]:
        """The class of each failure."""
        return [run["error"] for run in self.runs if "error" in run]


@dataclass(frozen=True)
class Setting:
    """How cells are run."""

    directory: Path
    """Where the tables are."""
    limit: float
    """Seconds for each run."""
    memory: float | None = None
    """Gibibytes for each run."""
    pythons: dict[str, str] = field(default_factory=dict)
    """Interpreters of tools and judges that need their own, by name."""
    keep: Path | None = None
    """Where the synthetic tables are kept."""


def run_cell(
    cell: Cell, setting: Setting, number: int = 1, command: list[str] | None = None
) -> dict[str, Any]:
    """Run a cell once, and return what it found or how it failed."""
    kept = None
    if setting.keep is not None:
        name = f"{cell.source}, {cell.tool}, {cell.epsilon:g}, {number}"
        kept = str(setting.keep.resolve() / (name.replace(", ", "-").replace(" ", "-") + ".csv"))
    asked = {
        "source": cell.source,
        "epsilon": cell.epsilon,
        "tool": cell.tool,
        "directory": str(setting.directory.resolve()),
        "memory": setting.memory,
        "pythons": setting.pythons,
        "keep": kept,
    }
    # A session of its own, so that the processes that a tool starts end with it.
    process = subprocess.Popen(
        command or [sys.executable, "-m", "peers.worker"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        said, complaints = process.communicate(json.dumps(asked), timeout=setting.limit)
    except subprocess.TimeoutExpired:
        return {"error": f"no answer in {setting.limit:g} s"}
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    if process.returncode or not said:
        answer: dict[str, Any] = {"error": f"crash, exit code {process.returncode}"}
    else:
        answer = json.loads(said)
    if "error" in answer:
        print(complaints, file=sys.stderr)
    return answer
