"""Public rows as often as the population has them, where rows of the table have survey weights.

A weighted sum speaks of the population, and so must what it is compared with. The table's public
rows are those of a sample: where some kinds of people were sampled more than others, predictions
beside these rows would be of another population, however good the model of the outcome. How the
weights depend on public columns is confidential, like the weights. So a round of its own measures
the weighted count of each public column's cells, and public rows are drawn as often as these counts
say (raking). What weights owe to several public columns together beyond a product stays out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from understudy.domain.schema import Schema
from understudy.domain.tables import Columns
from understudy.inference.cells import Cells
from understudy.inference.contribution import TableContribution
from understudy.inference.grouping import public_cells
from understudy.inference.measurement import Measurement
from understudy.models.base import Model
from understudy.models.table.coding import variable

SHARE = 0.1
"""Share of ε that the round takes."""
_GROUPS = 8
"""Cells of a number."""
_SWEEPS = 50
_ROWS = 2**14
_FURTHEST = 20.0
"""Rows of one cell are at most so many times as frequent in the population, or as rare."""

Floats = NDArray[np.float64]


def needed(schema: Schema) -> bool:
    """Whether public rows may stand for another population than weighted sums speak of."""
    return schema.survey_weight is not None and bool(schema.public)


def margins(model: Model, public: Columns, norm: int) -> TableContribution:
    """Return a table of each public column, numbers in groups of about equal mass."""
    cells = tuple(public_cells(variable(c), public, _GROUPS) for c in model.schema.public)
    return TableContribution(model, cells, norm=norm)


def as_population(
    measured: Measurement, public: Columns, generator: np.random.Generator
) -> Columns:
    """Return public rows, each as often as the measured margins say."""
    tables = measured.contribution.tables  # type: ignore[attr-defined]
    counts = np.split(measured.values, np.cumsum([table.count for table in tables])[:-1])
    frequency = _raked(tables, counts, public, float(measured.laplace[0]))
    rows = max(len(frequency), _ROWS)
    steps = (np.arange(rows) + generator.random()) / rows
    below = np.cumsum(frequency) / frequency.sum()
    chosen = np.minimum(np.searchsorted(below, steps, side="right"), len(frequency) - 1)
    return {name: values[chosen] for name, values in public.items()}


def _raked(
    tables: Sequence[Cells], counts: Sequence[Floats], public: Columns, scale: float
) -> Floats:
    """Return how often each row should be there, so that margins agree with noisy counts."""
    cells = [table.codes(public) for table in tables]
    wanted = [
        _ratios(np.bincount(codes, minlength=table.count), noisy, scale)
        for table, codes, noisy in zip(tables, cells, counts, strict=True)
    ]
    frequency = np.ones(len(cells[0]))
    for _ in range(_SWEEPS):
        for codes, share in zip(cells, wanted, strict=True):
            now = np.bincount(codes, frequency, len(share))
            frequency = frequency * (share / np.maximum(now / now.sum(), 1e-12))[codes]
    return frequency


def _ratios(there: NDArray[np.int64], noisy: Floats, scale: float) -> Floats:
    """Return the share of each cell in the population.

    Counts that noise would drown say nothing, and rows stay as frequent as they are.
    """
    size = max(float(noisy.sum()), scale)
    own = there / there.sum()
    ratio = noisy / size / np.maximum(own, 1e-12)
    doubt = 2 * (scale / size / np.maximum(own, 1e-12)) ** 2
    ratio = np.clip(1 + (ratio - 1) / (1 + doubt), 1 / _FURTHEST, _FURTHEST)
    shares = own * ratio
    return np.asarray(shares / shares.sum())
