"""What the sections about all columns of a table tell, ready to be shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from understudy.report.heatmap import SMALLEST_SCALE, heat_map
from understudy.report.wording import NOTHING, percent, readable, signed
from understudy.utility.pairs import InBothTables, PairUtility
from understudy.utility.propensity import Propensity
from understudy.utility.regression import Coefficient, Estimate, Regression

SHOWN_PAIRS = 10


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
        "kind": {"linear": "least squares", "logistic": "logistic regression"}[first.kind],
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
