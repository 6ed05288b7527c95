"""Columns as codes on a fixed grid, and back: what a tool that counts needs.

A continuous column has 80 equal bins over its declared bounds, whole numbers and levels have a code
each. Nothing is looked up in a table. On the way back a value is drawn evenly within its bin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from understudy.domain.schema import Column, Schema

BINS = 80


def size(column: Column) -> int:
    """Return the number of codes of a column."""
    if column.levels is not None:
        return len(column.levels)
    return int(column.width) + 1 if column.whole else BINS


def encode(table: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """Return the codes of a table's columns."""
    import pandas as pd

    coded = {}
    for column in schema.columns:
        values = table[column.name]
        if column.levels is not None:
            coded[column.name] = pd.Index(column.levels).get_indexer(pd.Index(values))
        else:
            width = 1 if column.whole else column.width / BINS
            steps = np.floor((values.to_numpy(dtype=np.float64) - column.lower) / width)
            coded[column.name] = np.clip(steps, 0, size(column) - 1)
    return pd.DataFrame(coded).astype(np.int64)


def decode(codes: pd.DataFrame, schema: Schema, random: np.random.Generator) -> pd.DataFrame:
    """Return values with the given codes."""
    import pandas as pd

    values = {}
    for column in schema.columns:
        own = codes[column.name].to_numpy(dtype=np.int64)
        if column.levels is not None:
            values[column.name] = np.array(column.levels, dtype=object)[own]
        elif column.whole:
            values[column.name] = column.lower + own
        else:
            place = (own + random.random(len(own))) / BINS
            values[column.name] = column.lower + column.width * place
    return pd.DataFrame(values)
