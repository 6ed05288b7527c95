"""What the sections about all columns of a table tell, ready to be shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from understudy.report.figures import Picture
from understudy.report.svg import INK, inline_svg, shortened
from understudy.report.wording import NOTHING, percent, readable, signed
from understudy.utility.pairs import InBothTables, PairUtility
from understudy.utility.propensity import Propensity
from understudy.utility.regression import Coefficient, Estimate, Regression

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN_PAIRS = 10
SMALLEST_SCALE = 0.05
"""The darkest colour never stands for less: noise should not look like a catastrophe."""
LIGHT, DARK = "#f4f8fb", "#00507d"
LARGEST_NUMBERED = 8
LONGEST_NAME = 14
_KINDS = {
    "linear": "least squares",
    "logistic": "logistic regression",
    "poisson": "Poisson regression",
}


def overview(syntheses: Mapping[str, tuple[int, Mapping[str, float | None]]]) -> dict[str, Any]:
    """Return one row for each measure and one column for each synthetic table."""
    sizes, headlines = zip(*syntheses.values(), strict=True)
    rows = [("Rows", *(f"{rows:,}" for rows in sizes))]
    rows += [
        (name, *(readable(numbers.get(name), digits=3) for numbers in headlines))
        for name in headlines[0]
    ]
    return {"labels": list(syntheses), "rows": rows}


def pairs(syntheses: Mapping[str, Sequence[PairUtility]]) -> list[dict[str, Any]] | None:
    """Return a heat map and the worst pairs of each synthetic table, by its name."""
    distances = [pair.total_variation or 0 for each in syntheses.values() for pair in _apart(each)]
    if not distances:
        return None
    darkest = max(SMALLEST_SCALE, *distances)
    return [_pairs(label, each, darkest) for label, each in syntheses.items()]


def _apart(pairs: Sequence[PairUtility]) -> list[PairUtility]:
    """Return the pairs that some record has, the furthest apart first."""
    told = [pair for pair in pairs if pair.total_variation is not None]
    return sorted(told, key=lambda pair: -(pair.total_variation or 0))


def _pairs(label: str, pairs: Sequence[PairUtility], darkest: float) -> dict[str, Any]:
    worst = _apart(pairs)[:SHOWN_PAIRS]
    of = f" in {label}" if label else ""
    shown = f"The {len(worst)} pairs furthest apart, of {len(pairs)}"
    return {
        "label": label,
        "picture": {
            "svg": heat_map(
                pairs, darkest, f"Total variation of every pair of columns{of}, as a heat map"
            ),
            "caption": f"How far every pair of columns is apart{of}. Darker is further.",
        },
        "caption": shown if len(worst) < len(pairs) else "Every pair, furthest apart first",
        "rows": [
            (
                " × ".join(pair.columns),
                readable(pair.total_variation, digits=3),
                readable(pair.expected, digits=3),
                _both(pair.cramers_v),
                _both(pair.correlation),
            )
            for pair in worst
        ],
    }


def _both(numbers: InBothTables | None) -> str:
    if numbers is None:
        return NOTHING
    both = numbers.confidential, numbers.synthetic
    return " → ".join(readable(each, digits=3) for each in both)


def heat_map(pairs: Sequence[PairUtility | Dependence], darkest: float, description: str) -> str:
    """Draw the total variation of every pair as a triangle of squares, numbered if few.

    `darkest` is the distance of the darkest square, so that several maps can be compared.
    """
    names = list(dict.fromkeys(name for pair in pairs for name in pair.columns))
    across, down = names[:-1], names[1:]
    distance = np.full((len(down), len(across)), np.nan)
    for pair in pairs:
        if pair.total_variation is not None:
            a, b = sorted(pair.columns, key=names.index)
            distance[down.index(b), across.index(a)] = pair.total_variation

    def draw(axes: Axes) -> None:
        from matplotlib.colors import LinearSegmentedColormap

        # With more shades the scale beside the map would be drawn as an image.
        shades = LinearSegmentedColormap.from_list("distance", [LIGHT, DARK], N=40)
        # A mesh, not an image: it stays sharp, and the page holds no pixels.
        mesh = axes.pcolormesh(
            np.ma.masked_invalid(distance),
            cmap=shades,
            vmin=0,
            vmax=darkest,
            edgecolors="white",
            linewidth=1.5 if len(names) <= LARGEST_NUMBERED else 0.4,
        )
        size = min(10.5, 190 / len(names))
        slanted: dict[str, Any] = {}
        if len(names) > 4:
            slanted = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
        for ticks, columns, turned in (
            (axes.set_xticks, across, slanted),
            (axes.set_yticks, down, {}),
        ):
            shown = [shortened(name, LONGEST_NAME) for name in columns]
            ticks(np.arange(len(columns)) + 0.5, shown, fontsize=size, **turned)
        axes.tick_params(length=0)
        axes.invert_yaxis()
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
        if len(names) <= LARGEST_NUMBERED:
            _number(axes, distance, darkest)
        axes.figure.colorbar(mesh, ax=axes, label="Total variation", shrink=0.9, pad=0.03)

    return inline_svg(draw, description, height=max(2.4, min(7.0, 1.3 + 0.42 * len(names))))


class Dependence(NamedTuple):
    """How far two columns are from independent."""

    columns: tuple[str, str]
    total_variation: float | None


def dependences(found: Sequence[Sequence[Any]]) -> Picture | None:
    """Draw which columns a model of a whole table has found to depend on each other.

    Args:
        found: Two names and a total variation for each pair that was measured.
    """
    if not found:
        return None
    pairs = [Dependence((str(a), str(b)), float(each)) for a, b, each in found]
    strongest = max(pairs, key=lambda pair: pair.total_variation or 0.0)
    caption = (
        f"How far each pair of columns that was measured is from independent in the fitted model: "
        f"most of all {' and '.join(strongest.columns)}. Pairs without a square were not measured."
    )
    darkest = max((pair.total_variation or 0.0 for pair in pairs), default=0.0)
    return {"svg": heat_map(pairs, max(darkest, 1e-9), caption), "caption": caption}


def _number(axes: Axes, distance: np.ndarray, darkest: float) -> None:
    for (row, column), value in np.ndenumerate(distance):
        if np.isfinite(value):
            axes.text(
                column + 0.5,
                row + 0.5,
                f"{value:.3f}",
                color="white" if value > 0.55 * darkest else INK,
                horizontalalignment="center",
                verticalalignment="center",
                fontsize=9.5 if distance.shape[0] <= 5 else 8,
            )


def propensity(measured: Propensity) -> dict[str, Any]:
    """Return how well a model tells the two tables apart."""
    standardised = measured.standardised
    return {
        "facts": [
            ("pMSE", readable(measured.pmse)),
            ("Expected of a second sample", readable(measured.expected)),
            ("Ratio of the two", readable(measured.ratio, digits=3)),
            ("Standardised", NOTHING if standardised is None else signed(standardised)),
            ("Parameters", f"{measured.parameters:,}"),
            ("Terms", "main effects, squares" + (", products" if measured.interactions else "")),
        ]
    }


def regression(syntheses: Mapping[str, Regression | None]) -> dict[str, Any] | None:
    """Return each coefficient in the confidential and in every synthetic table."""
    fitted = {label: each for label, each in syntheses.items() if each is not None}
    if not fitted:
        return None
    several, first = len(fitted) > 1, next(iter(fitted.values()))
    return {
        "formula": first.formula,
        "kind": _KINDS[first.kind],
        "head": [cell for label in fitted for cell in (label, "Overlap", "Difference")],
        "notes": [
            (f"{label}: mean overlap" if several else "Mean overlap", _share(each.mean_overlap))
            for label, each in fitted.items()
        ],
        "used": [("Confidential", percent(first.confidential_used))]
        + [(label, percent(each.synthetic_used)) for label, each in fitted.items()],
        "rows": [
            (
                coefficient.name,
                _estimate(coefficient.confidential),
                *(
                    cell
                    for each in fitted.values()
                    for cell in _synthetic(each.coefficients[position])
                ),
            )
            for position, coefficient in enumerate(first.coefficients)
        ],
    }


def _share(share: float | None) -> str:
    return NOTHING if share is None else percent(share)


def _estimate(estimate: Estimate | None) -> str:
    if estimate is None:
        return NOTHING
    numbers = (estimate.value, estimate.lower, estimate.upper)
    value, lower, upper = (readable(number, digits=3) for number in numbers)
    return f"{value} ({lower} to {upper})"


def _synthetic(coefficient: Coefficient) -> tuple[str, str, str]:
    difference = coefficient.relative_difference
    return (
        _estimate(coefficient.synthetic),
        _share(coefficient.overlap),
        NOTHING if difference is None else f"{signed(100 * difference, digits=3)}%",
    )
