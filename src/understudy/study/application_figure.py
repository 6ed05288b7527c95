"""The density plots of section 5: the data, the paper's synthesisers, and ours beside them.

Colours are Okabe and Ito's, and every line has a style of its own, so that the picture can be read
with any kind of colour vision and in print.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from understudy.report.curves import reflected_kde
from understudy.report.wording import tick
from understudy.study import figure_style

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from understudy.study.application import Application, MeasuredTable

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
    from matplotlib.figure import Figure

    sample = application.sample
    column = sample.schema.confidential[0]
    bounds = column.lower, column.upper
    at, data = reflected_kde(sample.values, bounds)
    densities = [reflected_kde(outcome.synthetic, bounds)[1] for outcome in application.outcomes]
    every = np.array([data, *densities])
    end = np.flatnonzero((every > _VISIBLE * every.max()).any(axis=0))[-1] + 1
    curves = {
        o.key: density[:end] for o, density in zip(application.outcomes, densities, strict=True)
    }
    figure = Figure(figsize=_SIZE, dpi=figure_style.DPI, layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for panel, title, outcomes in (
        (panels[0], "As in the paper", application.paper),
        (panels[1], "Beyond the paper", application.beyond),
    ):
        _panel(panel, at[:end], data[:end], [(each, curves[each.key]) for each in outcomes])
        panel.set_title(title, loc="left")
        panel.set_xlim(column.lower, at[end - 1])
        panel.set_xlabel(f"{column.name.capitalize()}, {sample.unit}")
    return figure


def _panel(
    axes: Axes,
    at: NDArray[np.float64],
    data: NDArray[np.float64],
    curves: Sequence[tuple[MeasuredTable, NDArray[np.float64]]],
) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.fill_between(at, data, color="#d9dee4", linewidth=0)
    axes.plot(at, data, color="black", linewidth=1.4, label="Data")
    for outcome, curve in curves:
        colour, dashes = _LINES[outcome.key]
        axes.plot(at, curve, color=colour, linestyle=dashes, label=outcome.label)
    axes.set_ylim(bottom=0)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda number, _: tick(number)))
    axes.legend(loc="upper right", handlelength=3.2)
