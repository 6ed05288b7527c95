"""Every figure of the paper's study: what it shows, and its place in the paper and on the page.

The paper numbers the figures of its text; those of its supplement are counted here from S1 on, in
their order. Rows that the paper's figure does not have stand at its end, set apart.
"""

from __future__ import annotations

from dataclasses import dataclass

from understudy.study import paper
from understudy.study.arms import ANALYSES, BAYESIAN, DOWNSCALED, OURS, STATISTICS, SYNTHESISERS


@dataclass(frozen=True)
class Panel:
    """One panel: every arm in it has this ε and this c₁, as far as it has them."""

    title: str
    epsilon: float
    c1: float = 1.0


@dataclass(frozen=True)
class Layout:
    """Which panels a figure has, in reading order, and how its title and its caption say so."""

    panels: tuple[Panel, ...]
    title: str
    where: str


_LARGEST, _DOWNSCALED, _C1 = paper.EPSILONS[0], paper.DOWNSCALED_EPSILON, paper.DOWNSCALED_C1
EPSILONS = Layout(
    tuple(Panel(f"ε = {epsilon:g}", epsilon) for epsilon in paper.EPSILONS),
    "",
    ", one panel for each ε",
)
LARGEST_EPSILON = Layout(EPSILONS.panels[:1], f" at ε = {_LARGEST:g}", f" at ε = {_LARGEST:g}")
DOWNSCALING = Layout(
    (
        Panel("without downscaling (c₁ = 1)", _DOWNSCALED),
        Panel(f"with downscaling (c₁ = {_C1:g})", _DOWNSCALED, _C1),
    ),
    " without and with downscaling",
    f" at ε = {_DOWNSCALED:g}, with the weights as they are (top) and multiplied by c₁ = {_C1:g} "
    f"(bottom)",
)


@dataclass(frozen=True)
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
    def title(self) -> str:
        """What the figure is called on the page."""
        included = ", Unweighted included" if "unweighted" in self.mechanisms else ""
        return f"{STATISTICS[self.statistic]}{included}{self.layout.title}"

    def caption(self, replicates: int) -> str:
        """Say in a sentence or two what is drawn."""
        many = f"{replicates} replicates" if replicates > 1 else "one replicate"
        line = "Dashed: ε/2." if self.statistic == "lipschitz_bound" else "Smaller is better."
        if self.statistic in ANALYSES:
            a, b = paper.SHAPES
            line = f"Dashed: the value of Beta({a:g}, {b:g}), from which the tables are drawn."
        return f"{STATISTICS[self.statistic]} over {many}{self.layout.where}. {line}"


def _utility(name: str, number: str | None, statistic: str, layout: Layout) -> ViolinFigure:
    downscaling = layout is DOWNSCALING
    data = ("data",) if statistic in ANALYSES else ()
    mechanisms = (*data, *(DOWNSCALED if downscaling else SYNTHESISERS))
    beyond = () if downscaling else ("unweighted", *OURS)
    return ViolinFigure(name, number, statistic, layout, mechanisms, beyond)


_BOUND = "lipschitz_bound"
_FIGURES = (
    ViolinFigure("lipschitz", "2", _BOUND, EPSILONS, BAYESIAN),
    _utility("max-ecdf", "3", "max_ecdf", EPSILONS),
    _utility("avg-ecdf", "4", "avg_ecdf", EPSILONS),
    _utility("median-at-5", "5", "median", LARGEST_EPSILON),
    _utility("downscaling-lipschitz", "6", _BOUND, DOWNSCALING),
    _utility("downscaling-avg-ecdf", "7", "avg_ecdf", DOWNSCALING),
    _utility("downscaling-q15", "8", "q15", DOWNSCALING),
    ViolinFigure("lipschitz-unweighted", "S1", _BOUND, EPSILONS, ("unweighted", *BAYESIAN)),
    _utility("q15-at-5", "S2", "q15", LARGEST_EPSILON),
    _utility("q90-at-5", "S3", "q90", LARGEST_EPSILON),
    _utility("q15", "S4", "q15", EPSILONS),
    _utility("q90", "S5", "q90", EPSILONS),
    _utility("median", "S6", "median", EPSILONS),
    _utility("mean", None, "mean", EPSILONS),
    _utility("downscaling-max-ecdf", "S7", "max_ecdf", DOWNSCALING),
    _utility("downscaling-mean", "S8", "mean", DOWNSCALING),
    _utility("downscaling-median", "S9", "median", DOWNSCALING),
    _utility("downscaling-q90", "S10", "q90", DOWNSCALING),
)
FIGURES = {figure.name: figure for figure in _FIGURES}
"""By name, in the paper's order."""


BEFORE_APPLICATION = {
    "censoring": ("illustration",),
    "privacy": ("lipschitz", "table-1"),
    "utility": ("max-ecdf", "avg-ecdf", "median-at-5", "utility"),
    "downscaling": ("downscaling-lipschitz", "downscaling-avg-ecdf", "downscaling-q15"),
}
AFTER_APPLICATION = {
    "supplement-privacy": (
        "lipschitz-unweighted",
        *("q15-at-5", "q90-at-5", "q15", "q90", "median", "mean"),
    ),
    "supplement-downscaling": (
        "table-supplement",
        *(f"downscaling-{each}" for each in ("max-ecdf", "mean", "median", "q90")),
    ),
}
"""What the sections of the page show, by name; the template has their titles and what leads in."""
