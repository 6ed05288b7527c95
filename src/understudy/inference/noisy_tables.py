"""Noisy counts of the cells of one column or of two, and how likely they are.

A count varies around its mean about as a normal variable does, with as much variance, and the noise
is Laplace or normal. The density of the sum of a normal and a Laplace variable is known:

    p(r) = exp(v / 2b²) / 2b · ( e^(−r/b) Φ(r/σ − σ/b) + e^(r/b) Φ(−r/σ − σ/b) ),      v = σ².
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from understudy.inference.cells import Cells
from understudy.inference.contribution import TableContribution
from understudy.inference.measurement import Measurement

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NoisyTable:
    """Counts of cells, with noise."""

    values: Floats
    """Of one column by code; of two, the parent's group by the column's."""
    scale: float
    """b of Laplace noise that varies as much."""
    normal: bool

    @property
    def transposed(self) -> NoisyTable:
        """The same with its columns in the other order."""
        return NoisyTable(self.values.T, self.scale, self.normal)

    @property
    def variance(self) -> float:
        """Of the noise."""
        return 2 * self.scale**2

    def noise(self, generator: np.random.Generator) -> Floats:
        """Return noise as it may have been."""
        shape = self.values.shape
        if self.normal:
            return np.asarray(generator.normal(size=shape) * np.sqrt(self.variance))
        return np.asarray(generator.laplace(scale=self.scale, size=shape))

    @property
    def usual(self) -> Floats:
        """About how much counts vary by themselves, as far as they tell."""
        return np.maximum(self.values, 0.0) + 1.0

    def misfit(self, mean: Floats, own: Floats) -> tuple[float, Floats]:
        """Return minus the log likelihood of a predicted mean, and its slope by the mean.

        Args:
            mean: What is predicted.
            own: How much counts vary by themselves.
        """
        if self.normal:
            return self.squares(mean, own)
        return _laplace_and_normal(self.values - mean, own, self.scale)

    def squares(self, mean: Floats, own: Floats) -> tuple[float, Floats]:
        """Return the same as if all noise were normal."""
        rest, total = self.values - mean, own + self.variance
        return float(np.sum(rest**2 / total) / 2), -rest / total


def _laplace_and_normal(rest: Floats, variance: Floats, scale: float) -> tuple[float, Floats]:
    """Return minus the log density of a sum of normal and Laplace errors, and its slope."""
    deviation = np.sqrt(variance)
    low, high = rest / deviation - deviation / scale, -rest / deviation - deviation / scale
    below, above = -rest / scale + log_ndtr(low), rest / scale + log_ndtr(high)
    together = np.logaddexp(below, above)
    share = np.exp(below - together)
    pull = share * (_hazard(low) / deviation - 1 / scale)
    pull += (1 - share) * (1 / scale - _hazard(high) / deviation)
    height = variance / (2 * scale**2) - np.log(2 * scale) + together
    return -float(height.sum()), pull


def _hazard(x: Floats) -> Floats:
    """Return φ(x)/Φ(x)."""
    return np.asarray(np.exp(-0.5 * x**2 - 0.5 * np.log(2 * np.pi) - log_ndtr(x)))


@dataclass(frozen=True, eq=False)
class Tables:
    """All tables of a release: of single columns, and of two."""

    single: Mapping[str, NoisyTable]
    pairs: Mapping[tuple[str, str], NoisyTable]

    def of(self, parent: str, own: str) -> NoisyTable:
        """Return a table of two columns, the parent's groups in rows."""
        known = self.pairs.get((parent, own))
        return self.pairs[own, parent].transposed if known is None else known

    @property
    def every(self) -> list[NoisyTable]:
        """One after the other."""
        return [*self.single.values(), *self.pairs.values()]

    @property
    def size(self) -> float:
        """The number of records that all tables together count."""
        weights = np.array([1 / (each.values.size * each.variance) for each in self.every])
        counted = np.array([each.values.sum() for each in self.every])
        return float(max(weights @ counted / weights.sum(), 1.0))

    def moved(self, by: Sequence[Floats]) -> Tables:
        """Return tables whose counts are moved, in the order of `every`."""
        parts = iter(by)
        single = {n: _moved(t, next(parts)) for n, t in self.single.items()}
        return Tables(single, {n: _moved(t, next(parts)) for n, t in self.pairs.items()})


def _moved(table: NoisyTable, by: Floats) -> NoisyTable:
    return NoisyTable(table.values + by, table.scale, table.normal)


def tables_of(measurements: Sequence[Measurement]) -> Tables:
    """Return what was measured as tables."""
    single: dict[str, NoisyTable] = {}
    pairs: dict[tuple[str, str], NoisyTable] = {}
    for each in measurements:
        contribution = each.contribution
        assert isinstance(contribution, TableContribution)
        stops = np.cumsum([table.count for table in contribution.tables])
        values, scales = np.split(each.values, stops[:-1]), each.laplace[stops - 1]
        for table, counts, scale in zip(contribution.tables, values, scales, strict=True):
            if isinstance(table, Cells):
                single[table.column.name] = NoisyTable(counts, float(scale), each.normal)
                continue
            shape = (table.one.count, table.other.count)
            names = (table.one.column.name, table.other.column.name)
            pairs[names] = NoisyTable(counts.reshape(shape), float(scale), each.normal)
    return Tables(single, pairs)
