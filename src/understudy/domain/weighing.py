"""Rows of a sample as often as their survey weights say, to stand for the population.

Each row is taken so often, up to one, as its share of all weights: evenly, and not by chance. What
is a mean, a share or a quantile of these rows is the weighted one of the sample.
"""

from __future__ import annotations

import numpy as np

from understudy.domain.tables import Columns


def by_weight(columns: Columns, weight: str, rows: int) -> Columns:
    """Return so many rows, each as often as its weight says; as they are if none has a weight.

    Args:
        columns: A coded table.
        weight: The name of its column of weights.
        rows: How many rows to return.
    """
    upto = np.cumsum(columns[weight])
    if not len(upto) or upto[-1] <= 0:
        return columns
    evenly = (np.arange(rows) + 0.5) / rows * upto[-1]
    chosen = np.minimum(np.searchsorted(upto, evenly), len(upto) - 1)
    return {name: values[chosen] for name, values in columns.items()}
