"""All that was measured, and what a θ predicts of it.

    log p(θ | T̃) = log ξ(θ) + log Normal( T̃;  N μ(θ),  N Σ(θ) + noise ),      all rounds stacked.

θ₀ of a later round is a function of what was published before it, so the stacked density at the
realised θ₀ is right; the covariances between rounds belong in it, and are those of the simulated
records. Where the number of records is protected, log N is one more coordinate, with a normal prior
around the declared size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from understudy._jax import jax
from understudy.inference.allowance import Allowance
from understudy.inference.contribution import Contribution
from understudy.inference.measurement import Measurement
from understudy.inference.moments import Population
from understudy.models.base import Model
from understudy.samplers.proposals import log_priors
from understudy.support.randomness import Source

Floats = NDArray[np.float64]

SIZE_SPREAD = 1.0
"""Standard deviation of log N around the declared size: it may be off by a factor of three."""
_FLATTEST = 1e-4
"""Smallest curvature that a prior is taken to have in any direction."""


@dataclass(frozen=True)
class Prediction:
    """What θ predicts of all measurements, and what the prior says of it."""

    point: Floats
    """Unconstrained coordinates, and log N where it is not known."""
    mean: Floats
    covariance: Floats
    """Of the sums, without the noise; what simulation leaves open is in it."""
    doubt: Floats
    """What simulation leaves open: the part of the covariance that more records would take away."""
    slope: Floats
    """∂mean/∂point, shape (width, coordinates)."""
    log_prior: float
    gradient: Floats
    precision: Floats
    """Of the prior around the point."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """Measurements of one population."""

    population: Population
    measurements: tuple[Measurement, ...]

    @cached_property
    def contributions(self) -> Sequence[Contribution]:
        """What a record contributes to each round."""
        return tuple(each.contribution for each in self.measurements)

    @property
    def told(self) -> float:
        """ε times the number of records: how many there are, in units of the noise."""
        rates = (Allowance(each.epsilon, each.rho).rate for each in self.measurements)
        return self.population.size / self.population.most * sum(rates)

    @cached_property
    def values(self) -> Floats:
        """T̃ of all rounds."""
        return np.concatenate([each.values for each in self.measurements])

    @cached_property
    def laplace(self) -> Floats:
        """The scale of Laplace noise that varies as much in each entry."""
        return np.concatenate([each.laplace for each in self.measurements])

    @cached_property
    def normal(self) -> NDArray[np.bool_]:
        """Whether the noise in each entry is normal, rather than Laplace."""
        return np.repeat(
            [each.normal for each in self.measurements],
            [each.contribution.width for each in self.measurements],
        )

    @cached_property
    def variance(self) -> Floats:
        """The variance of the noise in each entry."""
        return 2 * self.laplace**2

    def rough(self, mean: Floats) -> tuple[Floats, float]:
        """Return weights of the misfit of a predicted mean, and its height, round by round."""
        weights, heights, start = [], 0.0, 0
        for each in self.measurements:
            stop = start + each.contribution.width
            weight, height = each.contribution.rough(
                each.values, mean[start:stop], 2 * each.laplace**2, self.population.size
            )
            weights.append(weight)
            heights, start = heights + height, stop
        return np.concatenate(weights), heights

    def with_size(self, z: Floats, size: float | None = None) -> Floats:
        """Return a point from unconstrained coordinates."""
        if self.population.known:
            return z
        return np.append(z, math.log(self.population.size if size is None else size))

    def size(self, point: Floats) -> float:
        """Return N at a point."""
        return float(self.population.size if self.population.known else math.exp(point[-1]))

    def position(self, point: Floats) -> Floats:
        """Return the unconstrained coordinates of a point."""
        return point[: self.population.model.dimension]

    def log_prior(self, points: Floats) -> Floats:
        """Return the log prior of each row."""
        model = self.population.model
        known = log_priors(model, points[:, : model.dimension])
        if self.population.known:
            return known
        return known - 0.5 * ((points[:, -1] - math.log(self.population.size)) / SIZE_SPREAD) ** 2

    def predict(self, point: Floats, seed: int, records: int) -> Prediction:
        """Return what a point predicts, from about so many records, simulated with this seed."""
        z, size = self.position(point), self.size(point)
        each = self.population.moments(self.contributions, z, Source(seed), records)
        slope = size * each.slope
        if not self.population.known:
            slope = np.column_stack([slope, size * each.mean])
        log_prior, gradient, precision = self.prior(point)
        doubt = size**2 * each.doubt
        return Prediction(
            point=point,
            mean=size * each.mean,
            covariance=self.population.most * size * each.covariance + doubt,
            doubt=doubt,
            slope=slope,
            log_prior=log_prior,
            gradient=gradient,
            precision=precision,
        )

    def prior(self, point: Floats) -> tuple[float, Floats, Floats]:
        """Return the log prior, its gradient, and a precision that is positive definite."""
        height, gradient, hessian = map(
            np.asarray, _derivatives(self.population.model, self.position(point))
        )
        curvature, axes = np.linalg.eigh(-(hessian + hessian.T) / 2)
        precision = (axes * np.maximum(curvature, _FLATTEST)) @ axes.T
        value = float(height) if np.isfinite(height) else -math.inf
        if self.population.known:
            return value, gradient, precision
        off = (point[-1] - math.log(self.population.size)) / SIZE_SPREAD
        return (
            value - 0.5 * off**2,
            np.append(gradient, -off / SIZE_SPREAD),
            block_diag(precision, np.array([[SIZE_SPREAD**-2]])),
        )


@partial(jax.jit, static_argnames="model")
def _derivatives(model: Model, z: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    log_prior = model.log_prior_unconstrained

    def slope(z: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
        value, gradient = jax.value_and_grad(log_prior)(z)
        return gradient, (value, gradient)

    hessian, (value, gradient) = jax.jacfwd(slope, has_aux=True)(z)
    return value, gradient, hessian
