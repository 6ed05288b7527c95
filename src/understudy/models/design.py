"""The right-hand side of a formula as a design matrix that knows only the declared domain.

formulaic learns things from the frame it is given: the levels of a factor, the mean behind
`scale(x)`, the basis behind `poly(x, 2)`. Here it learns them from a *public* frame that is laid
out over the declared domain, and applies them to the table. Each column is then scaled to run from
0 to 1 over that frame, so that one prior fits every coefficient whatever the units. No constant
comes from a table.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy.errors import BadInput
from understudy.schema import Role, Type

if TYPE_CHECKING:
    import pandas as pd

    from understudy.schema import Schema
    from understudy.tables import Columns

_POINTS = 1001
"""Rows of the public frame; a declared range of up to a thousand whole numbers fits in it."""


@dataclass(frozen=True)
class Design:
    """A fixed map from public columns to a design matrix."""

    outcome: str
    names: tuple[str, ...]
    predictors: tuple[str, ...]
    _schema: Schema
    _spec: Any
    _low: np.ndarray
    _range: np.ndarray

    def matrix(self, columns: Columns) -> np.ndarray:
        """Return the design matrix of the given public columns, shape (rows, coefficients)."""
        raw = _materialise(self._spec, _frame(columns, self._schema, self.predictors))
        return (raw - self._low) / self._range


def design(formula: str, schema: Schema) -> Design:
    """Read a formula against a schema, and refuse what the schema does not make public."""
    from formulaic import Formula

    with _refusing(formula):
        parsed = Formula(formula)
        left, right = getattr(parsed, "lhs", None), getattr(parsed, "rhs", None)
    if left is None or isinstance(left, tuple) or right is None or isinstance(right, tuple):
        raise BadInput(f"the formula '{formula}' must have the form 'outcome ~ predictors'.")
    outcome = str(left)
    _check_names(formula, schema, outcome, sorted(map(str, right.required_variables)))
    predictors = tuple(c.name for c in schema.public if c.name in right.required_variables)
    domain = _public_frame(schema, predictors)
    with _refusing(formula):
        first = right.get_model_matrix(domain, context=None)
    names = tuple(map(str, first.columns))
    spec = first.model_spec
    raw = _materialise(spec, domain)
    if not np.isfinite(raw).all():
        worst = names[int(np.argmin(np.isfinite(raw).all(axis=0)))]
        raise BadInput(
            f"in the formula '{formula}' the term '{worst}' is not finite over the declared "
            f"bounds: change the term or the bounds."
        )
    _check_rows_stand_alone(formula, spec, domain, raw)
    low, high = raw.min(axis=0), raw.max(axis=0)
    constant = high == low  # The intercept, which keeps its value of one.
    low, extent = np.where(constant, 0.0, low), np.where(constant, 1.0, high - low)
    return Design(outcome, names, predictors, schema, spec, low, extent)


def _check_names(formula: str, schema: Schema, outcome: str, predictors: list[str]) -> None:
    roles = {column.name: column.role for column in schema.columns}
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


def _public_frame(schema: Schema, predictors: tuple[str, ...]) -> pd.DataFrame:
    """Lay rows out over the declared domain: every level, both bounds and the space between."""
    columns: Columns = {}
    rows = np.arange(_POINTS)
    for name in predictors:
        column = schema.column(name)
        if column.numeric:
            grid = np.linspace(column.lower, column.upper, _POINTS)
            columns[name] = grid if column.type is Type.CONTINUOUS else np.round(grid)
        else:
            columns[name] = rows % len(column.levels or ())
    return _frame(columns, schema, predictors, rows=_POINTS)


def _frame(
    columns: Columns, schema: Schema, names: tuple[str, ...], rows: int | None = None
) -> pd.DataFrame:
    import pandas as pd

    if rows is None:
        rows = len(next(iter(columns.values())))
    frame = pd.DataFrame(index=range(rows))
    for name in names:
        levels = schema.column(name).levels
        values = columns[name]
        frame[name] = (
            values
            if levels is None
            else pd.Categorical.from_codes(values, categories=pd.Index(levels))
        )
    return frame


def _materialise(spec: Any, frame: pd.DataFrame) -> np.ndarray:
    return np.asarray(spec.get_model_matrix(frame), dtype=np.float64)


def _check_rows_stand_alone(formula: str, spec: Any, domain: pd.DataFrame, raw: np.ndarray) -> None:
    """Refuse a term in which one record's row of the design depends on other records."""
    chosen = np.random.default_rng(0).permutation(len(domain))[:7]
    with _refusing(formula):
        alone = _materialise(spec, domain.iloc[chosen].reset_index(drop=True))
    if not np.allclose(alone, raw[chosen], rtol=1e-12, atol=0.0):
        raise BadInput(
            f"the formula '{formula}' has a term that mixes records (a lag, for example), but a "
            f"record's likelihood must depend on that record alone."
        )


@contextmanager
def _refusing(formula: str) -> Iterator[None]:
    """Turn formulaic's errors and warnings about a formula into one sentence."""
    from formulaic.errors import FormulaicError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield
    except (FormulaicError, Warning, AttributeError, TypeError, ValueError) as error:
        if isinstance(error, BadInput):
            raise
        reason = str(error).splitlines()[0].strip().rstrip(".") if str(error) else "not understood"
        raise BadInput(f"the formula '{formula}' cannot be used: {reason}.") from None
