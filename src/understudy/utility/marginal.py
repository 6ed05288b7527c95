"""How close single columns of a synthetic table are to those of the confidential one.

For a numeric column with confidential values x₁ … xₙ and synthetic values y₁ … yₘ let

    F(t) = #{i : xᵢ ≤ t} / n        G(t) = #{j : yⱼ ≤ t} / m

be the empirical distribution functions and t₁ … tₙ₊ₘ the records of the pooled sample. Then

    max-ECDF = max over k of |F(tₖ) − G(tₖ)|        avg-ECDF = mean over k of (F(tₖ) − G(tₖ))²

Both are 0 when the two functions agree and at most 1; smaller is better. A value that occurs in
several records counts once for each of them, as the measures are averages over records.

M.-J. Woo, J. P. Reiter, A. Oganian and A. F. Karr (2009), Global measures of data utility for
microdata masked for disclosure limitation, Journal of Privacy and Confidentiality 1(1), 111-124,
doi:10.29012/jpc.v1i1.568.

Where the schema lets values be missing, the share of missing values is compared, and everything
else is measured on the values that are there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from understudy.domain.schema import Column, Schema
from understudy.errors import BadInput

if TYPE_CHECKING:
    from pandas import DataFrame, Series

STATISTICS = {
    "mean": "mean",
    "median": "median",
    "q15": "15th percentile",
    "q90": "90th percentile",
}
"""What is told of a numeric column, and how people call it."""


def max_ecdf(confidential: ArrayLike, synthetic: ArrayLike) -> float:
    """Return max |F(t) − G(t)| over the records t of the pooled sample.

    This is the statistic of the two-sample Kolmogorov-Smirnov test. The samples may differ in
    length.

    >>> max_ecdf([1, 2, 3, 4], [3, 4, 5, 6])
    0.5
    """
    return float(np.abs(_ecdf_gaps(confidential, synthetic)).max())


def avg_ecdf(confidential: ArrayLike, synthetic: ArrayLike) -> float:
    """Return the mean of (F(t) − G(t))² over the records t of the pooled sample.

    The samples may differ in length.

    >>> avg_ecdf([1, 2], [1, 3])
    0.0625
    """
    return float(np.square(_ecdf_gaps(confidential, synthetic)).mean())


def _ecdf_gaps(confidential: ArrayLike, synthetic: ArrayLike) -> NDArray[np.float64]:
    """Return F(t) − G(t) at every record t of the pooled sample, in O(n log n)."""
    x = np.sort(_sample(confidential, "confidential"))
    y = np.sort(_sample(synthetic, "synthetic"))
    pooled = np.concatenate([x, y])
    at_most_x = np.searchsorted(x, pooled, side="right")
    at_most_y = np.searchsorted(y, pooled, side="right")
    # One division of an exact integer, so that equal shares of samples of different lengths give
    # exactly 0, which F(t) − G(t) in floating point does not.
    gaps: NDArray[np.float64] = (at_most_x * y.size - at_most_y * x.size) / (x.size * y.size)
    return gaps


def _sample(values: ArrayLike, table: str) -> NDArray[np.float64]:
    """Return the values as floats, and refuse a sample for which the measures are not defined."""
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or sample.size == 0:
        raise BadInput(f"the {table} table has no records to measure utility on.")
    broken = np.flatnonzero(~np.isfinite(sample))
    if broken.size:
        raise BadInput(
            f"the {table} table is missing or infinite in record {broken[0] + 1}; utility is "
            "measured on complete columns."
        )
    return sample


@dataclass(frozen=True, kw_only=True)
class ColumnStatistics:
    """The statistics of one column that the paper compares."""

    mean: float
    median: float
    q15: float
    q90: float


def summarise(values: ArrayLike) -> ColumnStatistics:
    """Return the mean, the median and the 15th and 90th percentiles of the values."""
    sample = _sample(values, "given")
    q15, median, q90 = np.quantile(sample, [0.15, 0.5, 0.9])
    return ColumnStatistics(
        mean=float(sample.mean()), median=float(median), q15=float(q15), q90=float(q90)
    )


@dataclass(frozen=True)
class MissingShares:
    """The share of values that are missing, in both tables."""

    confidential: float
    synthetic: float


@dataclass(frozen=True, kw_only=True)
class Utility:
    """The utility of one numeric column."""

    max_ecdf: float
    avg_ecdf: float
    confidential: ColumnStatistics
    synthetic: ColumnStatistics
    missing: MissingShares | None = None
    """Where values may be missing."""

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as they stand in `diagnostics.json`."""
        return _plain(asdict(self))


@dataclass(frozen=True, kw_only=True)
class CategoricalUtility:
    """The utility of one categorical column: the share of each declared level, in both tables.

    `total_variation` is half the sum of the absolute differences of the shares, the largest
    difference that any set of levels can show.
    """

    total_variation: float
    confidential: dict[str, float]
    synthetic: dict[str, float]
    missing: MissingShares | None = None
    """Where values may be missing."""

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as they stand in `diagnostics.json`."""
        return _plain(asdict(self))


ColumnUtility = Utility | CategoricalUtility


def _plain(measures: dict[str, Any]) -> dict[str, Any]:
    """Leave out what does not apply, and replace what is undefined by null."""
    return {
        name: _plain(number)
        if isinstance(number, dict)
        else (None if math.isnan(number) else number)
        for name, number in measures.items()
        if number is not None
    }


def level_shares(values: Iterable[object], levels: Sequence[str], table: str) -> dict[str, float]:
    """Return the share of each declared level; a value that is not declared is refused."""
    positions: dict[object, int] = {level: position for position, level in enumerate(levels)}
    codes = np.array([positions.get(value, -1) for value in values], dtype=np.intp)
    if codes.size == 0:
        raise BadInput(f"the {table} table has no records to measure utility on.")
    undeclared = np.flatnonzero(codes < 0)
    if undeclared.size:
        raise BadInput(
            f"the {table} table holds no declared level in record {undeclared[0] + 1}; declare it "
            "in the schema."
        )
    counts = np.bincount(codes, minlength=len(levels))
    return {level: float(count / codes.size) for level, count in zip(levels, counts, strict=True)}


def measure(confidential: ArrayLike, synthetic: ArrayLike) -> Utility:
    """Return the utility of one numeric column."""
    return Utility(
        max_ecdf=max_ecdf(confidential, synthetic),
        avg_ecdf=avg_ecdf(confidential, synthetic),
        confidential=summarise(confidential),
        synthetic=summarise(synthetic),
    )


def measure_levels(
    confidential: Iterable[object], synthetic: Iterable[object], levels: Sequence[str]
) -> CategoricalUtility:
    """Return the utility of one categorical column with the declared levels."""
    return of_shares(
        level_shares(confidential, levels, "confidential"),
        level_shares(synthetic, levels, "synthetic"),
    )


def of_shares(confidential: dict[str, float], synthetic: dict[str, float]) -> CategoricalUtility:
    """Return the utility of a categorical column from the share of each level."""
    apart = sum(abs(share - synthetic[level]) for level, share in confidential.items())
    return CategoricalUtility(
        total_variation=apart / 2, confidential=confidential, synthetic=synthetic
    )


def compare(
    confidential: DataFrame, synthetic: DataFrame, schema: Schema
) -> dict[str, ColumnUtility]:
    """Return the utility of every confidential column of the schema, by name.

    Public columns are left out: they are copied or given, so nothing is learned from them. Where
    the schema lets values be missing, those that are not are compared.
    """
    utilities: dict[str, ColumnUtility] = {}
    for column in schema.confidential:
        for table, frame in (("confidential", confidential), ("synthetic", synthetic)):
            if column.name not in frame.columns:
                raise BadInput(f"the {table} table has no column {column.name!r}.")
        try:
            utilities[column.name] = _compared(
                confidential[column.name], synthetic[column.name], column
            )
        except BadInput as error:
            raise BadInput(f"column {column.name!r}: {error}") from None
    return utilities


def complete(values: Series[Any], column: Column) -> Series[Any]:
    """Return the values that are there; where none may be missing, all of them."""
    return values.dropna() if column.missing == "model" else values


def _compared(confidential: Series[Any], synthetic: Series[Any], column: Column) -> ColumnUtility:
    both = confidential, synthetic
    present = complete(confidential, column), complete(synthetic, column)
    if all(map(len, both)) and not all(map(len, present)):
        # Where one table has no value at all, nothing agrees; where neither has, nothing differs.
        measured = nothing_to_measure(column, apart=any(map(len, present)))
    elif column.levels is None:
        measured = measure(*(values.to_numpy(dtype=np.float64) for values in present))
    else:
        measured = measure_levels(*present, column.levels)
    if column.missing != "model":
        return measured
    shares = (1 - len(kept) / len(values) for kept, values in zip(present, both, strict=True))
    return replace(measured, missing=MissingShares(*shares))


def nothing_to_measure(column: Column, *, apart: bool) -> ColumnUtility:
    """Return the utility of a column of which a table has no value at all.

    Args:
        column: What it is declared to hold.
        apart: Whether the other table has some.
    """
    distance = 1.0 if apart else 0.0
    if column.levels is None:
        nothing = ColumnStatistics(**dict.fromkeys(STATISTICS, math.nan))
        return Utility(
            max_ecdf=distance, avg_ecdf=distance, confidential=nothing, synthetic=nothing
        )
    shares = dict.fromkeys(column.levels, math.nan)
    return CategoricalUtility(total_variation=distance, confidential=shares, synthetic=shares)
