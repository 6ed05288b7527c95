"""The answers to a question at each draw of θ, from large tables that are simulated there.

Two tables are simulated, independently, for each draw. Half the mean square of what their answers
differ by is the variance σ² that simulation adds to one of them. Tables grow until it is little
beside the variance v of the answers from draw to draw; the little that is left is taken out of the
spread, as if each draw's own answer were known: deviations from the mean are multiplied by
√(1 − σ²/v).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.domain.tables import Columns
from understudy.questions import Question

Floats = NDArray[np.float64]
Simulate = Callable[[int, int], Columns]
"""Simulates a table at a draw of this number, of about so many rows."""

_FIRST_ROWS, _MOST_ROWS, _GROWTH = 256, 2**20, 4
_TRIED = 24
"""Draws at which it is found out how large tables must be."""
_LITTLE = 1 / 3
"""Share of the variance of answers that simulation may have: of 400 draws, that is known so well
that what is left in a width is off by 2 %."""
_WORK = 2**23
"""Rows to simulate in all, if so many draws are left that quantiles can be had from them."""
_FEWEST = 100


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers by draw and name, without what simulation added to their spread."""

    names: tuple[str, ...]
    chosen: NDArray[np.int64]
    """The draws that were asked, by number."""
    values: Floats
    """Shape (draws, names); NaN where a table could not tell."""
    simulation: Floats
    """The share of the variance, by name, that simulation had and that was taken out."""


def ask(question: Question, simulate: Simulate, *, draws: int) -> Answers:
    """Return the answers at draws of θ, on tables that are large enough.

    Args:
        question: What is asked.
        simulate: Simulates a table at a draw.
        draws: How many draws there are.
    """
    rows = _enough_rows(question, simulate, _spread(draws, _TRIED))
    chosen = _spread(draws, max(_WORK // (2 * rows), _FEWEST))
    names, pairs = _pairs(question, simulate, chosen, rows)
    noise, variance = _variances(pairs)
    simulation = _share(noise, variance)
    values = pairs.mean(axis=1)
    centre = _mean(values)
    kept = np.sqrt(np.maximum(1 - simulation, 0.0))
    return Answers(names, chosen, centre + kept * (values - centre), simulation)


def _enough_rows(question: Question, simulate: Simulate, tried: NDArray[np.int64]) -> int:
    rows = _FIRST_ROWS
    while rows < _MOST_ROWS:
        _, pairs = _pairs(question, simulate, tried, rows)
        if np.all(_share(*_variances(pairs)) <= _LITTLE):
            break
        rows *= _GROWTH
    return rows


def _pairs(
    question: Question, simulate: Simulate, chosen: Sequence[int] | NDArray[np.int64], rows: int
) -> tuple[tuple[str, ...], Floats]:
    """Return names, and answers of shape (draws, 2, names)."""
    found = [[question.answer(simulate(int(k), rows)) for _ in range(2)] for k in chosen]
    names = tuple(found[0][0])
    return names, np.array([[[each[name] for name in names] for each in pair] for pair in found])


def _variances(pairs: Floats) -> tuple[Floats, Floats]:
    """Return the variances of a pair's mean: that due to simulation, and all of it."""
    values = pairs.mean(axis=1)
    noise = _mean((pairs[:, 0] - pairs[:, 1]) ** 2) / 4
    return noise, _mean((values - _mean(values)) ** 2)


def _mean(values: Floats) -> Floats:
    """Return means of what could be told, NaN where nothing could."""
    told = np.isfinite(values)
    count = told.sum(axis=0)
    total = np.where(told, values, 0.0).sum(axis=0)
    return np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)


def _share(noise: Floats, variance: Floats) -> Floats:
    """Return the share of the variance that is noise; none of nothing."""
    return np.divide(noise, variance, out=np.zeros_like(noise), where=variance > 0).clip(0, 1)


def _spread(available: int, wanted: int) -> NDArray[np.int64]:
    """Return numbers of draws, all of them or some that are evenly spread."""
    count = min(available, wanted)
    return np.linspace(0, available - 1, count).round().astype(np.int64)
