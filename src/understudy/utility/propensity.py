"""Can one tell the synthetic rows from the confidential records? Each table's rows, pooled.

A logistic regression predicts from the columns whether a row is synthetic. With N pooled rows, a
share c of them synthetic, and fitted probabilities (propensities) pᵢ,

    pMSE = Σ (pᵢ − c)² / N,

which is 0 where the rows cannot be told apart and c(1 − c) where they can be without error. The
model has the main effects, the squares of numeric columns and all products of two columns. Where
that is too large (more than N/10 parameters, or a design that would fill the memory) the products
are left out, and the result says so. A missing value is a level, or an indicator, of its own.

Even a second sample from the same population has pMSE above 0. Then the k − 1 coefficients other
than the constant are noise, Σ (pᵢ − c)² ≈ c(1 − c) χ² with k − 1 degrees of freedom, so that

    expected = (k − 1) c(1 − c) / N        standard deviation = √(2(k − 1)) c(1 − c) / N,

and two numbers can be read without knowing k, c or N:

    ratio = pMSE / expected        standardised = (pMSE − expected) / standard deviation.

A ratio of 1 means as close as a second sample. That is what a draw of θ from a posterior and rows
simulated from it can reach at best, as θ is as uncertain as a sample. Snoke et al. take as given a
θ fitted to the table, which leaves out that uncertainty: their expected value is (1 − c) times
ours, and their ratio, which synthpop reports, is larger by 1/(1 − c), twice ours for tables of one
size. Columns that are copied from one table to the other carry no noise and lower both ratios.

M.-J. Woo, J. P. Reiter, A. Oganian and A. F. Karr (2009), Global measures of data utility for
microdata masked for disclosure limitation, Journal of Privacy and Confidentiality 1(1), 111-124,
doi:10.29012/jpc.v1i1.568.
J. Snoke, G. M. Raab, B. Nowok, C. Dibben and A. Slavkovic (2018), General and specific utility
measures for synthetic data, Journal of the Royal Statistical Society A 181(3), 663-688,
doi:10.1111/rssa.12358.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from understudy.domain.schema import Column
from understudy.questions.fits import Floats, logistic
from understudy.utility.pairs import codes

if TYPE_CHECKING:
    from pandas import DataFrame

LARGEST_DESIGN = 5_000_000
"""Numbers in a design with products; 40 MB."""
ROWS_PER_PARAMETER = 10


@dataclass(frozen=True, kw_only=True)
class Propensity:
    """How well a propensity model tells the two tables apart."""

    pmse: float
    expected: float
    """What pMSE would be for a second sample from the population of the confidential table."""
    ratio: float | None
    """pMSE over its expected value; None where all columns are constant."""
    standardised: float | None
    parameters: int
    """Coefficients that could be estimated, with the constant: k."""
    interactions: bool
    """Whether products of two columns were in the model."""


def measure_propensity(
    confidential: DataFrame, synthetic: DataFrame, columns: Sequence[Column]
) -> Propensity:
    """Return the propensity score's mean squared error over the columns that both tables have."""
    rows = len(confidential) + len(synthetic)
    blocks = [_main_effects(confidential, synthetic, column) for column in columns]
    squares = [
        block[:, :1] ** 2 for block, column in zip(blocks, columns, strict=True) if column.numeric
    ]
    parts = [np.ones((rows, 1)), *blocks, *squares]
    pairs = list(itertools.combinations(blocks, 2))
    width = sum(part.shape[1] for part in parts) + sum(a.shape[1] * b.shape[1] for a, b in pairs)
    interactions = rows * width <= LARGEST_DESIGN and width * ROWS_PER_PARAMETER <= rows
    if interactions:
        parts += [(a[:, :, None] * b[:, None, :]).reshape(rows, -1) for a, b in pairs]
    label = np.repeat([0.0, 1.0], [len(confidential), len(synthetic)])
    fit = logistic(np.hstack(parts), label)
    k, share = fit.rank, float(label.mean())
    unit = share * (1 - share) / rows
    pmse = float(np.square(fit.fitted - share).mean())
    expected, spread = (k - 1) * unit, math.sqrt(2 * (k - 1)) * unit
    return Propensity(
        pmse=pmse,
        expected=expected,
        ratio=pmse / expected if k > 1 else None,
        standardised=(pmse - expected) / spread if k > 1 else None,
        parameters=k,
        interactions=interactions,
    )


def _main_effects(confidential: DataFrame, synthetic: DataFrame, column: Column) -> Floats:
    """Return a column of both tables as numbers: its values, or its levels but the first."""
    named = {"confidential": confidential[column.name], "synthetic": synthetic[column.name]}
    if column.levels is not None:
        levels = np.concatenate([codes(values, column, name) for name, values in named.items()])
        present = np.unique(levels)
        return (levels[:, None] == present[1:]).astype(np.float64)
    numbers = [values.to_numpy(dtype=np.float64, na_value=np.nan) for values in named.values()]
    values = np.concatenate(numbers)
    missing = np.isnan(values)
    known = values[~missing]
    # Where zero lies and how long a unit is changes no fitted probability, as the squares and the
    # products go along with it, but the digits that are lost on the way.
    centre, spread = (known.mean(), known.std()) if known.size else (0.0, 1.0)
    scaled = np.where(missing, 0.0, (values - centre) / (spread or 1.0))
    return np.column_stack([scaled, missing]) if missing.any() else scaled[:, None]
