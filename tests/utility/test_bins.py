"""Cells that no table moves, against their definition."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from understudy.domain.schema import Column, Role, Type
from understudy.errors import BadInput
from understudy.utility.bins import BINS, MISSING, cells, codes

PAY = Column("pay", Role.CONFIDENTIAL, Type.CONTINUOUS, bounds=(0.0, 100.0))


AGE = Column("age", Role.PUBLIC, Type.INTEGER, bounds=(18.0, 65.0))


KIDS = Column("kids", Role.CONFIDENTIAL, Type.COUNT, bounds=(0.0, 5.0))


JOB = Column("job", Role.CONFIDENTIAL, Type.CATEGORICAL, levels=("x", "y", "z"))


def cell_by_definition(value: float, column: Column) -> int:
    """Count the edges of equal parts at or below the value, the last edge excepted."""
    if not column.whole:
        edges = [column.lower + column.width * k / BINS for k in range(1, BINS)]
        return sum(value >= edge for edge in edges)
    numbers = list(range(int(column.lower), int(column.upper) + 1))
    size = next(s for s in itertools.count(1) if s * BINS >= len(numbers))
    return numbers.index(int(value)) // size


@pytest.mark.parametrize("column", [PAY, AGE, KIDS], ids=lambda column: column.name)
def test_every_value_has_the_cell_of_the_definition(column):
    values = np.linspace(column.lower, column.upper, 482)
    if column.whole:
        values = np.unique(np.rint(values))
    found = codes(pd.Series(values), column, "confidential")
    assert found.tolist() == [cell_by_definition(value, column) for value in values]
    assert found.min() == 0
    assert found.max() == cells(column) - 1 < BINS


def test_levels_are_their_own_cells_and_missing_values_have_none():
    found = codes(pd.Series(["z", None, "x"], dtype="str"), JOB, "confidential")
    assert found.tolist() == [2, MISSING, 0]
    assert cells(JOB) == 3
    assert codes(pd.Series([np.nan, 100.0]), PAY, "synthetic").tolist() == [MISSING, BINS - 1]


def test_what_the_schema_does_not_declare_is_refused_without_being_quoted():
    with pytest.raises(BadInput, match=r"'job' of the synthetic .* record 2") as refusal:
        codes(pd.Series(["x", "secret"]), JOB, "synthetic")
    assert "secret" not in str(refusal.value)
    with pytest.raises(BadInput, match=r"'pay' of the confidential .* record 3"):
        codes(pd.Series([0.0, 100.0, 100.5]), PAY, "confidential")
