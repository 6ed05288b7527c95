"""Where candidates come from: multivariate t distributions with public centres and widths.

Nothing here sees a table. What the prior alone says, and how much a record would tell at a given θ
(the Fisher information of records simulated from the model), can be computed as often as one likes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from understudy._jax import jax, jnp
from understudy.domain.tables import Columns
from understudy.models.base import Data, Model, Theta
from understudy.support.randomness import Source

_DEGREES = 5.0
_SIMULATED = 4096
_PRIOR_DRAWS = 8192
_PRIOR_ROUNDS = 8
_FEW_PARAMETERS = 10
_CHAIN_DRAWS = 1000
_WIDEN = 1.3
_WIDEST = 4.5
_WIDEN_PRIOR = 1.5
_BLOCK = 512


@dataclass(frozen=True)
class Proposal:
    """A multivariate t distribution of unconstrained coordinates."""

    centre: np.ndarray
    root: np.ndarray
    """Cholesky factor of the scale matrix."""

    @classmethod
    def with_covariance(cls, centre: np.ndarray, covariance: np.ndarray) -> Proposal:
        """Return the distribution with that centre and scale matrix."""
        return cls(np.asarray(centre), np.linalg.cholesky(covariance))

    def draw(self, generator: np.random.Generator, count: int) -> np.ndarray:
        """Return draws, shape (count, dimension)."""
        normal = generator.normal(size=(count, len(self.centre)))
        scale = np.sqrt(generator.chisquare(_DEGREES, count) / _DEGREES)
        return self.centre + (normal @ self.root.T) / scale[:, None]

    def log_density(self, z: np.ndarray) -> np.ndarray:
        """Return the log density of each draw, up to a constant that all proposals share."""
        whitened = np.linalg.solve(self.root, (z - self.centre).T)
        distance = np.sum(whitened**2, axis=0)
        height = -(_DEGREES + len(self.centre)) / 2 * np.log1p(distance / _DEGREES)
        return height - np.sum(np.log(np.diag(self.root)))


@cache
def prior_proposal(model: Model) -> Proposal:
    """Return a proposal that covers the prior.

    It is a public property of the model, and the same whenever it is asked for.
    """
    if model.normal_prior is not None:
        return Proposal.with_covariance(*model.normal_prior)
    if model.dimension <= _FEW_PARAMETERS:
        centre, covariance = _weighted_moments(model)
    else:
        # Among many parameters no draw of a proposal is likely enough to stand for the prior.
        z = np.asarray(_prior_chain(model, jax.random.key(0)))
        centre, covariance = z.mean(axis=0), np.atleast_2d(np.cov(z, rowvar=False))
    covariance += 1e-6 * np.eye(model.dimension)
    return Proposal.with_covariance(centre, _WIDEN_PRIOR**2 * covariance)


def prior_centre(model: Model) -> np.ndarray:
    """Return the origin, if the prior is flat there, and else the centre of its proposal."""
    origin = np.zeros(model.dimension)
    if not np.any(prior_slope(model, origin)):
        return origin
    return prior_proposal(model).centre


@partial(jax.jit, static_argnames="model")
def prior_slope(model: Model, z: jax.Array) -> jax.Array:
    """Return the gradient of the log prior on the unconstrained scale."""
    return jax.grad(model.log_prior_unconstrained)(z)


def _weighted_moments(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Return about the prior's mean and covariance, by repeated importance sampling."""
    proposal = Proposal(np.zeros(model.dimension), 2.0 * np.eye(model.dimension))
    generator = np.random.default_rng(0)
    for _ in range(_PRIOR_ROUNDS):
        z = proposal.draw(generator, _PRIOR_DRAWS)
        log_weight = log_priors(model, z) - proposal.log_density(z)
        # Half-hearted steps keep a round with few good draws from collapsing the next one.
        weight = np.sqrt(np.exp(log_weight - np.max(log_weight)))
        weight /= weight.sum()
        centre = weight @ z
        covariance = (z - centre).T @ ((z - centre) * weight[:, None])
        proposal = Proposal.with_covariance(centre, covariance + 1e-6 * np.eye(model.dimension))
    return centre, covariance


@partial(jax.jit, static_argnames="model")
def _prior_chain(model: Model, key: jax.Array) -> jax.Array:
    """Return draws from the prior on the unconstrained scale, by NUTS."""
    import blackjax

    warm_up, draws = jax.random.split(key)
    adaptation = blackjax.window_adaptation(
        blackjax.nuts,
        model.log_prior_unconstrained,
        adaptation_info_fn=lambda state, info, adaptation_state: None,
    )
    (state, parameters), _ = adaptation.run(warm_up, jnp.zeros(model.dimension), _CHAIN_DRAWS)
    kernel = blackjax.nuts(model.log_prior_unconstrained, **parameters)

    def step(state: Any, key: jax.Array) -> tuple[Any, jax.Array]:
        state, _ = kernel.step(key, state)
        return state, state.position

    return jax.lax.scan(step, state, jax.random.split(draws, _CHAIN_DRAWS))[1]


def log_priors(model: Model, z: np.ndarray) -> np.ndarray:
    """Return the log prior at each point, −∞ where it is undefined."""
    # In blocks of one shape, so that one kernel serves any number of points.
    padded = z[np.minimum(np.arange(-(-len(z) // _BLOCK) * _BLOCK), len(z) - 1)]
    blocks = padded.reshape(-1, _BLOCK, z.shape[1])
    values = np.concatenate([np.asarray(_log_priors(model, block)) for block in blocks])[: len(z)]
    return np.where(np.isfinite(values), values, -np.inf)


@partial(jax.jit, static_argnames="model")
def _log_priors(model: Model, z: jax.Array) -> jax.Array:
    return jax.vmap(model.log_prior_unconstrained)(z)


def posterior_proposal(
    model: Model, z: np.ndarray, effective_size: float, public: Columns, source: Source
) -> Proposal:
    """Return a proposal around θ as wide as a posterior of that effective size would be."""
    information = effective_size * fisher_information(model, z, public, source)
    # Directions that records say nothing about stay as wide as unconstrained coordinates can be.
    curvature = information + np.eye(len(z)) / _WIDEST**2
    return Proposal.with_covariance(z, _WIDEN**2 * np.linalg.inv(curvature))


def fisher_information(model: Model, z: np.ndarray, public: Columns, source: Source) -> np.ndarray:
    """Return the expected information of one row, from rows simulated at θ."""
    generator = source.generator()
    if public:
        available = len(next(iter(public.values())))
        chosen = generator.integers(available, size=_SIMULATED)
        public = {name: values[chosen] for name, values in public.items()}
    position = jnp.asarray(z)
    simulated = model.simulate(source.key(), _theta(model, position), public, _SIMULATED)
    rows = model.schema.standing_alone({**public, **simulated})
    slopes = np.asarray(_slopes(model, position, model.prepare(rows)))
    slopes = slopes[np.isfinite(slopes).all(axis=1)]
    return slopes.T @ slopes / max(len(slopes), 1)


@partial(jax.jit, static_argnames="model")
def _theta(model: Model, z: jax.Array) -> Theta:
    return model.constrain(z)


@partial(jax.jit, static_argnames="model")
def _slopes(model: Model, z: jax.Array, data: Data) -> jax.Array:
    return jax.jacfwd(lambda z: model.record_loglik(model.constrain(z), data))(z)
