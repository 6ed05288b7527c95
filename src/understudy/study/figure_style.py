"""One style for the study's figures, and how a figure becomes a PNG and an SVG file.

The same results give the same files, byte for byte: nothing in them depends on the clock, and the
ids inside an SVG follow from its content. Text in an SVG stays text.
"""

from __future__ import annotations

import io
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from understudy.report.svg import FONTS, STYLE
from understudy.support.files import written_atomically

WIDTH = 6.4
"""Inches; with text of 10.5 points a figure can still be read on a phone, at half its size."""
DPI = 150
SOFT = "#52606d"
GROUND = "#f4f1e8"
"""Behind what is not in the paper."""

COLOURS = {
    "data": "#4d4d4d",
    "unweighted": "#999999",
    "weighted": "#0072b2",
    "weighted-e": "#56b4e9",
    "censor-w": "#d55e00",
    "censor-uw": "#e69f00",
    "ph": "#009e73",
    "ph-sqrt": "#009e73",
    "anchored-history": "#cc79a7",
    "anchored-ladder": "#cc79a7",
    "summary": "#000000",
}
"""The palette of Okabe and Ito, whose colours can be told apart without full colour vision."""

_STYLE: dict[str, Any] = STYLE | {
    "axes.grid": False,
    "axes.titlesize": 10.5,
    # A fixed place, which spares the search for one.
    "axes.titley": 1.0,
    "xtick.labelsize": 9.5,
}


def style() -> AbstractContextManager[None]:
    """Draw in the study's style, whatever the user's own settings are."""
    # The default style leaves the backend alone, and no window is ever opened.
    return matplotlib.style.context(["default", _STYLE])


def blank(height: float) -> Figure:
    """Return an empty figure of the common width."""
    return Figure(figsize=(WIDTH, height), dpi=DPI)


def place(figure: Figure, *, left: float, bottom: float, width: float, height: float) -> Axes:
    """Add axes at a place given in inches."""
    across, up = figure.get_size_inches()
    return figure.add_axes((left / across, bottom / up, width / across, height / up))


def save(figure: Figure, directory: Path, name: str, title: str) -> None:
    """Write the figure as `name`.png and `name`.svg."""
    with written_atomically(directory / f"{name}.png") as path:
        FigureCanvasAgg(figure).print_png(path, metadata={"Software": None, "Title": title})
    text = io.StringIO()
    nothing = dict.fromkeys(["Creator", "Date", "Format", "Type"])
    FigureCanvasSVG(figure).print_svg(text, metadata={**nothing, "Title": title})
    with written_atomically(directory / f"{name}.svg") as path:
        # Laid out for the font that matplotlib brings along; shown in the reader's own.
        path.write_text(text.getvalue().replace("'DejaVu Sans'", FONTS), encoding="utf-8")
