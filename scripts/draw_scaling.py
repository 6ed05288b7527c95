"""Draw docs/scaling.svg from the lines that `benchmarks/scale.py --json FILE` keeps.

    python scripts/draw_scaling.py scale.jsonl docs/scaling.svg

Seconds and memory against the number of records, on logarithmic scales: the Beta model and a pass
of it beside Arrow's, and `joint` beside synthesisers of others. A cross stands over the size at
which a tool broke a limit. Where several lines tell of the same thing, the last one counts.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from understudy.report.svg import INK, STYLE

BLUE, ORANGE, GREEN, PURPLE, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#6b7785"
PEERS = {
    "understudy joint": ("joint, of the CPS's shape", BLUE),
    "OpenDP AIM": ("OpenDP AIM, likewise", ORANGE),
    "mbi, all pairs": ("mbi, all pairs, likewise", PURPLE),
}
MIB = 2**20
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
Line = dict[str, Any]


@dataclass(frozen=True)
class Curve:
    """What is drawn of one thing against the number of records."""

    label: str
    colour: str
    style: str
    points: dict[int, float]
    ended: list[int] = field(default_factory=list)
    """Where there was no answer."""


def read(path: Path) -> list[Line]:
    """Return the lines of a file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def curves(lines: Iterable[Line], measure: str) -> list[Curve]:
    """Return all that has a measure: `seconds` or `memory`, which is in bytes."""
    lines = list(lines)
    growing = [line for line in lines if line["part"] == "growing"]
    ours = Curve("beta, one column", GREEN, "-o", _points(growing, measure))
    found = [ours]
    if measure == "seconds":
        found.append(Curve("  one pass of it", GREEN, "--", _points(growing, "passed")))
        found.append(Curve("  Arrow's reading and adding", GREY, ":", _points(growing, "arrow")))
    for tool, (label, colour) in PEERS.items():
        own = [line for line in lines if line["part"] == "peers" and line["tool"] == tool]
        ended = sorted({line["n"] for line in own if "error" in line})
        points = _points([line for line in own if "error" not in line], measure)
        found.append(Curve(label, colour, "-s", points, ended))
    return [curve for curve in found if curve.points]


def _points(lines: Iterable[Line], name: str) -> dict[int, float]:
    """Return what has been told of a measure; what was too little to be told is left out."""
    found = {line["n"]: line[name] for line in lines if line[name] is not None}
    return dict(sorted(found.items()))


def drawn(axes: Axes, every: Iterable[Curve], title: str, unit: float = 1.0) -> None:
    """Draw curves on logarithmic scales, with crosses over where they end."""
    for curve in every:
        values = [value / unit for value in curve.points.values()]
        axes.plot([*curve.points], values, curve.style, color=curve.colour, ms=4, label=curve.label)
        for n in curve.ended:
            axes.plot(n, max(values), "x", color=curve.colour, ms=9, mew=2)
    axes.set(xscale="log", yscale="log", xlabel="Records")
    axes.xaxis.set_major_formatter(FuncFormatter(_power))
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 3) if unit == 1 else (1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_formatter(NullFormatter())
    axes.set_title(title, loc="left", fontsize=11, color=INK)


def _power(value: float, _: int) -> str:
    """Return a power of ten as text: the style writes no mathematics."""
    return "10" + str(round(math.log10(value))).translate(_RAISED)


def main(source: Path, path: Path) -> None:
    """Draw both panels."""
    lines = read(source)
    with matplotlib.style.context(["default", STYLE]):
        figure = Figure(figsize=(10.0, 4.4), layout="constrained")
        left, right = figure.subplots(1, 2)
        drawn(left, curves(lines, "seconds"), "Seconds")
        drawn(right, curves(lines, "memory"), "Memory beside the libraries, MiB", MIB)
        handles, labels = left.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=9)
        figure.savefig(path, format="svg", metadata={"Date": None})


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
