"""All tools on all tables at all ε, printed as one Markdown table.

A row is the mean over the runs that ended with a table. A run that failed is counted in its row
with the class of its error; what the tool said goes to the error output. With `--json FILE`, every
run is added to the file as it ends, and those that the file has are not run again.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from peers.cells import Cell, Setting, run_cell
from peers.record import record, recorded
from peers.sources import DIRECTORY, SOURCES
from peers.tools import BASELINES, EVERY, TOOLS

EPSILONS = (5.0, 1.0, 0.5, 0.1)
DATA = ("CPS 2004", "CE 2017", "survey")
"""The tables that are run where none is named."""
PACKAGES = ("understudy", "opendp", "mbi", "DataSynthesizer", "numpy", "jax", "polars")
HEAD = (
    "| data | ε | tool | max-ECDF | pairs | K-marginal | coefficients off by | seconds | failed |\n"
    "|---|---|---|---|---|---|---|---|---|"
)


def row(cell: Cell) -> str:
    """Return a cell's row of the table."""
    sound = cell.sound
    epsilon = "∞" if cell.epsilon == float("inf") else f"{cell.epsilon:g}"
    if not sound:
        numbers = ["–"] * 5
    else:
        numbers = [
            _named([run["max_ecdf"] for run in sound], "{:.3f}"),
            _mean([run["pairs"] for run in sound], "{:.3f}"),
            _mean([run.get("k_marginal") for run in sound], "{:.0f}"),
            _named([_sizes(run["coefficients"]) for run in sound], "{:.0%}"),
            _mean([run["seconds"] for run in sound], "{:.0f}"),
        ]
    failed = ", ".join(
        f"{times} of {len(cell.runs)}: {name}" for name, times in Counter(cell.errors).items()
    )
    return f"| {' | '.join([cell.source, epsilon, cell.tool, *numbers, failed])} |"


def _sizes(differences: Mapping[str, float | None]) -> dict[str, float | None]:
    """Return how far each coefficient is off, by the name of its column."""
    return {
        re.sub(r"\[.*\]", "", name): None if off is None else abs(off)
        for name, off in differences.items()
    }


def _named(runs: list[dict[str, float | None]], form: str) -> str:
    named = [f"{name} {_mean([run[name] for run in runs], form)}" for name in runs[0]]
    return ", ".join(named) or "–"


def _mean(values: Iterable[float | None], form: str) -> str:
    known = [value for value in values if value is not None]
    return form.format(sum(known) / len(known)) if known else "–"


def cells(sources: Iterable[str], epsilons: Iterable[float], tools: Iterable[str]) -> list[Cell]:
    """Return the empty cells in the order of the table, without privacy first."""
    chosen, at = list(tools), list(epsilons)
    every = []
    for source in sources:
        every += [Cell(source, float("inf"), tool) for tool in BASELINES if tool in chosen]
        every += [Cell(source, epsilon, tool) for epsilon in at for tool in EVERY if tool in chosen]
    return every


def _versions() -> str:
    def installed(package: str) -> str:
        try:
            return f"{package} {version(package)}"
        except PackageNotFoundError:
            return f"{package} not installed"

    return ", ".join(map(installed, PACKAGES))


def _python(said: str) -> tuple[str, str]:
    package, _, path = said.partition("=")
    if not path or not Path(path).is_file():
        raise argparse.ArgumentTypeError("say PACKAGE=PATH, the path of an interpreter that has it")
    # Not resolved: an environment's interpreter is a link, and finds its packages by its own place.
    return package, str(Path(path).absolute())


def _asked() -> argparse.Namespace:
    known = list(dict.fromkeys([*BASELINES, *EVERY]))
    usual = list(dict.fromkeys([*BASELINES, *TOOLS]))
    parser = argparse.ArgumentParser(prog="peers", description=__doc__.splitlines()[0])
    parser.add_argument("--directory", type=Path, default=DIRECTORY, help="where the tables are")
    parser.add_argument("--runs", type=int, default=3, help="runs for each row")
    parser.add_argument("--limit", type=float, default=900, help="seconds for each run")
    parser.add_argument("--memory", type=float, help="GiB for each run")
    parser.add_argument("--data", nargs="+", choices=list(SOURCES), default=DATA)
    parser.add_argument("--epsilon", nargs="+", type=float, default=EPSILONS)
    parser.add_argument("--tools", nargs="+", choices=known, default=usual)
    parser.add_argument("--json", type=Path, help="file for what every run found, to go on from")
    parser.add_argument("--keep", type=Path, help="directory for the synthetic tables")
    parser.add_argument(
        "--peer-python",
        nargs="+",
        type=_python,
        default=[],
        metavar="PACKAGE=PATH",
        help="interpreters that have dpmm and snsynth",
    )
    parser.add_argument("--judge-python", type=Path, help="interpreter that has the judges")
    asked = parser.parse_args()
    for name in asked.data:
        if not SOURCES[name].path(asked.directory).is_file():
            parser.error(f"there is no table {SOURCES[name].file}: name its place by --directory.")
    return asked


def main() -> None:
    """Run and print."""
    asked = _asked()
    pythons = dict(asked.peer_python)
    if asked.judge_python is not None:
        pythons["judge"] = str(asked.judge_python.absolute())
    setting = Setting(asked.directory, asked.limit, asked.memory, pythons, asked.keep)
    before = {} if asked.json is None else recorded(asked.json)
    print(HEAD, flush=True)
    for cell in cells(asked.data, asked.epsilon, asked.tools):
        for number in range(1, asked.runs + 1):
            found = before.get((cell.source, cell.epsilon, cell.tool, number))
            if found is None:
                label = f"{cell.source}, ε = {cell.epsilon:g}, {cell.tool}"
                print(f"{label}: run {number} of {asked.runs}", file=sys.stderr, flush=True)
                found = run_cell(cell, setting, number)
                if asked.json is not None:
                    record(asked.json, cell, number, found)
            cell.runs.append(found)
        print(row(cell), flush=True)
    print(f"\n{asked.runs} runs for each row. {_versions()}.")
