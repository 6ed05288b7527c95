"""What a survey's weights make of its sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from understudy.domain.schema import Schema
    from understudy.domain.tables import Columns

_POPULATION = 1_000_000


def as_population(columns: Columns, schema: Schema) -> Columns:
    """Return a coded table as the population that its survey weights make of it.

    A synthesis under weights describes the population, so it is compared with a table in which each
    row stands as often as its weight says, up to one: in ten times as many rows, or a million.
    """
    if schema.survey_weight is None:
        return columns
    upto = np.cumsum(columns[schema.survey_weight.name])
    rows = len(upto)
    if not rows or upto[-1] <= 0:
        return columns
    repeated = max(rows, min(10 * rows, _POPULATION))
    evenly = (np.arange(repeated) + 0.5) / repeated * upto[-1]
    chosen = np.minimum(np.searchsorted(upto, evenly), rows - 1)
    return {name: values[chosen] for name, values in columns.items()}
