"""What an audit found, next to what was asked for and what is claimed, and as a picture."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy.errors import BadInput
from understudy.privacy.guarantee import Adjacency
from understudy.privacy.rounding import at_most, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SLACK = 1e-6
"""Relative; larger than the rounding of any sum on a grid, far smaller than any leak there."""
_VISIBLE = 1e-3
"""Densities below this share of the top are left out of the picture on either side."""


@dataclass(frozen=True)
class Curve:
    """The density of one number for both tables: a parameter's, or that of a noisy sum."""

    parameter: str
    at: np.ndarray
    before: np.ndarray
    after: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Round:
    """A noisy sum or a choice: how far a record may move it, and how far it was found to go."""

    kind: str
    """`table` or `score`, of a sum's contributions; `choice` of pairs of columns."""
    entries: int
    epsilon: float
    """What the round costs under the adjacency of the audit."""
    bound: int
    """How far neighbours may be apart, in units."""
    longest: float
    """How far they were found to be; infinite where a record contributes no whole numbers."""
    passed: bool
    """Whether that is more than the bound, or than the noise keeps to its ε: exactly compared."""

    def to_dict(self) -> dict[str, Any]:
        """Return what `audit --json` prints of a round."""
        longest = int(self.longest) if math.isfinite(self.longest) else None
        return {
            "kind": self.kind,
            "entries": self.entries,
            "epsilon": self.epsilon,
            "bound": self.bound,
            "longest": longest,
        }


@dataclass(frozen=True, kw_only=True)
class Audit:
    """The largest log-ratio found between what neighbouring tables lead to."""

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
    """Both posteriors of the last draw, or the noise of each round."""
    density: str = field(default="Posterior density", repr=False, compare=False)
    """What the curves show."""
    rounds: tuple[Round, ...] = ()
    """Sums: what was found of each. All of it is exact, and no rounding is allowed for."""

    @property
    def _allowance(self) -> float:
        return 1.0 if self.rounds else 1 + _SLACK

    @property
    def _passed(self) -> bool:
        return any(each.passed for each in self.rounds)

    @property
    def exceeds(self) -> bool:
        """Whether more was found than was asked for, in all or in a round of sums."""
        return self._passed or self.largest_log_ratio > self.target * self._allowance

    @property
    def broken(self) -> bool:
        """Whether more was found than the guarantee claims, in all or in a round of sums."""
        if self.claimed is None:
            return False
        return self._passed or self.largest_log_ratio > self.claimed * self._allowance

    def to_dict(self) -> dict[str, Any]:
        """Return what `audit --json` prints; a log-ratio without limit is null, and exceeds."""
        ratio = self.largest_log_ratio
        rounds = {"rounds": [each.to_dict() for each in self.rounds]} if self.rounds else {}
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
            **rounds,
        }

    def __str__(self) -> str:
        """All numbers and what they mean, in plain words."""
        claimed = "no number" if self.claimed is None else f"ε = {at_most(self.claimed)}"
        picked = ""
        if self.selection_log_ratio is not None:
            picked = f"  of exact draws:     {self.selection_log_ratio:.5g}\n"
        for number, each in enumerate(self.rounds, start=1):
            share = each.longest / each.bound
            picked += f"  round {number}, {each.kind + ':':<10} {share:.5%} of its bound\n"
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
        """Draw both densities, a panel for each parameter or round, as the text of an SVG."""
        from understudy.report.svg import inline_svg

        if not self.curves:
            raise BadInput("there is nothing to draw: no neighbour was needed to break the claim.")

        def draw(axes: Axes) -> None:
            figure = axes.get_figure(root=True)
            assert figure is not None
            axes.remove()
            panels = figure.subplots(1, len(self.curves), squeeze=False)[0]
            for panel, curve in zip(panels, self.curves, strict=True):
                _fill(panel, curve)
            panels[0].set_ylabel(self.density)
            panels[0].legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0.2)

        text = inline_svg(draw, f"{self.density}, of neighbouring tables: {self.neighbour}")
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
