"""Our fits of a `contest.FitTarget`, by NUTS and by quadrature, timed with warm kernels.

Importing this module starts JAX: see `stan_fits.compiled` for what must come before.
"""

from __future__ import annotations

import time

import numpy as np

import understudy as us
from contest import DRAWS, FitTarget, TimedFit
from understudy._jax import jax, jnp
from understudy.samplers.nuts import nuts
from understudy.samplers.quadrature import quadrature
from understudy.score import Row
from understudy.support.randomness import Source

POINTS = 65
"""Nodes a side: cells of about a quarter of a standard deviation."""
EXACT_POINTS = 257

_COLUMN = {"role": "confidential", "type": "continuous", "bounds": [0, 1]}
MODEL = us.beta(us.Schema.from_dict({"columns": {"x": _COLUMN}}))

_natural = jax.jit(jax.vmap(MODEL.constrain))


def nuts_fit(target: FitTarget, seed: int) -> TimedFit:
    """Sample the target by four chains with as many draws as Stan's, and no more."""
    started = time.perf_counter()
    data, row = _prepared(target)
    fit = nuts(MODEL, data, row, Source(seed), largest_blocks=1)
    seconds = time.perf_counter() - started
    return TimedFit(seconds, np.stack([fit.theta["phi"], fit.theta["lambda"]], axis=-1))


def quadrature_fit(target: FitTarget, seed: int) -> TimedFit:
    """Put the target on a grid and take 1000 independent draws, those that the study looks at."""
    started = time.perf_counter()
    data, row = _prepared(target)
    grid = quadrature(MODEL, data, row, points=POINTS)
    theta = _theta(grid.draws(np.random.default_rng(seed), DRAWS))
    seconds = time.perf_counter() - started
    return TimedFit(seconds, theta[None], independent=True)


def exact_means(target: FitTarget) -> np.ndarray:
    """Return the means of φ and λ on a fine grid."""
    grid = quadrature(MODEL, *_prepared(target), points=EXACT_POINTS)
    return grid.mean(_theta(grid.nodes))


def _prepared(target: FitTarget) -> tuple[dict[str, jax.Array], Row]:
    n = len(target.x)
    row = Row(jnp.ones(n), jnp.zeros(n), jnp.asarray(target.bound))
    return MODEL.prepare({"x": target.x}), row


def _theta(z: np.ndarray) -> np.ndarray:
    theta = _natural(jnp.asarray(z))
    return np.stack([np.asarray(theta["phi"]), np.asarray(theta["lambda"])], axis=-1)
