"""Least squares and logistic regression, with what a table cannot tell marked as such.

A synthetic table need not hold every level, and columns of a design may repeat each other in it. A
coefficient is then estimable only if it is the same in all solutions that fit equally well: if no
direction along which the fit does not change moves it. Everything is computed in an orthonormal
basis of the columns, found by singular values, in which no such direction is left.

For the linear model, b = (XᵀX)⁻ Xᵀy with covariance s²(XᵀX)⁻, s² = |y − Xb|²/(n − rank X). For the
logistic one, b maximises Σ y·xb − log(1 + exp xb), by Fisher scoring, with covariance (XᵀWX)⁻,
W = p(1 − p). Where the predictors separate the outcomes the maximum lies at infinity; the
probabilities are then 0 and 1, and the coefficients that ran away count as not estimable.

We tried statsmodels instead: it cannot say what is estimable, and its GLM, which never halves a
step, agreed to 1e-8 on 1,800 ordinary and degenerate tables but ran away on 16 of 2,000 with
heavy-tailed columns, such as pay.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_RANK = 1e-9
"""A singular value this small beside the largest, with columns of equal length, is none."""
_MOVED = 1e-3
"""A direction moves a coefficient if this much of the direction's largest part lies along it."""
_FLAT = 1e-7
"""Where p(1 − p) is as small as this on average along a direction, the outcomes are separated."""
_ITERATIONS = 50


@dataclass(frozen=True)
class RegressionFit:
    """A fitted regression; coefficients that are not estimable hold an arbitrary number."""

    coefficients: Floats
    errors: Floats
    """Standard errors."""
    estimable: NDArray[np.bool_]
    fitted: Floats
    rank: int


def _basis(design: Floats) -> tuple[Floats, Floats, Floats, NDArray[np.bool_]]:
    """Return an orthonormal basis of a design's columns, scaled to equal length, and with it:

    what leads from coordinates in the basis to the coefficients of the scaled columns, the lengths
    by which they were scaled, and which coefficients are estimable.
    """
    lengths = np.linalg.norm(design, axis=0)
    lengths[lengths == 0] = 1
    vectors, values, rotation = np.linalg.svd(design / lengths, full_matrices=False)
    kept = values > _RANK * values.max(initial=0.0)
    axes = rotation[kept]
    # What is left of a coefficient's own axis is the part along which the fit does not change.
    unchanging = 1 - np.square(axes).sum(axis=0)
    return vectors[:, kept], axes.T / values[kept], lengths, unchanging < _MOVED**2


def least_squares(design: Floats, outcome: Floats) -> RegressionFit:
    """Fit the linear model; standard errors are NaN where no record is left to estimate them."""
    vectors, to_scaled, lengths, estimable = _basis(design)
    coordinates = vectors.T @ outcome
    fitted = vectors @ coordinates
    rank = vectors.shape[1]
    freedom = len(outcome) - rank
    variance = float(np.square(outcome - fitted).sum()) / freedom if freedom > 0 else np.nan
    return RegressionFit(
        coefficients=to_scaled @ coordinates / lengths,
        errors=np.sqrt(variance * np.square(to_scaled).sum(axis=1)) / lengths,
        estimable=estimable,
        fitted=fitted,
        rank=rank,
    )


def logistic(design: Floats, outcome: Floats) -> RegressionFit:
    """Fit the logistic model to outcomes 0 and 1."""
    from scipy.special import expit

    vectors, to_scaled, lengths, estimable = _basis(design)
    coordinates = _scored(vectors, outcome)
    fitted = expit(vectors @ coordinates)
    values, rotation = np.linalg.eigh(_information(vectors, fitted))
    flat = values <= _FLAT
    away = np.abs(to_scaled @ rotation[:, flat])
    ran_away = (away > _MOVED * away.max(axis=0, initial=0.0)).any(axis=1)
    spread = to_scaled @ (rotation[:, ~flat] / np.sqrt(values[~flat]))
    return RegressionFit(
        coefficients=to_scaled @ coordinates / lengths,
        errors=np.sqrt(np.square(spread).sum(axis=1)) / lengths,
        estimable=estimable & ~ran_away,
        fitted=fitted,
        rank=vectors.shape[1],
    )


def _scored(vectors: Floats, outcome: Floats) -> Floats:
    """Return the coordinates of the maximum."""
    from scipy.special import expit

    coordinates = np.zeros(vectors.shape[1])
    deviance = _deviance(vectors @ coordinates, outcome)
    for _ in range(_ITERATIONS):
        probability = expit(vectors @ coordinates)
        information = _information(vectors, probability)
        # A trace of a ridge keeps the step finite where the information vanishes. It changes the
        # way to the maximum, not the maximum.
        ridge = 1e-10 * np.trace(information) / max(len(information), 1) + 1e-300
        score = vectors.T @ (outcome - probability)
        step = np.linalg.solve(information + ridge * np.eye(len(information)), score)
        before, most = deviance, deviance * (1 + 1e-12) + 1e-12
        while (deviance := _deviance(vectors @ (coordinates + step), outcome)) > most:
            step = step / 2
        coordinates = coordinates + step
        if abs(before - deviance) < 1e-10 * (deviance + 0.1):
            break
    return coordinates


def _information(vectors: Floats, probability: Floats) -> Floats:
    weights = probability * (1 - probability)
    information: Floats = vectors.T @ (vectors * weights[:, None])
    return information


def _deviance(linear: Floats, outcome: Floats) -> float:
    return float(2 * (np.logaddexp(0, linear) - outcome * linear).sum())
