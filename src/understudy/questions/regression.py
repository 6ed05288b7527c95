"""The coefficients of a formula, such as `salary ~ gender + age`.

An outcome of numbers is fitted by least squares, one with two levels by logistic regression for the
second of them, and a column that is declared as a count by Poisson regression. Predictors may be
any columns. Only records that have every value of the formula, and a finite one (no logarithm of
0), are used.

formulaic learns levels and the names of coefficients from public points of the declared domain, so
a coefficient means the same in every table, and is NaN where a table cannot tell it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from understudy.domain.column import Column, Type
from understudy.domain.formulas import (
    STATEFUL,
    STATELESS,
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
from understudy.errors import BadInput, nearest
from understudy.questions.fits import Floats, RegressionFit, least_squares, logistic, poisson
from understudy.questions.question import Question, among, complete, having_all

_POINTS = 1001
"""Rows of the public frame from which formulaic learns levels and the names of coefficients."""
_FITS: dict[str, Callable[[Floats, Floats], RegressionFit]] = {
    "linear": least_squares,
    "logistic": logistic,
    "poisson": poisson,
}


@dataclass(frozen=True)
class RegressionQuestion(Question):
    """A regression, whose answers are its coefficients."""

    kind: str
    """`linear`, `logistic` or `poisson`."""
    names: tuple[str, ...]
    """Of the coefficients."""
    _declared: tuple[Column, ...]
    _outcome: str | None
    """The column that is the outcome as it is; None where it is computed."""
    _left: Any
    _right: Any
    _plain: PlainTerms | None
    regression: ClassVar[bool] = True

    def answer(self, columns: Columns) -> dict[str, float]:
        """Return the coefficients."""
        return {name: value for name, (value, _) in self.analyse(columns).items()}

    def analyse(self, columns: Columns) -> dict[str, tuple[float, float]]:
        """Return the coefficients with the squares of their standard errors."""
        design, outcome = self.design(columns)
        if not len(outcome):
            return dict.fromkeys(self.names, (np.nan, np.nan))
        fit = self.fit(design, outcome)
        values = np.where(fit.estimable, fit.coefficients, np.nan)
        variances = np.where(fit.estimable, fit.errors**2, np.nan)
        pairs = zip(values.tolist(), variances.tolist(), strict=True)
        return dict(zip(self.names, pairs, strict=True))

    def influence(self, columns: Columns) -> dict[str, Floats]:
        """Return n(XᵀWX)⁻xe of each record, e what the fit leaves of its outcome."""
        whole = having_all(columns, self.columns)
        design, outcome, finite = self._used(columns)
        whole[whole] = finite
        fit = self.fit(design, outcome)
        variances = {"logistic": fit.fitted * (1 - fit.fitted), "poisson": fit.fitted}
        weighted = design * variances.get(self.kind, np.ones(len(design)))[:, None]
        inverse = np.linalg.pinv(design.T @ weighted / len(design))
        own = (design * (outcome - fit.fitted)[:, None]) @ inverse
        own[:, ~fit.estimable] = np.nan
        return {name: among(len(whole), whole, own[:, k]) for k, name in enumerate(self.names)}

    def design(self, columns: Columns) -> tuple[Floats, Floats]:
        """Return the design matrix and the outcome of the records that can be used."""
        return self._used(columns)[:2]

    def _used(self, columns: Columns) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Return design and outcome, and which of the complete records these are of."""
        rows = complete(columns, self.columns)
        count = len(rows[self.columns[0]])
        if self._plain is None:
            design = self._evaluated(self._right, rows, count)
        else:
            design = self._plain.matrix(rows, count)
        if self._outcome is None:
            outcome = self._evaluated(self._left, rows, count)[:, 0]
        else:
            outcome = np.asarray(rows[self._outcome], dtype=np.float64)
        finite = np.isfinite(design).all(axis=1) & np.isfinite(outcome)
        if finite.all():
            return design, outcome, finite
        return design[finite], outcome[finite], finite

    def fit(self, design: Floats, outcome: Floats) -> RegressionFit:
        """Fit the regression."""
        return _FITS[self.kind](design, outcome)

    def _evaluated(self, spec: Any, rows: Columns, count: int) -> Floats:
        frame = formula_frame(rows, self._declared, count)
        try:
            with _undefined_allowed():
                matrix = spec.get_model_matrix(frame, context=None, na_action="ignore")
        except (ArithmeticError, LookupError, TypeError, ValueError):
            # The library's own words could hold a value of the table.
            raise BadInput(f"the regression '{self.text}' cannot be evaluated.") from None
        return np.asarray(matrix, dtype=np.float64)


def read_regression(formula: str, schema: Schema) -> RegressionQuestion:
    """Read a formula against a schema, and refuse what it cannot mean; nothing is run as Python."""
    left, right = sides(formula)
    if left is None or right is None:
        raise BadInput(f"the regression '{formula}' must have the form 'outcome ~ predictors'.")
    named = _known(formula, left) | _known(formula, right)
    usable = [column.name for column in schema.having(Role.CONFIDENTIAL, Role.PUBLIC)]
    for name in sorted(named - set(usable)):
        raise BadInput(
            f"the regression '{formula}' names '{name}', which is not a confidential or public "
            f"column of the tables{nearest(name, usable)}."
        )
    if not named:
        raise BadInput(f"the regression '{formula}' names no column.")
    for name in sorted(_known(formula, left)):
        if schema.column(name).type is Type.DATE:
            raise BadInput(
                f"the outcome of the regression '{formula}' names '{name}', which holds dates: "
                f"state one with numbers or two levels."
            )
    columns = tuple(name for name in usable if name in named)
    declared = tuple(schema.column(name) for name in columns)
    for side in (left, right):
        check_width(formula, side, {each.name: extent(each, _POINTS) for each in declared})
    outcome = next((each for each in declared if _is(left, each.name)), None)
    _check_levels(outcome)
    public = schema.public_points(_POINTS)
    domain = formula_frame(public, declared, _POINTS)
    with refusing(formula), _undefined_allowed():
        predictors = right.get_model_matrix(domain, context=None, na_action="ignore")
        values = left.get_model_matrix(domain, context=None, na_action="ignore")
    if outcome is None and values.shape[1] != 1:
        raise BadInput(f"the regression '{formula}' must have one outcome, which is a number.")
    if not predictors.shape[1]:
        raise BadInput(f"the regression '{formula}' has nothing on its right-hand side.")
    names = tuple(map(str, predictors.columns))
    return RegressionQuestion(
        text=formula,
        columns=columns,
        kind=_kind(outcome),
        names=names,
        _declared=declared,
        _outcome=None if outcome is None else outcome.name,
        _left=values.model_spec.update(output="numpy"),
        _right=predictors.model_spec.update(output="numpy"),
        _plain=PlainTerms.of(names, declared, public, np.asarray(predictors, dtype=np.float64)),
    )


def _is(side: Any, name: str) -> bool:
    """Whether one side of a parsed formula is a column as it is."""
    factors = [factor for term in side for factor in term.factors]
    return len(factors) == 1 and factors[0].expr == name


def _check_levels(outcome: Column | None) -> None:
    if outcome is not None and outcome.levels is not None and len(outcome.levels) != 2:
        raise BadInput(
            f"the outcome '{outcome.name}' of the regression has {len(outcome.levels)} levels; it "
            f"must be a number or have two."
        )


def _kind(outcome: Column | None) -> str:
    if outcome is not None and outcome.levels is not None:
        return "logistic"
    return "poisson" if outcome is not None and outcome.type is Type.COUNT else "linear"


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
