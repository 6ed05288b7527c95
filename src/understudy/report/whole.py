"""What the sections about whole tables tell, in words and numbers that are ready to be shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from understudy.report.heatmap import SMALLEST_SCALE, heat_map
from understudy.report.wording import NOTHING, percent, readable, signed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from understudy.utility import Both, Pair, Propensity, Regression
    from understudy.utility.regression import Coefficient, Estimate

SHOWN_PAIRS = 10


def overview(found: Mapping[str, tuple[int, Mapping[str, float | None]]]) -> dict[str, Any]:
    """Return one row for each measure and one column for each synthetic table."""
    rows = [("Rows", *(f"{rows:,}" for rows, _ in found.values()))]
    (_, first), *_others = found.values()
    for name in first:
        rows.append(
            (name, *(readable(numbers.get(name), digits=3) for _, numbers in found.values()))
        )
    return {"labels": list(found), "rows": rows}


def pairs(found: Mapping[str, Sequence[Pair]]) -> list[dict[str, Any]] | None:
    """Return a heat map and the worst pairs of each synthetic table, by its name."""
    distances = [
        pair.total_variation
        for each in found.values()
        for pair in each
        if pair.total_variation is not None
    ]
    if not distances:
        return None
    darkest = max(SMALLEST_SCALE, *distances)
    return [_pairs(label, each, darkest) for label, each in found.items()]


def _pairs(label: str, found: Sequence[Pair], darkest: float) -> dict[str, Any]:
    told = [pair for pair in found if pair.total_variation is not None]
    worst = sorted(told, key=lambda pair: -(pair.total_variation or 0))[:SHOWN_PAIRS]
    of = f" in {label}" if label else ""
    shown = f"The {len(worst)} pairs furthest apart, of {len(found)}"
    return {
        "label": label,
        "picture": {
            "svg": heat_map(
                found, darkest, f"Total variation of every pair of columns{of}, as a heat map"
            ),
            "caption": f"How far every pair of columns is apart{of}. Darker is further.",
        },
        "caption": shown if len(worst) < len(found) else "Every pair, furthest apart first",
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


def _both(found: Both | None) -> str:
    if found is None:
        return NOTHING
    return " → ".join(readable(each, digits=3) for each in (found.confidential, found.synthetic))


def propensity(found: Propensity) -> dict[str, Any]:
    """Return how well a model tells the two tables apart."""
    terms = "main effects, squares" + (", products" if found.interactions else "")
    return {
        "facts": [
            ("pMSE", readable(found.pmse)),
            ("Expected of a second sample", readable(found.expected)),
            ("Ratio of the two", readable(found.ratio, digits=3)),
            ("Standardised", NOTHING if found.standardised is None else signed(found.standardised)),
            ("Parameters", f"{found.parameters:,}"),
            ("Terms", terms),
        ]
    }


def regression(found: Mapping[str, Regression | None]) -> dict[str, Any] | None:
    """Return each coefficient in the confidential and in every synthetic table."""
    fitted = {label: each for label, each in found.items() if each is not None}
    if not fitted:
        return None
    first = next(iter(fitted.values()))
    return {
        "formula": first.formula,
        "kind": {"linear": "least squares", "logistic": "logistic regression"}[first.kind],
        "labels": list(fitted),
        "notes": [
            (f"{label}: mean overlap" if len(fitted) > 1 else "Mean overlap", _share(each))
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


def _share(found: Regression) -> str:
    return NOTHING if found.mean_overlap is None else percent(found.mean_overlap)


def _estimate(found: Estimate | None) -> str:
    if found is None:
        return NOTHING
    numbers = (found.value, found.lower, found.upper)
    value, lower, upper = (readable(number, digits=3) for number in numbers)
    return f"{value} ({lower} to {upper})"


def _synthetic(found: Coefficient) -> tuple[str, str, str]:
    difference = found.relative_difference
    return (
        _estimate(found.synthetic),
        NOTHING if found.overlap is None else percent(found.overlap),
        NOTHING if difference is None else f"{signed(100 * difference, digits=3)}%",
    )
