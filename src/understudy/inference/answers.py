"""The answers to a question at each draw of θ, from large tables that are simulated there.

Two tables are simulated, independently, for each draw. Half the mean square of what their answers
differ by is the variance σ² that simulation adds to one of them. Tables grow until it is little
beside the variance v of the answers from draw to draw; the little that is left is taken out of the
spread, as if each draw's own answer were known: deviations from the mean are multiplied by
√(1 − σ²/v). Where most of the variance is left to simulation, or answers are steps, such as a
quantile of whole numbers, they stay as they are: intervals are then too wide, not too narrow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.domain.tables import Columns
from understudy.errors import BadInput
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
TOO_MUCH = 0.5
"""Share of the variance from which on it is not known well enough to be taken out."""
_STEPS = 20
"""Answers with no more values than this are steps."""
_SELDOM, _GROUPS = 0.1, 2**16
"""Share of tables that may be unable to tell, while they have fewer rows than this."""


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
    simulation = _share(*_variances(pairs))
    values = pairs.mean(axis=1)
    centre = _mean(values)
    kept = np.where(simulation <= TOO_MUCH, np.sqrt(1 - simulation), 1.0)
    values = centre + kept * (values - centre)
    steps = [len(np.unique(pairs[:, :, k])) <= _STEPS for k in range(len(names))]
    values[:, steps] = pairs[:, 0][:, steps]
    return Answers(names, chosen, values, np.where(steps, 0.0, simulation))


def _enough_rows(question: Question, simulate: Simulate, tried: NDArray[np.int64]) -> int:
    rows = _FIRST_ROWS
    while rows < _MOST_ROWS:
        _, pairs = _pairs(question, simulate, tried, rows)
        told = np.isnan(pairs).mean(axis=(0, 1)) <= _SELDOM
        if np.all(_share(*_variances(pairs)) <= _LITTLE) and (told.all() or rows >= _GROUPS):
            break
        rows *= _GROWTH
    return rows


def _pairs(
    question: Question, simulate: Simulate, chosen: Sequence[int] | NDArray[np.int64], rows: int
) -> tuple[tuple[str, ...], Floats]:
    """Return names, and answers of shape (draws, 2, names)."""
    found = [[question.answer(simulate(int(k), rows)) for _ in range(2)] for k in chosen]
    names = tuple(found[0][0])
    if not names or any(set(each) != set(names) for pair in found for each in pair):
        raise BadInput(
            f"the function '{question.text}' must return at least one number, and by the same "
            f"names whatever the table."
        )
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
