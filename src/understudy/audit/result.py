"""What an audit found, next to what was asked for and what is claimed, and as a picture."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy.privacy.guarantee import Adjacency
from understudy.privacy.rounding import at_most, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SLACK = 1e-6
"""Relative; larger than the rounding of any sum here, far smaller than any leak."""
_VISIBLE = 1e-3
"""Densities below this share of the top are left out of the picture on either side."""


@dataclass(frozen=True)
class Curve:
    """The marginal density of one parameter for both tables."""

    parameter: str
    at: np.ndarray
    before: np.ndarray
    after: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Audit:
    """The largest log-ratio found between the posteriors of neighbouring tables."""

    mechanism: str
    adjacency: Adjacency
    target: float
    """The ε asked for."""
    largest_log_ratio: float
    claimed: float | None
    """The ε that the guarantee states under this adjacency; None if nothing strict is claimed."""
    n: int
    neighbour: str
    """What was added or replaced, in words."""
    selection_log_ratio: float | None = None
    """Exact draws: the same for the probabilities with which candidates are picked."""
    curves: tuple[Curve, ...] = field(default=(), repr=False, compare=False)
    """Both posteriors of the last draw."""

    @property
    def exceeds(self) -> bool:
        """Whether more was found than was asked for."""
        return self.largest_log_ratio > self.target * (1 + _SLACK)

    @property
    def broken(self) -> bool:
        """Whether more was found than the guarantee claims."""
        return self.claimed is not None and self.largest_log_ratio > self.claimed * (1 + _SLACK)

    def to_dict(self) -> dict[str, Any]:
        """Return what `audit --json` prints; a log-ratio without limit is null, and exceeds."""
        ratio = self.largest_log_ratio
        return {
            "mechanism": self.mechanism,
            "adjacency": str(self.adjacency),
            "target": self.target,
            "largest_log_ratio": ratio if math.isfinite(ratio) else None,
            "selection_log_ratio": self.selection_log_ratio,
            "claimed": self.claimed,
            "exceeds": self.exceeds,
            "broken": self.broken,
            "n": self.n,
            "neighbour": self.neighbour,
        }

    def __str__(self) -> str:
        """All numbers and what they mean, in plain words."""
        claimed = "no number" if self.claimed is None else f"ε = {at_most(self.claimed)}"
        picked = ""
        if self.selection_log_ratio is not None:
            picked = f"  of exact draws:     {self.selection_log_ratio:.5g}\n"
        return (
            f"{self.mechanism} under {self.adjacency}, tables of {self.n:,} records\n"
            f"  asked for:          ε = {plain(self.target)}\n"
            f"  claimed:            {claimed}\n"
            f"  largest log-ratio:  {self.largest_log_ratio:.5g}\n"
            f"{picked}"
            f"  found with:         {self.neighbour}\n"
            f"{self._verdict()}"
        )

    def _verdict(self) -> str:
        if self.broken:
            return "The claim is broken: these neighbours can be told apart better than it allows."
        if self.exceeds:
            return f"That is more than the ε = {plain(self.target)} that was asked for."
        if self.claimed is None:
            return "No neighbour was found that passes the ε asked for; none is ruled out either."
        return "No neighbour was found that breaks the claim."

    def figure(self) -> str:
        """Draw both posteriors, a panel for each parameter, as the text of an SVG."""
        from understudy.report.svg import inline_svg

        def draw(axes: Axes) -> None:
            figure = axes.get_figure(root=True)
            assert figure is not None
            axes.remove()
            panels = figure.subplots(1, len(self.curves), squeeze=False)[0]
            for panel, curve in zip(panels, self.curves, strict=True):
                _fill(panel, curve)
            panels[0].set_ylabel("Posterior density")
            panels[0].legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0.2)

        text = inline_svg(draw, f"Posterior densities of neighbouring tables: {self.neighbour}")
        # The picture also stands alone in a file, where a browser asks for its namespace.
        return text.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)


def _fill(axes: Axes, curve: Curve) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.plot(curve.at, curve.before, color="#0072B2", label="Table")
    axes.plot(curve.at, curve.after, color="#D55E00", linestyle="--", label="Neighbour")
    visible = [density > _VISIBLE * density.max() for density in (curve.before, curve.after)]
    shown = curve.at[np.logical_or(*visible)]
    axes.set_xlim(shown.min(), shown.max())
    axes.set_ylim(bottom=0)
    axes.set_xlabel(curve.parameter)
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.yaxis.set_major_locator(MaxNLocator(5))
