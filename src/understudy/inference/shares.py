"""How much each row counts in a sum, and for how many rows a record may count at most.

A sum runs over rows, and a row's vector w, of length C at most, is multiplied by a whole number s
from 0 to S before it is added up:

    T = Σ s w(row),      s = S without survey weights,      round(S · min(v, cap) / cap) with them,

where v is the row's weight and cap the smaller of its declared upper bound and ten times its
declared average. A record is a unit with all its rows, k at most as declared, so what it adds is no
longer than k·S·C by the triangle inequality, in whole numbers. A unit with more rows than that adds
nothing, whatever let it in.

Weights multiply what the clip has left. So T estimates the population's sum of clipped vectors, as
Horvitz and Thompson would, even where weights depend on the outcome: had they been inside the clip,
heavy rows would have been shortened more, and the sum would be that of no population. T is told in
rows of average weight, and their number N is inferred.

What follows for the spread of T: it varies most if all rows of a unit are alike, or if few rows
have all the weight. Then its variance is `most` = k·S/s̄ times that of as many independent rows,
with s̄ the share of an average row. That bound weighs what was measured against the prior; it makes
no intervals, which would need a model of how a unit's rows hang together, or of the weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.domain.column import Column
from understudy.domain.schema import Schema
from understudy.domain.tables import Columns

STEPS = 2**10
"""S where there are survey weights; without them it is 1."""
LARGEST_LENGTH = 2**26
"""The most that an entry of a row's vector is, in units, before it is multiplied by what it counts:
64, in units of 2⁻²⁰. Cells are far below it."""
_RANGE = 2**63 - 1
LARGEST_WEIGHT = 10.0
"""In averages: a heavier row counts for so much."""

Wholes = NDArray[np.int64]


@dataclass(frozen=True)
class Shares:
    """What rows count, as a schema declares it."""

    unit: str | None = None
    """The column that says which rows are one record."""
    rows: int = 1
    """k, the most rows of a record."""
    weight: Column | None = None
    """The survey weight."""
    ruled: bool = False
    """Whether rows have to obey rules, of which a fit knows nothing."""

    @classmethod
    def declared(cls, schema: Schema) -> Shares:
        """Return what a schema says of units and survey weights."""
        unit = None if schema.unit is None else schema.unit.name
        return cls(unit, schema.rows_per_unit or 1, schema.survey_weight, bool(schema.rules))

    @property
    def whole(self) -> int:
        """S, the most that a row counts."""
        return 1 if self.weight is None else STEPS

    @property
    def average(self) -> int:
        """s̄, what a row of average weight counts."""
        if self.weight is None or self.weight.average is None:
            return 1
        return int(self._of_weights(np.array([self.weight.average]))[0])

    @property
    def record(self) -> int:
        """k·S, the most that a record's rows count together."""
        return self.rows * self.whole

    @property
    def most(self) -> float:
        """For how many rows of average weight a record may count."""
        return self.record / self.average

    @property
    def most_summed(self) -> int:
        """How many rows can be summed within 64 bits, whatever they hold."""
        return _RANGE // (LARGEST_LENGTH * self.whole)

    @property
    def alike(self) -> bool:
        """Whether every row is a record and counts the same."""
        return self.unit is None and self.weight is None

    def of(self, columns: Columns) -> Wholes:
        """Return s of each row."""
        rows = len(next(iter(columns.values())))
        if self.weight is None:
            shares = np.ones(rows, dtype=np.int64)
        else:
            shares = self._of_weights(columns[self.weight.name])
        if self.unit is not None:
            _, codes, counts = np.unique(
                columns[self.unit], return_inverse=True, return_counts=True
            )
            shares = np.where(counts[codes] <= self.rows, shares, 0)
        return shares

    def _of_weights(self, values: NDArray[Any]) -> Wholes:
        cap = self._cap
        # Each operation is rounded as IEEE 754 says, so a row's share is the same in any table.
        shares = np.rint(np.minimum(values, cap) / cap * STEPS)
        fits = (shares >= 0) & (shares <= STEPS)
        return np.where(fits, shares, 0.0).astype(np.int64)

    @property
    def capped(self) -> str | None:
        """What becomes of large survey weights, where there are any."""
        if self.weight is None:
            return None
        return (
            f"A row counts by its survey weight in '{self.weight.name}', and one beyond "
            f"{self._cap:g} counts as {self._cap:g}."
        )

    @property
    def _cap(self) -> float:
        assert self.weight is not None
        assert self.weight.average is not None
        return min(self.weight.upper, LARGEST_WEIGHT * self.weight.average)

    @property
    def no_intervals(self) -> str | None:
        """Why draws make no intervals, where they make none."""
        if self.weight is not None:
            return (
                f"Rows count by their survey weights in '{self.weight.name}', which are "
                f"confidential and may depend on what is estimated: draws of θ do not say how far "
                f"an estimate may be off, and no interval can be made from them."
            )
        if self.rows > 1:
            return (
                f"Rows of one '{self.unit}' hang together in a way that the model does not "
                f"describe: draws of θ do not say how far an estimate may be off, and no interval "
                f"can be made from them."
            )
        if self.ruled:
            return (
                "Rows have to obey the schema's rules, of which a fit knows nothing: draws of θ do "
                "not say how far an estimate may be off, and no interval can be made from them."
            )
        return None
