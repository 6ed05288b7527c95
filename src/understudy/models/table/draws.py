"""Draws of codes from their log probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def draw_codes(
    generator: np.random.Generator, log_shares: ArrayLike, rows: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Draw a code for each record, whose row of log probabilities is named by `rows`."""
    cumulative = np.cumsum(np.exp(np.asarray(log_shares)), axis=1)[rows]
    below = cumulative < generator.uniform(size=(len(rows), 1)) * cumulative[:, -1:]
    return np.asarray(np.sum(below, axis=1), dtype=np.int64)
