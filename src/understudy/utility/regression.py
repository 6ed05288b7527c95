"""Would an analyst find the same? One regression, fitted to both tables.

The regression is stated as a formula. Its outcome is a number (least squares) or a column with two
levels (logistic regression for the second of them). For each coefficient with estimate b and 95 %
confidence interval [L, U] in the confidential (c) and the synthetic table (s),

    overlap = max(0, ½ [ I/(Uc − Lc) + I/(Us − Ls) ]),    I = min(Uc, Us) − max(Lc, Ls),

the mean share of the two intervals that they have in common: 1 where they agree, 0 where they are
disjoint; and

    relative difference = (bs − bc) / |bc|.

Intervals are b ± t·SE with the quantile of Student's t for least squares and of the normal for the
logistic model, as if the synthetic rows were records. They are not, so the overlap tells how alike
an analysis turns out, and not whether its intervals cover anything.

Only records that have every value of the formula, and a finite one (no logarithm of 0), are used.
Levels come from the schema, so a coefficient means the same in both tables; what a table cannot
tell (a level that it does not hold) is left blank.

A. F. Karr, C. N. Kohnen, A. Oganian, J. P. Reiter and A. P. Sanil (2006), A framework for
evaluating the utility of data altered to protect confidentiality, The American Statistician 60(3),
224-232, doi:10.1198/000313006X124640.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy.domain.formulas import (
    STATEFUL,
    STATELESS,
    check_width,
    extent,
    refusing,
    sides,
    variables,
)
from understudy.domain.schema import Role, Schema
from understudy.domain.tables import decode
from understudy.errors import BadInput, nearest
from understudy.utility.fits import Floats, least_squares, logistic

if TYPE_CHECKING:
    import pandas as pd

    _Evaluated = Callable[[pd.DataFrame, str], tuple[Floats, Floats]]

CONFIDENCE = 0.95
_POINTS = 1001
"""Rows of the public frame from which formulaic learns levels and the names of coefficients."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A coefficient and its 95 % confidence interval."""

    value: float
    lower: float
    upper: float


@dataclass(frozen=True)
class Coefficient:
    """One coefficient in both tables; None where a table cannot tell it."""

    name: str
    confidential: Estimate | None
    synthetic: Estimate | None
    overlap: float | None
    relative_difference: float | None


@dataclass(frozen=True, kw_only=True)
class Regression:
    """A stated regression in both tables."""

    formula: str
    kind: str
    """`linear` or `logistic`."""
    confidential_used: float
    """Share of the confidential records that have every value of the formula."""
    synthetic_used: float
    coefficients: tuple[Coefficient, ...]

    @property
    def mean_overlap(self) -> float | None:
        """The mean overlap of the coefficients that both tables can tell."""
        overlaps = [c.overlap for c in self.coefficients if c.overlap is not None]
        return float(np.mean(overlaps)) if overlaps else None


def measure_regression(
    confidential: pd.DataFrame, synthetic: pd.DataFrame, schema: Schema, formula: str
) -> Regression:
    """Fit a stated regression, such as `log(pay) ~ gender + age`, to both tables."""
    names, kind, evaluated = _read(formula, schema)
    estimates, used = [], []
    for which, table in (("confidential", confidential), ("synthetic", synthetic)):
        design, outcome = evaluated(table, which)
        estimates.append(_estimates(kind, design, outcome))
        used.append(len(outcome) / len(table))
    return Regression(
        formula=formula,
        kind=kind,
        confidential_used=used[0],
        synthetic_used=used[1],
        coefficients=tuple(map(_coefficient, names, *estimates)),
    )


def overlap(a: Estimate, b: Estimate) -> float:
    """Return the mean share of two intervals that they have in common."""
    common = min(a.upper, b.upper) - max(a.lower, b.lower)
    if common < 0:
        return 0.0
    # An interval without width, of an outcome without noise, lies in the other or does not.
    shares = [common / width if (width := e.upper - e.lower) > 0 else 1.0 for e in (a, b)]
    return sum(shares) / 2


def _coefficient(
    name: str, confidential: Estimate | None, synthetic: Estimate | None
) -> Coefficient:
    shared = difference = None
    if confidential is not None and synthetic is not None:
        shared = overlap(confidential, synthetic)
        if confidential.value != 0:
            difference = (synthetic.value - confidential.value) / abs(confidential.value)
    return Coefficient(name, confidential, synthetic, shared, difference)


def _read(formula: str, schema: Schema) -> tuple[tuple[str, ...], str, _Evaluated]:
    """Return the coefficients' names, the kind of the regression, and what evaluates a table."""
    left, right = sides(formula)
    if left is None or right is None:
        raise BadInput(f"the regression '{formula}' must have the form 'outcome ~ predictors'.")
    named = _known(formula, left) | _known(formula, right)
    usable = [column.name for column in schema.having(Role.CONFIDENTIAL, Role.PUBLIC)]
    for name in sorted(named - set(usable)):
        raise BadInput(
            f"the regression '{formula}' names '{name}', which is not a confidential or public "
            f"column of both tables{nearest(name, usable)}."
        )
    columns = tuple(name for name in usable if name in named)
    for side in (left, right):
        check_width(formula, side, {n: extent(schema.column(n), _POINTS) for n in columns})
    levels = schema.column(str(left)).levels if str(left) in columns else None
    if levels is not None and len(levels) != 2:
        raise BadInput(
            f"the outcome '{left}' of the regression has {len(levels)} levels; it must be a "
            f"number or have two."
        )
    domain = _frame(decode(schema.public_points(_POINTS), schema), schema, columns)
    with refusing(formula), _undefined_allowed():
        predictors = right.get_model_matrix(domain, context=None, na_action="ignore")
        outcome = left.get_model_matrix(domain, context=None, na_action="ignore")
    if levels is None and outcome.shape[1] != 1:
        raise BadInput(f"the regression '{formula}' must have one outcome, which is a number.")
    if not predictors.shape[1]:
        raise BadInput(f"the regression '{formula}' has nothing on its right-hand side.")

    def evaluated(table: pd.DataFrame, which: str) -> tuple[Floats, Floats]:
        frame = _frame(table, schema, columns)
        design = _matrix(formula, predictors.model_spec, frame)
        if levels is None:
            values = _matrix(formula, outcome.model_spec, frame)[:, 0]
        else:
            values = np.asarray(frame[str(left)] == levels[1], dtype=np.float64)
        finite = np.isfinite(design).all(axis=1) & np.isfinite(values)
        if not finite.any():
            raise BadInput(
                f"no record of the {which} table has every value of the regression '{formula}'."
            )
        return design[finite], values[finite]

    kind = "linear" if levels is None else "logistic"
    return tuple(map(str, predictors.columns)), kind, evaluated


@contextmanager
def _undefined_allowed() -> Iterator[None]:
    """Let a logarithm of 0 and its like be NaN: records without a finite value are not used."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def _known(formula: str, side: Any) -> set[str]:
    try:
        return variables(formula, side, STATELESS)
    except BadInput:
        # Known as a function, but not as one whose coefficients can be compared.
        variables(formula, side, STATELESS | STATEFUL)
        raise BadInput(
            f"the regression '{formula}' has a function that learns from the table that it is "
            f"applied to ({', '.join(sorted(STATEFUL))}), so its coefficients would mean "
            f"something else in each table."
        ) from None


def _frame(table: pd.DataFrame, schema: Schema, columns: tuple[str, ...]) -> pd.DataFrame:
    """Return the complete records as formulaic takes them: numbers, and declared levels."""
    import pandas as pd

    complete = table[list(columns)].dropna().reset_index(drop=True)
    frame = pd.DataFrame(index=complete.index)
    for name in columns:
        levels = schema.column(name).levels
        frame[name] = (
            complete[name].to_numpy(dtype=np.float64)
            if levels is None
            else pd.Categorical(complete[name], list(levels))
        )
    return frame


def _matrix(formula: str, spec: Any, frame: pd.DataFrame) -> Floats:
    try:
        with _undefined_allowed():
            matrix = spec.get_model_matrix(frame, context=None, na_action="ignore")
    except (ArithmeticError, LookupError, TypeError, ValueError):
        # The library's own words could hold a value of the table.
        raise BadInput(f"the regression '{formula}' cannot be evaluated.") from None
    return np.asarray(matrix, dtype=np.float64)


def _estimates(kind: str, design: Floats, outcome: Floats) -> list[Estimate | None]:
    from scipy.stats import t

    fit = (least_squares if kind == "linear" else logistic)(design, outcome)
    freedom = len(outcome) - fit.rank if kind == "linear" else np.inf
    if freedom <= 0:
        return [None] * len(fit.coefficients)
    reach = float(t.ppf((1 + CONFIDENCE) / 2, freedom)) * fit.errors
    return [
        Estimate(value=float(value), lower=float(value - by), upper=float(value + by))
        if estimable
        else None
        for value, by, estimable in zip(fit.coefficients, reach, fit.estimable, strict=True)
    ]
