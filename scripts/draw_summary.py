"""Draw docs/summary.svg: what a record contributes, what noise is added, what is inferred.

    python scripts/draw_summary.py docs/summary.svg

Everything in it is from one synthesis of a simulated table, with a fixed seed.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib.style
import numpy as np
import pandas as pd
import scipy.stats
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import understudy as us
from understudy.inference.contribution import UNIT, ScoreContribution
from understudy.report.svg import INK, STYLE

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#9aa5b1"
RECORDS, EPSILON, SHOWN = 2000, 1.0, 300
SHARE = {"role": "confidential", "type": "continuous", "bounds": [0, 1]}


def contributions(axes: Axes, model: us.Model, scores: dict[str, Any], x: np.ndarray) -> None:
    """Draw the scores of some records, and the bound that none of them passes."""
    defined = scores["definition"]
    z, directions, centre = (np.array(defined[name]) for name in ("z", "directions", "centre"))
    own = ScoreContribution(model, z, directions, centre, defined["length"])
    w = own.each({"x": x}) / UNIT
    bound = own.bound / UNIT
    axes.plot([bound, 0, -bound, 0, bound], [0, bound, 0, -bound, 0], color=ORANGE)
    axes.scatter(w[:, 0], w[:, 1], s=9, color=BLUE, alpha=0.5, linewidth=0)
    axes.annotate(
        "‖w(x)‖₁ = C", (0, bound), xytext=(4, 2), textcoords="offset points", color=ORANGE
    )
    axes.set(xlabel="First direction", ylabel="Second direction", aspect="equal")
    axes.set_title("1  What a record adds", loc="left", fontsize=11, color=INK)


def published(axes: Axes, table: dict[str, Any], x: np.ndarray) -> None:
    """Draw the noisy table, with the noise, over the true one."""
    edges = np.array(table["definition"]["tables"][0]["edges"])
    there = np.bincount(np.searchsorted(edges, x, side="right"), minlength=len(edges) + 1)
    deviation = np.sqrt(2) * table["noise"]["scale"]
    places = np.arange(len(there))
    axes.bar(places, there, color=GREY, alpha=0.5, label="sum (stays inside)")
    axes.errorbar(
        places, table["noisy"], 2 * deviation, fmt="o", ms=3.5, color=BLUE, lw=1.2,
        label="published, ± 2 sd of the noise",
    )  # fmt: skip
    axes.set(xlabel="Cell of the coarse table", ylabel="Records", ylim=(None, 1.35 * there.max()))
    axes.legend(loc="upper left", fontsize=9)
    axes.set_title("2  Noise is added once", loc="left", fontsize=11, color=INK)


def inferred(axes: Axes, parameters: dict[str, Any], x: np.ndarray) -> None:
    """Draw distribution functions at draws of θ, and that of the table."""
    grid = np.linspace(0, 1, 400)
    for k, theta in enumerate(parameters["draws"][:80]):
        shapes = theta["lambda"] * theta["phi"], theta["lambda"] * (1 - theta["phi"])
        label = "draws of θ" if k == 0 else None
        axes.plot(
            grid, scipy.stats.beta.cdf(grid, *shapes), color=BLUE, lw=0.6, alpha=0.3, label=label
        )
    axes.plot(np.sort(x), np.arange(1, len(x) + 1) / len(x), "--", color=INK, lw=1.2, label="table")
    axes.set(xlabel="x", ylabel="Share of records below x", xlim=(0, 0.6))
    axes.legend(loc="lower right", fontsize=9)
    axes.set_title("3  The rest is inferred in public", loc="left", fontsize=11, color=INK)


def main(path: Path) -> None:
    """Synthesise once and draw what was published."""
    schema = us.Schema.from_dict({"table": {"size": RECORDS}, "columns": {"x": SHARE}})
    model, x = us.beta(schema), np.random.default_rng(8).beta(0.8, 5, RECORDS)
    release = us.synthesize(model, pd.DataFrame({"x": x}), us.Summary(epsilon=EPSILON), seed=8)
    parameters = release.parameters[0]
    table, scores = parameters["rounds"]
    with matplotlib.style.context(["default", STYLE]):
        figure = Figure(figsize=(12.0, 3.9), layout="constrained")
        panels = figure.subplots(1, 3)
        contributions(panels[0], model, scores, x[:SHOWN])
        published(panels[1], table, x)
        inferred(panels[2], parameters, x)
        figure.savefig(path, format="svg", metadata={"Date": None})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
