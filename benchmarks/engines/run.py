"""Every engine on the measurements of every release, printed as one Markdown table.

A run measures once and publishes; each engine then makes rows of that one file, in a process of its
own. With `--json FILE` every run is a line of the file, and what was published is kept beside it: a
run that is there is not made again, and one that is not is made of the same measurements.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from engines import simulated
from engines.worker import ENGINES, MEASURING, TABLES
from peers.cells import Cell, Setting, run_cell
from peers.record import record, recorded
from peers.sources import DIRECTORY

DATA = ("ACS 10", "ACS 24", "CPS 2004", "CE 2017", simulated.NAME)
EPSILONS = (5.0, 1.0)
HEAD = (
    "| data | ε | engine | K-marginal | pairs | max-ECDF | seconds | MiB | failed |\n"
    "|---|---|---|---|---|---|---|---|---|"
)


def row(cell: Cell) -> str:
    """Return a cell's row of the table: means, and how far runs differ in the score."""
    sound = cell.sound
    numbers = ["–"] * 5
    if sound:
        scores = [run["k_marginal"] for run in sound]
        columns = [value for run in sound for value in run["max_ecdf"].values()]
        span = f" ({min(scores):.0f} to {max(scores):.0f})" if len(scores) > 1 else ""
        numbers = [f"{_mean(scores):.1f}{span}", f"{_mean(run['pairs'] for run in sound):.4f}"]
        numbers += [f"{_mean(columns):.3f}", f"{_mean(run['seconds'] for run in sound):.1f}"]
        numbers.append(f"{_mean(run['memory'] for run in sound):.0f}")
    failed = ", ".join(cell.errors)
    return f"| {' | '.join([cell.source, f'{cell.epsilon:g}', cell.tool, *numbers, failed])} |"


def _mean(values: Iterable[float]) -> float:
    known = list(values)
    return sum(known) / len(known) if known else float("nan")


def one_run(
    cells: list[Cell], number: int, setting: Setting, place: Path, kept: Path | None
) -> None:
    """Run what is missing of one run: the measuring, unless it was published, and each engine.

    Args:
        cells: One table at one ε, by each engine. What was found is added to them.
        number: Of the run.
        setting: Where the tables are, and what a run may take.
        place: Where it is published.
        kept: The file of all runs.
    """
    first = cells[0]
    path = place / f"{first.source}-{first.epsilon:g}-{number}.json".replace(" ", "-")
    own = replace(setting, directory=place) if first.source == simulated.NAME else setting
    command = [sys.executable, "-m", "engines.worker", str(path.resolve())]
    before = {} if kept is None else recorded(kept)
    for cell in cells:
        found = before.get((cell.source, cell.epsilon, cell.tool, number))
        if found is None and not path.is_file():
            measuring = Cell(cell.source, cell.epsilon, MEASURING)
            _said(measuring, number, run_cell(measuring, own, number, command), kept)
        if found is None:
            found = run_cell(cell, own, number, command) if path.is_file() else {"error": MEASURING}
            _said(cell, number, found, kept)
        cell.runs.append(found)


def _said(cell: Cell, number: int, found: dict[str, Any], kept: Path | None) -> None:
    took = found.get("error") or f"{found['seconds']:.1f} s"
    label = f"{cell.source}, ε = {cell.epsilon:g}, {cell.tool}, run {number}"
    print(f"{label}: {took}", file=sys.stderr, flush=True)
    if kept is not None:
        record(kept, cell, number, found)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="engines", description=__doc__.splitlines()[0])
    parser.add_argument("--directory", type=Path, default=DIRECTORY, help="where the tables are")
    parser.add_argument("--data", nargs="+", choices=list(TABLES), default=DATA)
    parser.add_argument("--epsilon", nargs="+", type=float, default=EPSILONS)
    parser.add_argument("--engines", nargs="+", choices=list(ENGINES), default=list(ENGINES))
    parser.add_argument("--runs", type=int, default=3, help="runs for each row")
    parser.add_argument("--limit", type=float, default=300, help="seconds for each engine's run")
    parser.add_argument("--memory", type=float, help="GiB for each engine's run")
    parser.add_argument("--json", type=Path, help="file for what every run found, to go on from")
    asked = parser.parse_args()
    for name in asked.data:
        if name != simulated.NAME and not TABLES[name].path(asked.directory).is_file():
            parser.error(f"there is no table {TABLES[name].file}: name its place by --directory.")
    return asked


def main() -> None:
    """Run and print."""
    asked = _asked()
    setting = Setting(asked.directory, asked.limit, asked.memory)
    with TemporaryDirectory() as passing:
        place = Path(passing) if asked.json is None else asked.json.with_suffix(".published")
        place.mkdir(parents=True, exist_ok=True)
        simulated.write(place)
        print(HEAD, flush=True)
        for source in asked.data:
            for epsilon in asked.epsilon:
                cells = [Cell(source, epsilon, engine) for engine in asked.engines]
                for number in range(1, asked.runs + 1):
                    one_run(cells, number, setting, place, asked.json)
                print("\n".join(map(row, cells)), flush=True)
