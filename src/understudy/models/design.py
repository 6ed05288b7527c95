"""The right-hand side of a formula as a design matrix that knows only the declared domain.

formulaic learns things from the frame it is given: the levels of a factor, the mean behind
`scale(x)`, the basis behind `poly(x, 2)`. Here it learns them from a *public* frame that is laid
out over the declared domain, and applies them to the table. Each column is then scaled to run from
0 to 1 over that frame, so that one prior fits every coefficient whatever the units. No constant
comes from a table.
"""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from understudy.domain.formulas import (
    LARGEST_WIDTH,
    check_width,
    extent,
    formula_frame,
    refusing,
    sides,
    variables,
)
from understudy.domain.schema import Role, Schema
from understudy.domain.tables import Columns
from understudy.domain.terms import PlainTerms
from understudy.errors import BadInput

_POINTS = 1001
"""Rows of the public frame; a declared range of up to a thousand whole numbers fits in it."""
_OTHER_POINTS = 1007
"""A second frame with other points shows whether the first one's values were special."""
_CORNERED = 6
"""Numeric predictors whose bounds are combined in every way; a product is largest in a corner."""
_REMEMBERED = 2
INTERCEPT = "Intercept"
"""What the constant is called in a design."""


@dataclass(frozen=True, eq=False)
class _KnownRows:
    """Distinct rows of public columns with their rows of the design.

    A row is known by one whole number: the places of its values among those of each column, as the
    digits of a number whose bases are how many values each column has.
    """

    values: tuple[np.ndarray, ...]
    """The distinct values of each column, in order."""
    numbers: np.ndarray
    """The number of each distinct row, in order."""
    matrix: np.ndarray

    @classmethod
    def of(cls, columns: Sequence[np.ndarray], matrix: np.ndarray) -> _KnownRows | None:
        """Remember rows; None where their numbers would not fit into 64 bits."""
        values = tuple(np.unique(column) for column in columns)
        if math.prod(map(len, values)) > np.iinfo(np.int64).max:
            return None
        numbers = cls._numbered(columns, values)
        if numbers is None:  # Not a number: nothing equals it.
            return None
        distinct, first = np.unique(numbers, return_index=True)
        return cls(values, distinct, matrix[first])

    def places(self, columns: Sequence[np.ndarray]) -> np.ndarray | None:
        """Return where each row is among those that are known; None if one is not."""
        numbers = self._numbered(columns, self.values)
        if numbers is None:
            return None
        places = np.minimum(np.searchsorted(self.numbers, numbers), len(self.numbers) - 1)
        return places if np.array_equal(self.numbers[places], numbers) else None

    @staticmethod
    def _numbered(columns: Sequence[np.ndarray], values: Sequence[np.ndarray]) -> np.ndarray | None:
        """Return the number of each row; None where a value is not among the given ones."""
        numbers = np.zeros(len(columns[0]), dtype=np.int64)
        for column, each in zip(columns, values, strict=True):
            places = np.minimum(np.searchsorted(each, column), len(each) - 1)
            if not np.array_equal(each[places], column):
                return None
            numbers = numbers * len(each) + places
        return numbers


@dataclass(frozen=True)
class Design:
    """A fixed map from public columns to a design matrix."""

    formula: str
    outcome: str
    names: tuple[str, ...]
    predictors: tuple[str, ...]
    _schema: Schema
    _spec: Any
    _plain: PlainTerms | None
    _low: np.ndarray
    _range: np.ndarray
    _known: deque[_KnownRows] = field(
        default_factory=lambda: deque(maxlen=_REMEMBERED), repr=False, compare=False
    )
    """Inferring simulates the same public rows over and over, and formulas are slow to read."""

    def matrix(self, columns: Columns) -> np.ndarray:
        """Return the design matrix of the given public columns, shape (rows, coefficients)."""
        if self._plain is not None:
            rows = len(columns[self.predictors[0]])
            return (self._plain.matrix(columns, rows) - self._low) / self._range
        own = [columns[name] for name in self.predictors]
        for known in reversed(tuple(self._known)):
            places = known.places(own)
            if places is not None:
                return known.matrix[places]
        # What is not finite is not refused here: a record must not decide whether a run ends.
        matrix = (self._raw(columns) - self._low) / self._range
        distinct = _KnownRows.of(own, matrix)
        if distinct is not None:
            self._known.append(distinct)
        return matrix

    def linear(self, columns: Columns, coefficients: np.ndarray) -> np.ndarray:
        """Return the design matrix times coefficients, of shape (coefficients, ...).

        Args:
            columns: Public ones.
            coefficients: One for each column of the design, or several.
        """
        if self._plain is None:
            return self.matrix(columns) @ coefficients
        scaled = (coefficients.T / self._range).T
        rows = len(columns[self.predictors[0]])
        return self._plain.linear(columns, rows, scaled) - self._low @ scaled

    def check(self, columns: Columns) -> None:
        """Refuse public rows at which a term is not finite."""
        _check_finite(self.formula, self.names, self._raw(columns))

    def _raw(self, columns: Columns) -> np.ndarray:
        rows = len(next(iter(columns.values())))
        declared = [self._schema.column(name) for name in self.predictors]
        frame = formula_frame(columns, declared, rows)
        with refusing(self.formula):
            return _materialise(self._spec, frame)


def design(formula: str, schema: Schema) -> Design:
    """Read a formula against a schema, and refuse what the schema does not make public."""
    left, right = sides(formula)
    if left is None or right is None:
        raise BadInput(f"the formula '{formula}' must have the form 'outcome ~ predictors'.")
    outcome, named = str(left), variables(formula, right)
    _check_names(formula, schema, outcome, sorted(named))
    predictors = tuple(column.name for column in schema.public if column.name in named)
    points = _OTHER_POINTS + 2**_CORNERED
    check_width(formula, right, {n: extent(schema.column(n), points) for n in predictors})
    public, domain = _public_rows(schema, predictors, _POINTS)
    _, between = _public_rows(schema, predictors, _OTHER_POINTS)
    with refusing(formula):
        first = right.get_model_matrix(domain, context=None, na_action="ignore")
        names, spec = tuple(map(str, first.columns)), first.model_spec
        if len(names) > LARGEST_WIDTH:
            raise BadInput(
                f"the formula '{formula}' makes a design of {len(names):,} columns, more than "
                f"{LARGEST_WIDTH:,}: write fewer terms."
            )
        raw, elsewhere = _materialise(spec, domain), _materialise(spec, between)
    for values in (raw, elsewhere):
        _check_finite(formula, names, values)
    _check_rows_stand_alone(formula, spec, domain, raw)
    low, high = _check_columns(formula, names, raw)
    declared = [schema.column(name) for name in predictors]
    plain = PlainTerms.of(names, declared, public, raw) if predictors else None
    return Design(formula, outcome, names, predictors, schema, spec, plain, low, high - low)


def _check_columns(
    formula: str, names: tuple[str, ...], raw: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return where each column begins and ends over the domain; the intercept keeps its one."""
    if not names:
        raise BadInput(f"the formula '{formula}' has nothing on its right-hand side; '1' would do.")
    low, high = raw.min(axis=0), raw.max(axis=0)
    for k, name in enumerate(names):
        if name == INTERCEPT and np.all(raw[:, k] == 1):
            low[k] = 0.0
        elif high[k] == low[k]:
            raise BadInput(
                f"in the formula '{formula}' the term '{name}' is the same over the whole declared "
                f"domain: leave it out."
            )
    return low, high


def _check_names(formula: str, schema: Schema, outcome: str, predictors: list[str]) -> None:
    schema.refuse_released_weight("a formula")
    roles = {column.name: column.role for column in schema.columns}
    if INTERCEPT in predictors:
        raise BadInput(f"a predictor cannot be called '{INTERCEPT}', the name of the constant.")
    for name in [outcome, *predictors]:
        if name not in roles:
            raise BadInput(
                f"the formula '{formula}' names '{name}', which is not a column of the schema."
            )
    if roles[outcome] is not Role.CONFIDENTIAL:
        raise BadInput(
            f"the outcome '{outcome}' of the formula has the role '{roles[outcome]}'; only a "
            f"confidential column is synthesised."
        )
    for name in predictors:
        if roles[name] is not Role.PUBLIC:
            raise BadInput(
                f"the predictor '{name}' has the role '{roles[name]}', but predictors are copied "
                f"into the synthetic table and must be public."
            )
    others = [c.name for c in schema.confidential if c.name != outcome]
    if others:
        raise BadInput(
            f"the formula synthesises '{outcome}' alone, but the schema also declares "
            f"{', '.join(others)} confidential: give them the role 'ignore'."
        )


def _check_finite(formula: str, names: tuple[str, ...], values: np.ndarray) -> None:
    bad = ~np.isfinite(values).all(axis=0)
    if bad.any():
        raise BadInput(
            f"in the formula '{formula}' the term '{names[int(np.argmax(bad))]}' is not finite "
            f"over the declared domain: change the term or the bounds."
        )


def _public_rows(
    schema: Schema, predictors: tuple[str, ...], points: int
) -> tuple[Columns, pd.DataFrame]:
    """Lay rows out over the declared domain: every level, the space between the bounds, corners.

    Each column visits its domain in an order of its own, so that no two move together.
    """
    numeric = [name for name in predictors if schema.column(name).numeric]
    corners = np.array(list(itertools.product((0.0, 1.0), repeat=min(len(numeric), _CORNERED))))
    columns: Columns = {}
    for turn, name in enumerate(predictors):
        column = schema.column(name)
        order = np.random.default_rng(turn).permutation(points)
        if not column.numeric:
            codes = np.concatenate([order, np.arange(len(corners))])
            columns[name] = codes % len(column.levels or ())
            continue
        place = numeric.index(name)
        ends = corners[:, place] if place < _CORNERED else corners[:, -1]
        values = column.lower + column.width * np.concatenate([order / (points - 1), ends])
        values = np.clip(values, column.lower, column.upper)
        columns[name] = np.round(values) if column.whole else values
    declared = [schema.column(name) for name in predictors]
    return columns, formula_frame(columns, declared, points + len(corners))


def _materialise(spec: Any, frame: pd.DataFrame) -> np.ndarray:
    return np.asarray(spec.get_model_matrix(frame, na_action="ignore"), dtype=np.float64)


def _check_rows_stand_alone(formula: str, spec: Any, domain: pd.DataFrame, raw: np.ndarray) -> None:
    """Refuse a term in which one record's row of the design depends on other records."""
    chosen = np.random.default_rng(0).permutation(len(domain))[:7]
    with refusing(formula):
        alone = _materialise(spec, domain.iloc[chosen].reset_index(drop=True))
    if len(raw) != len(domain) or not np.allclose(alone, raw[chosen], rtol=1e-12, atol=1e-12):
        raise BadInput(
            f"the formula '{formula}' has a term that mixes records (a lag, for example), but a "
            f"record's likelihood must depend on that record alone."
        )
