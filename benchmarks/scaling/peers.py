"""`joint` beside OpenDP's AIM and mbi with all pairs, on tables of growing size.

The tables have the CPS's shape, and lie in Parquet files. Each run begins with the file and ends
with as many synthetic rows as records, in a process of its own with a limit on its time and its
memory. Ours streams the file; the others are functions of a table in memory, which is read for
them. A tool that breaks a limit, or fails, has ended: it is not asked for larger tables.
"""

from __future__ import annotations

import sys
from pathlib import Path

from peers.cells import Cell, Setting, run_cell
from scaling.generated import people, write
from scaling.measured import MIB, Lines

TOOLS = ("understudy joint", "OpenDP AIM", "mbi, all pairs")
EPSILON = 1.0


def run(largest: int, setting: Setting, lines: Lines) -> None:
    """Print seconds and memory of each tool at each size, up to where it ends.

    Args:
        largest: Records of the largest table.
        setting: Where tables are written, and removed again; what a run may take.
        lines: Where the results are kept.
    """
    print(f"tables of the CPS's shape, ε = {EPSILON:g} add-remove, pure")
    print(f"{'n':>13}  {'tool':>18}  {'seconds':>8}  {'peak less start':>15}")
    going = list(TOOLS)
    for n in (10**k for k in range(4, 19) if 10**k <= largest):
        path = write(setting.directory / f"scale-people-{n}.parquet", n, people)
        try:
            going = [tool for tool in going if _went(tool, path, n, setting, lines)]
        finally:
            path.unlink()
        if not going:
            break
    print()


def _went(tool: str, path: Path, n: int, setting: Setting, lines: Lines) -> bool:
    """Run a tool once, print and keep what it took, and return whether it gave a table."""
    command = [sys.executable, "-m", "scaling.worker"]
    found = run_cell(Cell(path.name, EPSILON, tool), setting, command=command)
    lines.add("peers", n=n, tool=tool, **found)
    if "error" in found:
        print(f"{n:>13,}  {tool:>18}  ended: {found['error']}", flush=True)
        return False
    memory = f"{found['memory'] / MIB:11.0f} MiB"
    print(f"{n:>13,}  {tool:>18}  {found['seconds']:8.1f}  {memory}", flush=True)
    return True
