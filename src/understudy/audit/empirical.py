"""A lower bound on ε from runs alone, for models whose posterior no grid can hold.

If a mechanism is ε-differentially private, no event is more than e^ε times as probable on one table
as on its neighbour. Half of the runs choose an event, the other half count it, and Clopper–Pearson
limits turn the counts into a bound that is too large with at most the probability stated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from understudy.errors import BadInput

SMALLEST_RUNS = 100
_THRESHOLDS = 199
T = TypeVar("T")


def empirical_audit(
    draw: Callable[[T, np.random.Generator], float],
    table: T,
    neighbour: T,
    *,
    runs: int,
    confidence: float = 0.95,
    seed: int = 0,
) -> float:
    """Return a lower bound on ε from `runs` runs on each table.

    `draw` runs the mechanism on a table and returns one number made from what it releases.
    """
    if isinstance(runs, bool) or not isinstance(runs, int) or runs < SMALLEST_RUNS:
        raise BadInput(f"runs must be a number of at least {SMALLEST_RUNS}, not {runs!r}.")
    if not 0 < confidence < 1:
        raise BadInput(f"confidence must lie between 0 and 1, not {confidence!r}.")
    generator = np.random.default_rng(seed)
    on_table, neighbouring = (
        np.array([draw(records, generator) for _ in range(runs)]) for records in (table, neighbour)
    )
    if np.isnan([on_table, neighbouring]).any():
        raise BadInput("a run gave no number: the statistic must be defined for every release.")
    half = runs // 2
    first, second = (on_table[:half], neighbouring[:half]), (on_table[half:], neighbouring[half:])
    choice = max(_events(*first), key=lambda event: _bound(event, *first, confidence))
    return max(0.0, _bound(choice, *second, confidence))


Event = tuple[float, bool, bool]
"""A threshold, whether values above it count, and whether the neighbour is the likelier side."""


def _events(on_table: np.ndarray, neighbouring: np.ndarray) -> Iterator[Event]:
    levels = np.arange(1, _THRESHOLDS + 1) / (_THRESHOLDS + 1)
    # Pooled values miss the far tail of either side, which is where ratios are largest.
    pooled = np.concatenate([np.quantile(side, levels) for side in (on_table, neighbouring)])
    for threshold in np.unique(pooled):
        for above in (True, False):
            for swapped in (True, False):
                yield float(threshold), above, swapped


def _bound(
    event: Event, on_table: np.ndarray, neighbouring: np.ndarray, confidence: float
) -> float:
    """Return the logarithm of the smallest p over the largest q that the counts allow."""
    from scipy.stats import beta

    threshold, above, swapped = event
    counts = [int(np.sum((side > threshold) == above)) for side in (on_table, neighbouring)]
    likely, rare = reversed(counts) if swapped else counts
    runs = len(on_table)
    # Each limit may fail with half of the probability that is allowed.
    error = (1 - confidence) / 2
    if likely == 0 or rare == runs:
        return -math.inf
    smallest = float(beta.ppf(error, likely, runs - likely + 1))
    largest = float(beta.ppf(1 - error, rare + 1, runs - rare))
    return math.log(smallest) - math.log(largest)
