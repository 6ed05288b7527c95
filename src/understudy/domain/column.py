"""One declared column: its role, its type, and the values that it may hold."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.domain.dates import FIRST, LAST, iso
from understudy.domain.heaps import check_grid, check_spikes
from understudy.domain.kinds import check_codes, why_missing
from understudy.errors import BadInput

LARGEST_INTEGER = 2**53
"""Whole numbers up to here are exact in float64, in which all numeric columns are computed."""


class Role(StrEnum):
    """What happens to a column: it is synthesised, copied as it is, or left out.

    A unit says which rows belong together, a survey weight how many people a row stands for: both
    are used and neither is released, unless a survey weight is declared to be.
    """

    CONFIDENTIAL = "confidential"
    PUBLIC = "public"
    IGNORE = "ignore"
    UNIT = "unit"
    SURVEY_WEIGHT = "survey-weight"


class Type(StrEnum):
    """What the values of a column are."""

    CONTINUOUS = "continuous"
    COUNT = "count"
    INTEGER = "integer"
    DATE = "date"
    CATEGORICAL = "categorical"
    BINARY = "binary"


_WHOLE = frozenset({Type.COUNT, Type.INTEGER, Type.DATE})
_HEAPED = frozenset({Type.CONTINUOUS, Type.COUNT, Type.INTEGER})
_LEVELLED = frozenset({Type.CATEGORICAL, Type.BINARY})


def _demand(holds: bool, otherwise: str) -> None:
    if not holds:
        raise BadInput(otherwise)


@dataclass(frozen=True)
class Column:
    """One declared column. Numeric types have bounds, the others have levels, never both.

    A date is numeric: it is coded as the number of days since 1970-01-01.
    """

    name: str
    role: Role
    type: Type | None = None
    bounds: tuple[float, float] | None = None
    levels: tuple[str, ...] | None = None
    outside: str = "refuse"
    missing: str = "refuse"
    average: float | None = None
    """The public constant by which survey weights are divided."""
    release: bool = False
    """Whether a survey weight is synthesised beside the rest, instead of weighing the records."""
    spikes: tuple[float, ...] = ()
    """Public values that many records share, each with a weight of its own, in ascending order."""
    grid: float | None = None
    """A public number on whose multiples values heap, as rounded answers do."""
    ordered: bool = False
    """Whether the levels are declared in an order that means something."""
    codes: tuple[tuple[str, str], ...] = ()
    """The kinds of missing values, as a table writes them, and what they mean."""

    def __post_init__(self) -> None:
        try:
            self._check()
        except BadInput as fault:
            raise BadInput(f"column {self.name!r} {fault}.") from None

    def _check(self) -> None:
        """Refuse a declaration that contradicts itself, with the rest of a sentence."""
        _demand(
            bool(self.name) and writable(self.name),
            "needs a name without line breaks and other control characters",
        )
        _demand(
            self.outside in ("refuse", "clamp"),
            f"has outside = {self.outside!r}, which must be 'refuse' or 'clamp'",
        )
        _demand(
            self.missing in ("refuse", "model"),
            f"has missing = {self.missing!r}, which must be 'refuse' or 'model'",
        )
        _demand(
            self.missing == "refuse" or self.role is Role.CONFIDENTIAL,
            f"has the role '{self.role}', and only missing values of a confidential column can be "
            "modelled",
        )
        if self.role is Role.SURVEY_WEIGHT:
            self._check_weight()
        else:
            _demand(self.average is None, "has an average, which belongs to a survey weight")
            _demand(not self.release, "has release = true, which belongs to a survey weight")
        _demand(
            not self.ordered or self.type is Type.CATEGORICAL,
            "is ordered, and only a categorical column has levels in an order",
        )
        if self.type is None:
            _demand(self.role in (Role.IGNORE, Role.UNIT), f"needs a type: {listed(Type)}")
        elif self.numeric:
            _demand(self.levels is None, f"is {self.type} and has bounds, so remove its levels")
            _check_bounds(self.bounds, self.type)
        else:
            _demand(self.bounds is None, f"is {self.type} and has levels, so remove its bounds")
            _demand(self.outside == "refuse", f"is {self.type}, and only numbers can be clamped")
            _check_levels(self.levels, self.type)
        self._check_heaps()
        self._check_codes()

    def _check_weight(self) -> None:
        """Refuse weights whose average is not declared: it scales the guarantee's scores.

        Were it taken from the table, one record's weight would move the scores of all the others.
        """
        if self.release and self.type in _HEAPED:
            _check_bounds(self.bounds, self.type)
        else:
            _demand(self.type is Type.CONTINUOUS, "is a survey weight, so its type is continuous")
            _check_bounds(self.bounds, Type.CONTINUOUS)
        _demand(self.lower >= 0, "is a survey weight, so its lower bound cannot be negative")
        if self.average is None:
            if self.release:
                return  # It divides nothing.
            raise BadInput(
                "is a survey weight and needs average = a published number by which weights are "
                "divided, such as the size of the population over the size of the sample"
            )
        _demand(
            self.average > 0 and self.lower <= self.average <= self.upper,
            "needs an average above 0 and within its bounds",
        )

    def _check_heaps(self) -> None:
        if not self.spikes and self.grid is None:
            return
        weighs = self.treated_as is Role.SURVEY_WEIGHT
        if self.bounds is None or self.type not in _HEAPED or weighs:
            raise BadInput(
                f"has {'spikes' if self.spikes else 'a grid'}, which only a public or confidential "
                "column of numbers (continuous, count or integer) can have"
            )
        check_spikes(self.spikes, self.bounds, whole=self.whole)
        if self.grid is not None:
            check_grid(self.grid, self.bounds, whole=self.whole)

    def _check_codes(self) -> None:
        if not self.codes:
            return
        _demand(self.missing == "model", "has codes of missing values, so set missing = 'model'")
        check_codes(self.code_texts, self.levels or (), numeric=self.numeric)
        _demand(
            all(writable(text) for both in self.codes for text in both),
            "has a code, or the meaning of one, with a line break or control character",
        )

    @property
    def treated_as(self) -> Role:
        """What happens to it: a survey weight that is released is a confidential column."""
        return Role.CONFIDENTIAL if self.release else self.role

    @property
    def code_texts(self) -> tuple[str, ...]:
        """How a table writes each kind of missing value, where codes are declared."""
        return tuple(code for code, _ in self.codes)

    @property
    def kinds(self) -> int:
        """How many kinds of missing values there are: none where missing values are refused."""
        return max(1, len(self.codes)) if self.missing == "model" else 0

    @property
    def beside(self) -> str | None:
        """Under which name a coded table holds the kinds of missing numbers, if there are several.

        A missing level has a code for each kind, and needs no such companion.
        """
        return why_missing(self.name) if self.numeric and self.kinds > 1 else None

    @property
    def numeric(self) -> bool:
        """Whether the column holds numbers within bounds, rather than codes of levels."""
        return self.type is not None and self.type not in _LEVELLED

    @property
    def whole(self) -> bool:
        """Whether the numbers are whole ones."""
        return self.type in _WHOLE

    @property
    def lower(self) -> float:
        """The smallest value that the declaration allows."""
        return self._declared_bounds[0]

    @property
    def upper(self) -> float:
        """The largest value that the declaration allows."""
        return self._declared_bounds[1]

    @property
    def width(self) -> float:
        """The distance between the bounds."""
        return self.upper - self.lower

    @property
    def _declared_bounds(self) -> tuple[float, float]:
        if self.bounds is None:
            raise BadInput(f"column {self.name!r} is not numeric, so it has no bounds.")
        return self.bounds

    def spread(self, ranks: NDArray[np.int64]) -> NDArray[Any]:
        """Return values that cover the domain evenly, one for each rank 0, ..., len(ranks) − 1."""
        if self.levels is not None:
            return ranks % len(self.levels)
        quantiles = (ranks + 0.5) / max(len(ranks), 1)
        values = np.clip(self.lower + self.width * quantiles, self.lower, self.upper)
        return np.rint(values) if self.whole else values

    def to_dict(self) -> dict[str, Any]:
        """Return the column's table in the TOML layout."""
        if self.type is None:
            return {"role": str(self.role)}
        declared: dict[str, Any] = {"role": str(self.role), "type": str(self.type)}
        if self.missing != "refuse":
            declared["missing"] = self.missing
        if self.codes:
            declared["codes"] = dict(self.codes)
        if self.average is not None:
            declared["average"] = self.average
        if self.release:
            declared["release"] = True
        if self.levels is not None:
            ordered = {"ordered": True} if self.ordered else {}
            return declared | {"levels": list(self.levels)} | ordered
        if self.spikes:
            declared["spikes"] = [self._plain(value) for value in self.spikes]
        if self.grid is not None:
            declared["grid"] = self._plain(self.grid)
        return declared | {
            "bounds": [self._plain(self.lower), self._plain(self.upper)],
            "outside": self.outside,
        }

    def _plain(self, value: float) -> float | str:
        """Return a number as a person would declare it."""
        if self.type is Type.DATE:
            return iso(value)
        return int(value) if self.whole else float(value)


def _check_bounds(bounds: tuple[float, float] | None, type_: Type) -> None:
    if bounds is None:
        example = '["2019-01-01", "2024-12-31"]' if type_ is Type.DATE else "[lower, upper]"
        raise BadInput(f"is {type_} and needs bounds = {example}")
    lower, upper = bounds
    _demand(all(map(math.isfinite, (lower, upper, upper - lower))), "needs finite bounds")
    _demand(lower != upper, "has equal bounds; the lower must be below the upper")
    _demand(lower < upper, "has reversed bounds; the lower must be below the upper")
    if type_ in _WHOLE:
        whole = lower == math.floor(lower) and upper == math.floor(upper)
        _demand(whole, f"is {type_}, so its bounds must be whole numbers")
        exact = max(-lower, upper) <= LARGEST_INTEGER
        _demand(exact, f"is {type_}, so its bounds must lie within ±2^53")
    if type_ is Type.DATE:
        _demand(lower >= FIRST and upper <= LAST, "needs bounds with years from 0001 to 9999")
    if type_ is Type.COUNT:
        _demand(lower >= 0, "is a count, so its lower bound cannot be negative; see type integer")


def _check_levels(levels: tuple[str, ...] | None, type_: Type) -> None:
    if levels is None:
        raise BadInput(f"is {type_} and needs levels")
    _demand(all(levels), "has an empty level, but empty means missing")
    _demand(all(map(writable, levels)), "has a level with a line break or control character")
    repeated = [level for level, times in Counter(levels).items() if times > 1]
    _demand(not repeated, f"has repeated levels: {', '.join(map(repr, repeated))}")
    _demand(len(levels) >= 2, f"is {type_} and needs at least two levels")
    if type_ is Type.BINARY:
        _demand(len(levels) == 2, f"is binary and needs exactly two levels, not {len(levels)}")


def writable(text: str) -> bool:
    """Whether a name or level survives being written to a CSV file and read back."""
    return not any(
        unicodedata.category(character) in ("Cc", "Cs") or character == "\ufeff"
        for character in text
    )


def checked_line(text: object, what: str) -> str:
    """Return a line of text, or refuse what would break one."""
    if not isinstance(text, str) or not writable(text):
        raise BadInput(f"{what} must be one line of text without control characters.")
    return text


def listed(words: type[StrEnum]) -> str:
    """Return the words that a key may hold, as a sentence names them."""
    return " | ".join(words)
