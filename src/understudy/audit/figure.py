"""The picture of an audit: the posteriors of two neighbouring tables, parameter by parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from understudy.audit.result import Curve
from understudy.report.svg import inline_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BEFORE, _AFTER = "#0072B2", "#D55E00"
_VISIBLE = 1e-3
"""Densities below this share of the top are left out on either side."""


def posteriors(curves: tuple[Curve, ...], neighbour: str) -> str:
    """Draw the marginal densities before and after the change."""

    def draw(axes: Axes) -> None:
        figure = axes.get_figure(root=True)
        assert figure is not None
        axes.remove()
        panels = figure.subplots(1, len(curves), squeeze=False)[0]
        for panel, curve in zip(panels, curves, strict=True):
            _panel(panel, curve)
        panels[0].set_ylabel("Posterior density")
        panels[0].legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0.2)

    text = inline_svg(draw, f"Posterior densities of neighbouring tables: {neighbour}")
    # The picture also stands alone in a file, where a browser asks for its namespace.
    return text.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)


def _panel(axes: Axes, curve: Curve) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.plot(curve.at, curve.before, color=_BEFORE, label="Table")
    axes.plot(curve.at, curve.after, color=_AFTER, linestyle="--", label="Neighbour")
    visible = [density > _VISIBLE * density.max() for density in (curve.before, curve.after)]
    shown = curve.at[np.logical_or(*visible)]
    axes.set_xlim(shown.min(), shown.max())
    axes.set_ylim(bottom=0)
    axes.set_xlabel(curve.parameter)
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.yaxis.set_major_locator(MaxNLocator(5))
