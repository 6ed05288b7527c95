"""One number of some rows, and its sampling variance.

Each statistic Q of n independent records x with influence function ψ has variance E ψ²/n:

    mean           ψ = x − m, so s²/n
    share          ψ = 1[x] − p, so p(1 − p)/n
    correlation    ψ = uv − r(u² + v²)/2 of standardised values u and v, without any normality
    quantile       ψ = (p − 1[x ≤ q])/f(q), so p(1 − p)/(n f(q)²)

The density f(q) is not estimated: Woodruff's interval maps p ± z √(p(1 − p)/n) through the sample's
quantiles, and its length over 2z is the standard error. It needs no bandwidth, keeps to the domain,
and is 0 where everybody near the quantile has the same value, as after rounding: a smooth density
would deny that. Quantiles interpolate between neighbours so that the k-th of n values is the one at
(k − ½)/n: with other rules, those of evenly spread values would lean to the middle.

R. S. Woodruff (1952), Confidence intervals for medians and other position measures, Journal of the
American Statistical Association 47, 635-646, doi:10.1080/01621459.1952.10483443.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from understudy.domain.expressions import Truth, named, truth
from understudy.domain.tables import Columns

Floats = NDArray[np.float64]

_METHOD: Final = "hazen"
_REACH = 1.96
"""Standard errors of p over which Woodruff's interval reaches."""
_AROUND = 0.01
"""Share of many rows, on either side of a quantile, that its density is taken from."""


class Statistic(ABC):
    """A number that complete rows have, NaN where they cannot tell."""

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads."""

    @abstractmethod
    def value(self, columns: Columns) -> float:
        """Return the statistic of some rows."""

    @abstractmethod
    def variance(self, columns: Columns) -> float:
        """Return its sampling variance, estimated from the same rows."""

    @abstractmethod
    def influence(self, columns: Columns) -> Floats:
        """Return ψ of each row, estimated from all of them, of which there must be many."""


@dataclass(frozen=True)
class Mean(Statistic):
    """The mean of a column of numbers."""

    column: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)

    def value(self, columns: Columns) -> float:
        """Return the mean."""
        values = columns[self.column]
        return float(values.mean()) if len(values) else np.nan

    def variance(self, columns: Columns) -> float:
        """Return s²/n."""
        values = columns[self.column]
        return float(values.var(ddof=1)) / len(values) if len(values) > 1 else np.nan

    def influence(self, columns: Columns) -> Floats:
        """Return x − m."""
        values = columns[self.column]
        return np.asarray(values - values.mean())


@dataclass(frozen=True)
class Quantile(Statistic):
    """The value below which a share p of a column lies."""

    column: str
    p: float

    @property
    def columns(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)

    def value(self, columns: Columns) -> float:
        """Return the quantile."""
        values = columns[self.column]
        return float(np.quantile(values, self.p, method=_METHOD)) if len(values) else np.nan

    def variance(self, columns: Columns) -> float:
        """Return the square of Woodruff's standard error."""
        values = columns[self.column]
        if len(values) < 2:
            return np.nan
        around = _REACH * np.sqrt(self.p * (1 - self.p) / len(values))
        ends = np.clip([self.p - around, self.p + around], 0, 1)
        lower, upper = np.quantile(values, ends, method=_METHOD)
        # Where an end of p's interval was cut off, the rest stands for as much as is left of it.
        return float(((upper - lower) / (ends[1] - ends[0]) * around / _REACH) ** 2)

    def influence(self, columns: Columns) -> Floats:
        """Return (p − 1[x ≤ q])/f(q), with the density of the rows around the quantile."""
        values = columns[self.column]
        ends = np.clip([self.p - _AROUND, self.p + _AROUND], 0, 1)
        lower, middle, upper = np.quantile(values, [ends[0], self.p, ends[1]])
        return np.asarray((self.p - (values <= middle)) * (upper - lower) / (ends[1] - ends[0]))


@dataclass(frozen=True)
class Share(Statistic):
    """The share of rows for which an expression holds."""

    condition: Truth

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the expression names."""
        return tuple(dict.fromkeys(named(self.condition)))

    def value(self, columns: Columns) -> float:
        """Return the share."""
        holds = truth(self.condition, columns)
        return float(holds.mean()) if len(holds) else np.nan

    def variance(self, columns: Columns) -> float:
        """Return p(1 − p)/n."""
        holds = truth(self.condition, columns)
        return float(holds.var()) / len(holds) if len(holds) else np.nan

    def influence(self, columns: Columns) -> Floats:
        """Return 1[x] − p."""
        holds = truth(self.condition, columns)
        return np.asarray(holds - holds.mean())


@dataclass(frozen=True)
class Correlation(Statistic):
    """Pearson's correlation of two columns of numbers."""

    first: str
    second: str

    @property
    def columns(self) -> tuple[str, ...]:
        """Both columns."""
        return tuple(dict.fromkeys((self.first, self.second)))

    def value(self, columns: Columns) -> float:
        """Return the correlation."""
        both = self._standardised(columns)
        return np.nan if both is None else float(np.mean(both[0] * both[1]))

    def variance(self, columns: Columns) -> float:
        """Return the mean square of the influence function, over n."""
        influence = self.influence(columns)
        return float(np.mean(influence**2)) / max(len(influence), 1)

    def influence(self, columns: Columns) -> Floats:
        """Return uv − r(u² + v²)/2."""
        both = self._standardised(columns)
        if both is None:
            return np.full(max(len(columns[self.first]), 1), np.nan)
        product = both[0] * both[1]
        return np.asarray(product - product.mean() / 2 * (both[0] ** 2 + both[1] ** 2))

    def _standardised(self, columns: Columns) -> list[np.ndarray] | None:
        """Return both columns with mean 0 and variance 1, if they have any variance."""
        standardised = []
        for name in (self.first, self.second):
            values = columns[name]
            if not len(values) or values.min() == values.max():
                return None
            standardised.append((values - values.mean()) / values.std())
        return standardised
