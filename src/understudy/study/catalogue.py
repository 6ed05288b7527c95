"""Every figure of the paper's study: what it shows, and where it stands in the paper.

The paper numbers the figures of its text; those of its supplement are counted here from S1 on, in
their order. Rows that the paper's figure does not have stand at its end, set apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from understudy.study import paper
from understudy.study.arms import ANALYSES, DOWNSCALED, OURS, STATISTICS

TARGETED = ("weighted-e", "censor-w", "censor-uw")
BAYESIAN = ("weighted", *TARGETED)
SYNTHESISERS = (*BAYESIAN, "ph")
"""The five that the paper compares in utility."""


class Layout(StrEnum):
    """Which panels a figure has."""

    EPSILONS = "epsilons"
    LARGEST_EPSILON = "largest-epsilon"
    DOWNSCALING = "downscaling"


@dataclass(frozen=True)
class Panel:
    """One panel: every arm in it has this ε and this c₁, as far as it has them."""

    title: str
    epsilon: float
    c1: float = 1.0


_PANELS = {
    Layout.EPSILONS: tuple(Panel(f"ε = {epsilon:g}", epsilon) for epsilon in paper.EPSILONS),
    Layout.LARGEST_EPSILON: (Panel(f"ε = {paper.EPSILONS[0]:g}", paper.EPSILONS[0]),),
    Layout.DOWNSCALING: (
        Panel("without downscaling (c₁ = 1)", paper.DOWNSCALED_EPSILON),
        Panel(
            f"with downscaling (c₁ = {paper.DOWNSCALED_C1:g})",
            paper.DOWNSCALED_EPSILON,
            paper.DOWNSCALED_C1,
        ),
    ),
}


@dataclass(frozen=True, kw_only=True)
class ViolinFigure:
    """A figure of violins."""

    name: str
    number: str | None
    """Its number in the paper; None where the paper has no such figure."""
    statistic: str
    layout: Layout
    mechanisms: tuple[str, ...]
    beyond: tuple[str, ...] = ()
    """Mechanisms that the paper's figure does not show."""

    @property
    def panels(self) -> tuple[Panel, ...]:
        """The panels, in reading order."""
        return _PANELS[self.layout]

    @property
    def title(self) -> str:
        """What the figure is called on the page."""
        subject = STATISTICS[self.statistic]
        if "unweighted" in self.mechanisms:
            subject += ", Unweighted included"
        if self.layout is Layout.EPSILONS:
            return subject
        if self.layout is Layout.LARGEST_EPSILON:
            return f"{subject} at ε = {paper.EPSILONS[0]:g}"
        return f"{subject} without and with downscaling"

    def caption(self, replicates: int) -> str:
        """Say in a sentence or two what is drawn."""
        many = f"{replicates} replicates" if replicates > 1 else "one replicate"
        return f"{STATISTICS[self.statistic]} over {many}{self._where()}. {self._line()}"

    def _where(self) -> str:
        if self.layout is Layout.EPSILONS:
            return ", one panel for each ε"
        if self.layout is Layout.LARGEST_EPSILON:
            return f" at ε = {paper.EPSILONS[0]:g}"
        return (
            f" at ε = {paper.DOWNSCALED_EPSILON:g}, with the weights as they are (top) and "
            f"multiplied by c₁ = {paper.DOWNSCALED_C1:g} (bottom)"
        )

    def _line(self) -> str:
        if self.statistic == "lipschitz_bound":
            return "Dashed: ε/2."
        if self.statistic in ANALYSES:
            a, b = paper.SHAPES
            return f"Dashed: the value of Beta({a:g}, {b:g}), from which the tables are drawn."
        return "Smaller is better."


def _utility(name: str, number: str | None, statistic: str, layout: Layout) -> ViolinFigure:
    downscaling = layout is Layout.DOWNSCALING
    shown = DOWNSCALED if downscaling else SYNTHESISERS
    return ViolinFigure(
        name=name,
        number=number,
        statistic=statistic,
        layout=layout,
        mechanisms=("data", *shown) if statistic in ANALYSES else shown,
        beyond=() if downscaling else ("unweighted", *OURS),
    )


def _catalogue() -> Iterator[ViolinFigure]:
    bounds = "lipschitz_bound"
    each, one, pair = Layout.EPSILONS, Layout.LARGEST_EPSILON, Layout.DOWNSCALING
    yield ViolinFigure(
        name="lipschitz", number="2", statistic=bounds, layout=each, mechanisms=BAYESIAN
    )
    yield _utility("max-ecdf", "3", "max_ecdf", each)
    yield _utility("avg-ecdf", "4", "avg_ecdf", each)
    yield _utility("median-at-5", "5", "median", one)
    yield _utility("downscaling-lipschitz", "6", bounds, pair)
    yield _utility("downscaling-avg-ecdf", "7", "avg_ecdf", pair)
    yield _utility("downscaling-q15", "8", "q15", pair)
    yield ViolinFigure(
        name="lipschitz-unweighted",
        number="S1",
        statistic=bounds,
        layout=each,
        mechanisms=("unweighted", *BAYESIAN),
    )
    yield _utility("q15-at-5", "S2", "q15", one)
    yield _utility("q90-at-5", "S3", "q90", one)
    yield _utility("q15", "S4", "q15", each)
    yield _utility("q90", "S5", "q90", each)
    yield _utility("median", "S6", "median", each)
    yield _utility("mean", None, "mean", each)
    yield _utility("downscaling-max-ecdf", "S7", "max_ecdf", pair)
    yield _utility("downscaling-mean", "S8", "mean", pair)
    yield _utility("downscaling-median", "S9", "median", pair)
    yield _utility("downscaling-q90", "S10", "q90", pair)


FIGURES = {figure.name: figure for figure in _catalogue()}
"""By name, in the paper's order."""
