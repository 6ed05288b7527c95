"""Would an analyst find the same? One regression, fitted to both tables.

The regression is stated as a formula. Its outcome is a number (least squares), a column with two
levels (logistic regression for the second of them) or a declared count (Poisson regression). For
each coefficient with estimate b and 95 % confidence interval [L, U] in the confidential (c) and the
synthetic table (s),

    overlap = max(0, ½ [ I/(Uc − Lc) + I/(Us − Ls) ]),    I = min(Uc, Us) − max(Lc, Ls),

the mean share of the two intervals that they have in common: 1 where they agree, 0 where they are
disjoint; and

    relative difference = (bs − bc) / |bc|.

Intervals are b ± t·SE with the quantile of Student's t for least squares and of the normal for the
others, as if the synthetic rows were records. They are not, so the overlap tells how alike an
analysis turns out, and not whether its intervals cover anything.

What a table cannot tell (a level that it does not hold) is left blank.

A. F. Karr, C. N. Kohnen, A. Oganian, J. P. Reiter and A. P. Sanil (2006), A framework for
evaluating the utility of data altered to protect confidentiality, The American Statistician 60(3),
224-232, doi:10.1198/000313006X124640.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from understudy.domain.schema import Column, Schema
from understudy.domain.tables import Columns
from understudy.errors import BadInput
from understudy.questions.fits import Floats
from understudy.questions.regression import RegressionQuestion, read_regression

if TYPE_CHECKING:
    import pandas as pd

CONFIDENCE = 0.95


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
    """`linear`, `logistic` or `poisson`."""
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
    question = read_regression(formula, schema)
    columns = [schema.column(name) for name in question.columns]
    estimates, used = [], []
    for which, table in (("confidential", confidential), ("synthetic", synthetic)):
        design, outcome = question.design(_coded(table, columns))
        if not len(outcome):
            raise BadInput(
                f"no record of the {which} table has every value of the regression '{formula}'."
            )
        estimates.append(_estimates(question, design, outcome))
        used.append(len(outcome) / len(table))
    return Regression(
        formula=formula,
        kind=question.kind,
        confidential_used=used[0],
        synthetic_used=used[1],
        coefficients=tuple(map(_coefficient, question.names, *estimates)),
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


def _coded(table: pd.DataFrame, columns: Sequence[Column]) -> Columns:
    """Return columns of a checked table as numbers and codes, missing values as such."""
    import pandas as pd

    return {
        column.name: (
            table[column.name].to_numpy(dtype=np.float64, na_value=np.nan)
            if column.levels is None
            else pd.Categorical(table[column.name], list(column.levels)).codes
        )
        for column in columns
    }


def _estimates(
    question: RegressionQuestion, design: Floats, outcome: Floats
) -> list[Estimate | None]:
    from scipy.stats import t

    fit = question.fit(design, outcome)
    freedom = len(outcome) - fit.rank if question.kind == "linear" else np.inf
    if freedom <= 0:
        return [None] * len(fit.coefficients)
    reach = float(t.ppf((1 + CONFIDENCE) / 2, freedom)) * fit.errors
    return [
        Estimate(value=float(value), lower=float(value - by), upper=float(value + by))
        if estimable
        else None
        for value, by, estimable in zip(fit.coefficients, reach, fit.estimable, strict=True)
    ]
