"""Traces one `synthesize`, checks that no phase calls back into an earlier one, and draws the walk.

    python scripts/trace_walk.py docs/walk.svg

The picture shows what ran, not what somebody thinks that runs: a column for each phase, and in it,
package by package, the files and their main functions in the order of their first calls. Main are
public functions that another file calls; properties and `support` are left out.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from html import escape, unescape
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import understudy as us

PACKAGE = Path(us.__file__).parent
PHASES = {
    "prepare": "prepare",
    "plan": "plan",
    "charged": "charge",
    "draw": "draw",
    "simulate": "simulate",
    "promise": "promise",
    "measured": "measure",
    "of": "release",
}
"""The phase that begins when `synthesize` or `carry_out` calls a function of this name."""
HOMES = {
    "synthesis/preparation.py": "prepare",
    "synthesis/charging.py": "charge",
    "synthesis/simulation.py": "simulate",
    "synthesis/promise.py": "promise",
    "synthesis/measuring.py": "measure",
    "synthesis/release.py": "release",
}
"""The phase that each module of the synthesis is for."""
_ORDER = list(PHASES.values())
_CONDUCTORS = {("synthesis/run.py", "synthesize"), ("synthesis/run.py", "carry_out")}


@dataclass(frozen=True)
class Call:
    """A function of the package that was called in a phase, and by which other one."""

    phase: str
    file: str
    function: str
    caller: str

    @property
    def calls_back(self) -> bool:
        """Whether a phase calls what an earlier one is for; to read a value's property is fine."""
        home = HOMES.get(self.file)
        earlier = home is not None and _ORDER.index(home) < _ORDER.index(self.phase)
        return earlier and not self.reads

    @property
    def reads(self) -> bool:
        """Whether it is a property of a value."""
        return self.function in properties(self.file)

    @property
    def is_main(self) -> bool:
        """Whether the picture shows it."""
        name = self.function.rpartition(".")[2]
        public = not name.startswith(("_", "<")) and not self.file.startswith("support/")
        return public and not self.reads and self.caller.partition(":")[0] != self.file


@dataclass
class Trace:
    """The calls of one run, each once for its phase and caller, in order."""

    calls: dict[Call, None] = field(default_factory=dict)
    _phase: str = _ORDER[0]

    def profile(self, frame: FrameType, event: str, argument: Any) -> None:
        """Take notice of a call."""
        if event != "call" or (file := _file(frame.f_code)) is None:
            return
        if not frame.f_code.co_flags & inspect.CO_OPTIMIZED:  # The body of a module or a class.
            return
        caller = _caller(frame)
        name = frame.f_code.co_qualname.replace("<locals>.", "")
        if caller in _CONDUCTORS:
            self._phase = PHASES.get(frame.f_code.co_name, self._phase)
        if (file, name) not in _CONDUCTORS:
            self.calls[Call(self._phase, file, name, ":".join(caller))] = None


@cache
def _file(code: CodeType) -> str | None:
    path = Path(code.co_filename)
    return path.relative_to(PACKAGE).as_posix() if path.is_relative_to(PACKAGE) else None


def _caller(frame: FrameType) -> tuple[str, str]:
    """Return the nearest caller within the package; comprehensions belong to their function."""
    back = frame.f_back
    while back is not None:
        file, name = _file(back.f_code), back.f_code.co_qualname.replace("<locals>.", "")
        if file is not None and not name.endswith("comp>") and not name.endswith("<genexpr>"):
            return file, name
        back = back.f_back
    return "", ""


@cache
def properties(file: str) -> frozenset[str]:
    """Return the names of a file's properties, with those of their classes."""
    found = set()
    for node in ast.walk(ast.parse((PACKAGE / file).read_text("utf-8"))):
        if isinstance(node, ast.ClassDef):
            for each in node.body:
                if isinstance(each, ast.FunctionDef) and any(
                    "property" in ast.unparse(decorator) for decorator in each.decorator_list
                ):
                    found.add(f"{node.name}.{each.name}")
    return frozenset(found)


@contextmanager
def traced() -> Iterator[Trace]:
    """Trace what is called meanwhile."""
    trace, before = Trace(), sys.getprofile()
    sys.setprofile(trace.profile)
    try:
        yield trace
    finally:
        sys.setprofile(before)


def walk(*, with_earlier: bool = False) -> list[Call]:
    """Synthesise a tiny table, charged to a ledger, and return what was called, in order.

    A process that has synthesised before has compiled already what is traced here, so this is for
    a process of its own.
    """
    import numpy as np
    import pandas as pd

    column = {"role": "confidential", "type": "continuous", "bounds": [0, 1]}
    model = us.beta(us.Schema.from_dict({"table": {"size": 40}, "columns": {"share": column}}))
    table = pd.DataFrame({"share": np.linspace(0.05, 0.6, 40)})
    mechanism = us.Summary(epsilon=1.0, adjacency=us.Adjacency.ADD_REMOVE)
    earlier = ("before", table) if with_earlier else None
    with tempfile.TemporaryDirectory() as directory:
        ledger = us.Ledger.create(Path(directory) / "ledger.db", budget=3.0, adjacency="add-remove")
        with traced() as trace:
            us.synthesize(model, table, mechanism, ledger=ledger, earlier=earlier)
    return list(trace.calls)


Walk = dict[str, dict[str, dict[str, list[str]]]]
"""Functions by file, files by package, packages by phase; all in the order of their first calls."""


def columns(calls: Sequence[Call]) -> Walk:
    """Return what the picture shows."""
    shown: Walk = {phase: {} for phase in _ORDER}
    for call in calls:
        if call.is_main:
            package, _, file = (
                call.file.rpartition("/") if "/" in call.file else ("", "", call.file)
            )
            package, _, rest = package.partition("/")
            file = f"{rest}/{file}" if rest else file
            functions = shown[call.phase].setdefault(package, {}).setdefault(file, [])
            if call.function not in functions:
                functions.append(call.function)
    return shown


_WIDE, _GAP, _ACROSS, _LINE = 240, 10, 3, 16
_STYLE = """
text { font: 12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #1d2733 }
.card { fill: #f6f8fb; stroke: #b9c4d0 }
.head { fill: #0b4f8a }
.phase { font: bold 14px system-ui, "DejaVu Sans", sans-serif; fill: #ffffff }
.package { font: bold 11px system-ui, "DejaVu Sans", sans-serif; fill: #0b4f8a }
.file { font-weight: bold }
@media (prefers-color-scheme: dark) {
  text { fill: #dbe4ee }
  .card { fill: #1b222b; stroke: #46525f }
  .package { fill: #8cc4ff }
}
"""


def picture(shown: Walk) -> str:
    """Return the walk as SVG: solid cards, so that it reads on a page of any colour."""
    parts: list[str] = []
    top, phases = 0, list(shown)
    for first in range(0, len(phases), _ACROSS):
        row = phases[first : first + _ACROSS]
        cards = [list(_lines(shown[phase])) for phase in row]
        heights = [42 + sum(gap for _, _, gap in lines) for lines in cards]
        for place, (phase, lines) in enumerate(zip(row, cards, strict=True)):
            number, left = first + place + 1, place * (_WIDE + _GAP)
            parts += _card(f"{number}. {phase}", lines, left, top, heights[place])
        top += max(heights) + _GAP
    wide = _ACROSS * (_WIDE + _GAP) - _GAP
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1 -1 {wide + 2} {top - _GAP + 2}" '
            f'width="{wide + 2}" height="{top - _GAP + 2}" role="img">',
            "<title>The walk of one synthesize, traced</title>",
            f"<style>{_STYLE}</style>",
            *parts,
            "</svg>\n",
        ]
    )


def _lines(packages: Mapping[str, Mapping[str, Sequence[str]]]) -> Iterator[tuple[str, str, int]]:
    """Yield class, text and height of each line of a card."""
    for package, files in packages.items():
        yield "package", package or "understudy", _LINE + 8
        for file, functions in files.items():
            yield "file", file, _LINE + 2
            yield from (("function", function, _LINE) for function in functions)


def _card(
    title: str, lines: Sequence[tuple[str, str, int]], left: int, top: int, height: int
) -> Iterator[str]:
    yield f'<rect class="card" x="{left}" y="{top}" width="{_WIDE}" height="{height}" rx="6"/>'
    along = f"M{left} {top + 28}v-22a6 6 0 0 1 6-6h{_WIDE - 12}a6 6 0 0 1 6 6v22z"
    yield f'<path class="head" d="{along}"/>'
    yield f'<text class="phase" x="{left + 12}" y="{top + 19}">{escape(title)}</text>'
    down = top + 28
    for kind, text, gap in lines:
        down += gap
        indent = {"package": 12, "file": 12, "function": 20}[kind]
        yield f'<text class="{kind}" x="{left + indent}" y="{down}">{escape(text)}</text>'


def pictured(svg: str) -> Walk:
    """Return what a picture shows."""
    shown: Walk = {}
    phase = package = file = ""
    for kind, escaped in re.findall(r'<text class="(\w+)"[^>]*>([^<]*)</text>', svg):
        text = unescape(escaped)
        if kind == "phase":
            phase = text.partition(". ")[2]
            shown[phase] = {}
        elif kind == "package":
            package = "" if text == "understudy" else text
            shown[phase][package] = {}
        elif kind == "file":
            file = text
            shown[phase][package][file] = []
        else:
            shown[phase][package][file].append(text)
    return shown


def main() -> int:
    """Draw the walk, or print it, and fail where a phase calls back."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("picture", nargs="?", type=Path, help="SVG; without it, print JSON")
    parser.add_argument("--with-earlier", action="store_true", help="beside an earlier release")
    arguments = parser.parse_args()
    calls = walk(with_earlier=arguments.with_earlier)
    shown = columns(calls)
    if arguments.picture is None:
        print(json.dumps(shown))
    else:
        arguments.picture.write_text(picture(shown), encoding="utf-8")
    back = [call for call in calls if call.calls_back]
    for call in back:
        where = f"{call.file}:{call.function}"
        print(f"{call.phase} calls back: {call.caller} calls {where}", file=sys.stderr)
    return bool(back)


if __name__ == "__main__":
    sys.exit(main())
