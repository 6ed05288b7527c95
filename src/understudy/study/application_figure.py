"""The density plots of section 5: the data, the paper's synthesisers, and ours beside them.

Colours are Okabe and Ito's, and every line has a style of its own, so that the picture can be read
with any kind of colour vision and in print.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from understudy.report.wording import tick
from understudy.study import figure_style
from understudy.study.application import Application, MeasuredTable
from understudy.study.arms import Values

_LINES: dict[str, tuple[str, Any]] = {
    "weighted": ("#0072B2", (0, (6, 1.5))),
    "weighted-e": ("#56B4E9", (0, (6, 1.5, 1.2, 1.5))),
    "censor-w": ("#D55E00", "-"),
    "censor-uw": ("#E69F00", (0, (3, 1.2))),
    "ph": ("#009E73", (0, (1.2, 1.2))),
    "anchored-5": ("#CC79A7", "-"),
    "anchored-1": ("#CC79A7", (0, (3, 1.2))),
    "ph-sqrt": ("#009E73", (0, (1.2, 1.2))),
    "unweighted": ("#666666", (0, (6, 1.5))),
}
_SIZE = (11.0, 4.3)
_VISIBLE = 0.02
"""The picture ends where every density has fallen below this share of the highest."""


def write_densities(application: Application, folder: Path) -> None:
    """Draw the picture into densities.svg and densities.png."""
    with figure_style.style():
        figure = _draw(application)
        figure_style.save(
            figure, folder, "densities", "Densities of the data and the synthetic tables"
        )


def _draw(application: Application) -> Figure:
    column = application.sample.schema.confidential[0]
    at, densities = application.densities
    every = np.array(list(densities.values()))
    end = np.flatnonzero((every > _VISIBLE * every.max()).any(axis=0))[-1] + 1
    curves = {key: density[:end] for key, density in densities.items()}
    figure = Figure(figsize=_SIZE, dpi=figure_style.DPI, layout="constrained")
    for panel, title, tables in zip(
        figure.subplots(1, 2, sharey=True),
        ("As in the paper", "Beyond the paper"),
        (application.paper, application.beyond),
        strict=True,
    ):
        _panel(panel, at[:end], curves, tables)
        panel.set_title(title, loc="left")
        panel.set_xlim(column.lower, at[end - 1])
        panel.set_xlabel(f"{column.name.capitalize()}, {application.sample.unit}")
    return figure


def _panel(
    axes: Axes, at: Values, curves: Mapping[str, Values], tables: Sequence[MeasuredTable]
) -> None:
    axes.fill_between(at, curves["data"], color="#d9dee4", linewidth=0)
    axes.plot(at, curves["data"], color="black", linewidth=1.4, label="Data")
    for table in tables:
        colour, dashes = _LINES[table.key]
        axes.plot(at, curves[table.key], color=colour, linestyle=dashes, label=table.label)
    axes.set_ylim(bottom=0)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda number, _: tick(number)))
    axes.legend(loc="upper right", handlelength=3.2)
