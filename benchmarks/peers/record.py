"""What every run found, a line of JSON each, so that what was interrupted goes on where it was.

A line has the table, ε (null without privacy), the tool, the number of the run, and what it found.
A failure is a result like others: who wants to try again removes its line.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from peers.cells import Cell


def recorded(path: Path) -> dict[tuple[str, float, str, int], dict[str, Any]]:
    """Return what a file holds by table, ε, tool and number; a line cut short is no run."""
    found: dict[tuple[str, float, str, int], dict[str, Any]] = {}
    for line in path.read_text().splitlines() if path.is_file() else ():
        try:
            said = json.loads(line)
        except json.JSONDecodeError:
            continue
        epsilon = float("inf") if said["epsilon"] is None else float(said["epsilon"])
        found[said["source"], epsilon, said["tool"], said["run"]] = said["found"]
    return found


def record(path: Path, cell: Cell, number: int, found: dict[str, Any]) -> None:
    """Add a line."""
    epsilon = None if cell.epsilon == float("inf") else cell.epsilon
    said = {"source": cell.source, "epsilon": epsilon, "tool": cell.tool, "run": number}
    # A line that was cut short is closed first, so that it spoils nothing else.
    cut = path.is_file() and path.stat().st_size > 0 and not path.read_bytes().endswith(b"\n")
    with path.open("a") as file:
        file.write(("\n" if cut else "") + json.dumps(said | {"found": found}) + "\n")
