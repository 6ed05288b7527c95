"""What censoring does to a posterior (the paper's Figure 1).

2000 records from Beta(0.5, 2), ε = 1.6: the prior, the posterior and the posterior of Censor_uw
with B = ε/2, each as it is and centred at its mean. The paper does not say which parameter it
shows. This is φ, the mean of the records, which lives on [0, 1] and whose prior is flat.

Of its two remarks, that censoring displaces the posterior is about the table, and that it flattens
the posterior is about "a given record". So both are drawn: the posterior given the table, and the
posterior given its largest record alone.

Densities are computed from the mass of the cells of a grid, not from draws.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from understudy.report.svg import FAINT, INK
from understudy.study import figure_style, paper
from understudy.study.arms import Values
from understudy.support.files import written_atomically

NAME = "illustration"
TITLE = "The effect of censoring"
_A, _B = paper.ILLUSTRATION_SHAPES
CAPTION = (
    f"Density of φ, the mean of the records, for {paper.N} records from Beta({_A:g}, {_B:g}) and "
    f"ε = {paper.ILLUSTRATION_EPSILON:g}: prior, posterior and posterior of Censor_uw, as they are "
    f"(left) and centred (right). The paper does not say which parameter it shows. Top: given all "
    f"the records. Bottom: given the largest of them alone."
)
SEED = 20_221
PRIOR, POSTERIOR, CENSORED = "Prior", "Posterior", "Censored posterior"
GIVENS = {"table": "Given 2000 records", "record": "Given the largest record"}

_LINES = {
    PRIOR: (FAINT, ":"),
    POSTERIOR: (INK, "-"),
    CENSORED: (figure_style.COLOURS["censor-uw"], "--"),
}
_POINTS = {"table": 97, "record": 257}
_TOP, _HEIGHT, _BELOW, _AXIS = 0.68, 1.6, 0.86, 0.5
"""Inches above the panels, in, between and below them."""
_WIDE = 0.1
_WIDTHS = 5.0
"""The pictures of a narrow posterior end this many standard deviations from its mean."""


@dataclass(frozen=True, eq=False)
class DensityCurve:
    """The density of φ on a grid."""

    given: str
    name: str
    at: Values
    density: Values
    mean: float
    sd: float


def compute() -> tuple[DensityCurve, ...]:
    """Return the six densities: three given the table, three given its largest record."""
    records = np.random.default_rng(SEED).beta(*paper.ILLUSTRATION_SHAPES, paper.N)
    curves = []
    for given, values in (("table", records), ("record", records[[int(records.argmax())]])):
        # The prior is uniform and needs no grid.
        ends, flat = np.array([0.0, 1.0]), np.ones(2)
        curves.append(DensityCurve(given, PRIOR, ends, flat, 0.5, math.sqrt(1 / 12)))
        for name, bound in ((POSTERIOR, math.inf), (CENSORED, paper.ILLUSTRATION_EPSILON / 2)):
            curves.append(_posterior(given, name, values, bound))
    return tuple(curves)


def _posterior(given: str, name: str, values: Values, bound: float) -> DensityCurve:
    """Return the density of φ: the mass of each column of cells over its width on the scale of φ.

    On the unconstrained scale of the grid φ is logistic, so a cell of width h spans φ(1 − φ)·h.
    """
    from understudy._jax import jax, jnp
    from understudy.samplers.quadrature import quadrature
    from understudy.score import Row
    from understudy.study.synthesisers import study_model

    model, count = study_model(), len(values)
    row = Row(jnp.ones(count), jnp.zeros(count), jnp.asarray(bound))
    grid = quadrature(model, model.prepare({"x": values}), row, points=_POINTS[given])
    phi = np.asarray(jax.vmap(model.constrain)(jnp.asarray(grid.nodes))["phi"])
    at, column = np.unique(phi, return_inverse=True)
    density = np.bincount(column, weights=grid.mass) / (at * (1 - at) * grid.cell[0])
    return DensityCurve(given, name, at, density, float(grid.mean(phi)), float(grid.sd(phi)))


def summary(curves: Sequence[DensityCurve]) -> pd.DataFrame:
    """Return the mean and the standard deviation of every density."""
    rows = [(curve.given, curve.name, curve.mean, curve.sd) for curve in curves]
    return pd.DataFrame(rows, columns=["given", "density", "mean", "sd"])


def write_illustration(directory: Path) -> None:
    """Write the figure into `figures`, and the numbers behind it as `illustration.csv`."""
    curves = compute()
    with figure_style.style():
        figure = figure_style.blank(_TOP + 2 * _HEIGHT + _BELOW + _AXIS)
        for index, given in enumerate(GIVENS):
            _draw(figure, [curve for curve in curves if curve.given == given], GIVENS[given], index)
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="upper left", ncols=3, borderpad=0.2)
        figure_style.save(figure, directory / "figures", NAME, TITLE)
    with written_atomically(directory / "illustration.csv") as path:
        summary(curves).to_csv(path, index=False, float_format="%.6g")


def _draw(figure: Figure, curves: Sequence[DensityCurve], title: str, index: int) -> None:
    """Draw the densities as they are and centred, on one scale of heights."""
    top = 1.06 * max(curve.density.max() for curve in curves)
    bottom = figure.get_size_inches()[1] - _TOP - (index + 1) * _HEIGHT - index * _BELOW
    for centred, left in ((False, 0.62), (True, 3.68)):
        axes = figure_style.place(figure, left=left, bottom=bottom, width=2.6, height=_HEIGHT)
        axes.set_title("Centred" if centred else title, loc="left", pad=5)
        for curve in curves:
            colour, line = _LINES[curve.name]
            at = curve.at - curve.mean if centred else curve.at
            axes.plot(at, curve.density, color=colour, linestyle=line, label=curve.name)
        axes.set_xlim(_shown(curves, centred=centred))
        axes.set_ylim(0, top)
        axes.grid()
        axes.set_xlabel("φ − mean of φ" if centred else "φ")
        axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
        axes.yaxis.set_major_locator(MaxNLocator(4))
        axes.tick_params(labelleft=not centred)
    figure.axes[-2].set_ylabel("Density")
    figure.axes[-2].yaxis.set_label_coords(-0.17, 0.5)


def _shown(curves: Sequence[DensityCurve], *, centred: bool) -> tuple[float, float]:
    """Return the part of the scale where the posteriors have their mass.

    Only a wide posterior can be shown together with all of the prior.
    """
    posteriors = [curve for curve in curves if curve.name != PRIOR]
    wide = max(curve.sd for curve in posteriors) > _WIDE
    pairs = [(curve, curve.mean if centred else 0.0) for curve in (curves if wide else posteriors)]
    low = min(max(curve.mean - _WIDTHS * curve.sd, 0.0) - origin for curve, origin in pairs)
    high = max(min(curve.mean + _WIDTHS * curve.sd, 1.0) - origin for curve, origin in pairs)
    return low, high
