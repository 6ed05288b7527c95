"""What a model of all columns sees of a column: one of a list of values, by its code.

How codes come about is told in `coding.py`. A distribution over codes can differ from an even one
in some directions, which are functions of the code. The logarithm of each code's probability is a
sum of directions times coefficients, up to a constant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from understudy.domain.kinds import kinds_of
from understudy.domain.schema import Column, Schema
from understudy.domain.tables import Columns
from understudy.errors import BadInput
from understudy.models.balance import Floats, codes_at
from understudy.models.base import Parameter

Codes = NDArray[np.int64]

MOST_COLUMNS = 300
_MOST_CONTRASTS = 16_000_000
"""Entries of all contrasts among levels, which are squares: one column of 4,000 levels."""


@dataclass(frozen=True, eq=False)
class Variable:
    """A column as codes, with what prior and predictions need to know about them.

    Codes of intervals or values come first, then those of spikes, then the kinds of missing values.
    `directions` has a column for each coefficient of the log probabilities; `widths` says for each
    order of an effect (constant, main effect, pair) how wide its coefficients are, which are those
    of the leading directions.
    """

    column: Column
    base: Floats
    """Log probability of each code when all coefficients are zero, up to a constant."""
    unit: Floats
    """Log probability (or density of u) of a value, given its code."""
    directions: Floats
    widths: tuple[Floats, ...]
    features: Floats
    """By which other variables depend on this one, shape (codes, features)."""
    edges: Floats | None = None
    """Where the intervals begin and end, in the column's units; None where codes are values."""
    spikes: Floats = field(default_factory=lambda: np.empty(0))
    """Values of a number that have codes of their own, whichever interval they lie in."""
    free: Codes = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """Codes that may stand out from their neighbours, as 52 weeks do."""
    kinds: int = 0
    """Of missing values."""

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column.name

    @property
    def count(self) -> int:
        """How many codes there are."""
        return len(self.base)

    @property
    def inner(self) -> int:
        """How many of them are levels, values or intervals."""
        return self.count - len(self.spikes) - self.kinds

    def read(self, columns: Mapping[str, NDArray[Any]]) -> Codes:
        """Return the code of each record."""
        values, last = columns[self.name], self.count - self.kinds
        if not self.column.numeric:
            return np.where(values < 0, last - 1 - values, values).astype(np.int64)
        if self.edges is not None:
            codes = np.searchsorted(self.edges[1:-1], values, side="right")
        else:
            codes = np.nan_to_num(values - self.column.lower).astype(np.int64)
        if len(self.spikes):
            place = np.minimum(np.searchsorted(self.spikes, values), len(self.spikes) - 1)
            codes = np.where(self.spikes[place] == values, self.inner + place, codes)
        if self.kinds:
            codes = np.where(np.isnan(values), last + kinds_of(columns, self.name), codes)
        return np.asarray(codes, dtype=np.int64)

    def write(self, generator: np.random.Generator, codes: Codes) -> Columns:
        """Return the columns that a table has of codes, numbers anywhere in their intervals."""
        places = np.zeros(len(codes)) if self.edges is None else generator.random(len(codes))
        return self.values(codes, places)

    def values(self, codes: Codes, within: Floats) -> Columns:
        """Return the same with each number so far within its interval: from 0 to 1."""
        kind = codes - (self.count - self.kinds)
        absent = kind >= 0
        if not self.column.numeric:
            return {self.name: np.where(absent, -1 - kind, codes)}
        place = np.minimum(codes, self.inner - 1)
        if self.edges is None:
            values = self.column.lower + place
        else:
            low, high = self.edges[place], self.edges[place + 1]
            values = low + (high - low) * within
            if self.column.whole:
                values = np.rint(values) if not len(self.spikes) else self._between(place, within)
                values = np.clip(values, low + 0.5, high - 0.5)
        if len(self.spikes):
            spike = np.clip(codes - self.inner, 0, len(self.spikes) - 1)
            values = np.where(codes >= self.inner, self.spikes[spike], values)
        written: Columns = {self.name: np.where(absent, np.nan, values)}
        if self.column.beside is not None:
            written[self.column.beside] = np.where(absent, kind, -1)
        return written

    def _between(self, place: Codes, within: Floats) -> Floats:
        """Return whole numbers so far within their intervals, of those that are no spikes."""
        assert self.edges is not None
        low, high = self.edges[place], self.edges[place + 1]
        before = np.searchsorted(self.spikes, low)
        left = high - low - (np.searchsorted(self.spikes, high) - before)
        # Counted without spikes, of which as many are then below it as have lower such numbers.
        number = low + 0.5 - before + np.minimum(np.floor(within * left), np.maximum(left - 1, 0))
        others = self.spikes - np.arange(len(self.spikes))
        return np.asarray(number + np.searchsorted(others, number, side="right"))


def evenly_grouped(variable: Variable, groups: int) -> Codes:
    """Return a group for each code: levels are their own, intervals of numbers so many of a kind.

    A spike is with its interval; each kind of missing values is a group of its own.
    """
    size = 1 if variable.column.levels is not None else -(-variable.inner // groups)
    own = np.arange(variable.inner) // size
    return with_others(variable, own, np.zeros(len(variable.spikes), dtype=bool))


def with_others(variable: Variable, own: Codes, apart: NDArray[np.bool_]) -> Codes:
    """Return groups of all codes from those of intervals: spikes that are apart, and kinds, follow.

    Args:
        variable: The column.
        own: The group of each interval.
        apart: Which spikes are groups of their own.
    """
    beside = _beside(variable, own)
    last = int(own.max()) + 1
    spikes = np.where(apart, last + np.cumsum(apart) - 1, beside)
    last += int(apart.sum())
    return np.concatenate([own, spikes, last + np.arange(variable.kinds)]).astype(np.int64)


def _beside(variable: Variable, own: Codes) -> Codes:
    if variable.edges is None or not len(variable.spikes):
        return np.empty(0, dtype=np.int64)
    return own[np.searchsorted(variable.edges[1:-1], variable.spikes, side="right")]


def shares_of(heights: ArrayLike) -> Floats:
    """Return probabilities in proportion to the exponentials of each row, up to a constant."""
    logarithms = np.asarray(heights, dtype=np.float64)
    return np.exp(logarithms - logarithms.max(axis=1, keepdims=True))


def draw_codes(generator: np.random.Generator, heights: ArrayLike, rows: Codes) -> Codes:
    """Draw a code for each record, whose row of log probabilities is named by `rows`.

    They may lack a constant, as long as it is the same for all codes of a row.
    """
    return codes_at(generator.uniform(size=len(rows)), shares_of(heights), rows)[0]


def neighbours(codes: Mapping[str, Codes], variables: Iterable[Variable]) -> list[Codes]:
    """Return the codes by which rows are neighbours: those of the fewest values first."""
    return [codes[each.name] for each in sorted(variables, key=lambda each: each.count)]


def check_columns(model: str, schema: Schema) -> None:
    """Refuse columns of which nothing or too much would have to be built; nothing is built yet.

    A schema may come from a published file, in which a few lines declare a great many columns or
    levels.
    """
    if not schema.confidential:
        raise BadInput(f"the {model} model needs a confidential column, but the schema has none.")
    columns = (*schema.public, *schema.confidential)
    if len(columns) > MOST_COLUMNS:
        raise BadInput(
            f"the schema has {len(columns):,} columns, more than {MOST_COLUMNS:,} for the {model} "
            f"model: leave columns out with the role 'ignore'."
        )
    widest = max(columns, key=lambda column: len(column.levels or ()))
    if sum(len(column.levels or ()) ** 2 for column in columns) > _MOST_CONTRASTS:
        raise BadInput(
            f"these columns have too many levels for the {model} model, '{widest.name}' alone "
            f"{len(widest.levels or ()):,}: declare fewer, or leave columns out with the role "
            f"'ignore'."
        )


def check_names(model: str, parameters: tuple[Parameter, ...]) -> None:
    """Refuse columns whose names make one name of two parameters."""
    repeated = [n for n, times in Counter(p.name for p in parameters).items() if times > 1]
    if repeated:
        raise BadInput(
            f"the columns' names make two parameters of the {model} model '{repeated[0]}': rename "
            f"a column."
        )
