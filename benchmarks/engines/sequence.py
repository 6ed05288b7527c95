"""Columns one after the other, as `joint` has it: each given those that it makes a pair with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from engines.published import Published
from understudy.domain import tables
from understudy.domain.tables import Columns
from understudy.support.randomness import Source

if TYPE_CHECKING:
    import pandas as pd

_BATCH = 20_000


def sequence(published: Published, generator: np.random.Generator) -> tuple[pd.DataFrame, Any]:
    """Return rows by systematic sampling from the estimate, as a release has them."""
    (columns,) = batches(published, published.rows, generator, batch=published.rows)
    return tables.decode(columns, published.schema), {}


def batches(
    published: Published, rows: int, generator: np.random.Generator, *, batch: int = _BATCH
) -> list[Columns]:
    """Return rows of the estimate, evenly spread in each batch by itself."""
    model = published.whole.population.model
    assert model.balanced is not None
    fitted = published.whole.estimated(Source().generator())
    sizes = [min(batch, rows - start) for start in range(0, rows, batch)]
    theta: Any = fitted.theta
    return [model.balanced(generator, theta, {}, size) for size in sizes]
