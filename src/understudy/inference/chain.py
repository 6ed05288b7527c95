"""Draws of many parameters: a chain on the smooth target that a pool of simulated records makes.

    log p(θ, τ | T̃) = log ξ(θ) + log Normal(T̃; Nμ(θ), NΣ + τ) + log p(τ),

with μ(θ) from a fixed pool, reweighted, and Σ at a centre. θ moves by the No-U-Turn sampler in the
coordinates of the normal around the centre; the variances τ of Laplace noise are drawn anew after
each move, as in `draws.py`, unless there are so many entries that their sums are normal anyway. All
of it is public, so that a chain that goes astray costs accuracy and nothing else. How many of the
pool's records count at a draw is watched: where they are too few, the chain is not used.

Mean and slope of μ at the centre are put right by many more records than the pool has: a chain
finds out what a pool is wrong about. (With twenty varying intercepts the misfit of draws was 5
larger than the pool made believe.) Where very many records were needed for the mode, so much is
known of θ that the centre stays there, with what these records say: others would have errors of
their own, and as large.

The normal around the mode of a whole table's model is far too wide: where few records are, a
coefficient may go far before a table takes notice. The pool has records from there, too, because
some of the θ that it was simulated from went as far.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from understudy._jax import jax, jnp
from understudy.inference.evidence import SIZE_SPREAD, Evidence
from understudy.inference.mode import Mode, around
from understudy.inference.moments import MOST
from understudy.inference.pool import Pool
from understudy.models.base import Data, Model
from understudy.support.randomness import Source

Floats = NDArray[np.float64]

_POOL = 4096
_WARM_UP, _WIDE_WARM_UP = 200, 60
_WIDE = 100
"""With more entries than this, Laplace noise is taken for normal."""
_PASSES = 2
_FIRST_COUNT = 100
_STRIDE = 20
_RECORDS = 2**16
"""Simulated records for mean, slope and covariance where the first walk led."""
_DOUBLINGS = 5
_ACCEPTANCE = 0.8
_FEWEST = 0.02
"""Share of the pool that has to count at nearly all of the draws."""
_IMPOSSIBLE = -1e6


class _Target(NamedTuple):
    """All that the density depends on, apart from the model."""

    data: Data
    contributions: jax.Array
    log_density: jax.Array
    correction: jax.Array
    tilt: jax.Array
    """What the slope at the centre, from many records, adds to the pool's own."""
    values: jax.Array
    covariance: jax.Array
    spread: jax.Array
    """A root of the covariance."""
    laplace: jax.Array
    normal: jax.Array
    centre: jax.Array
    root: jax.Array
    log_size: jax.Array

    def place(self, w: jax.Array) -> jax.Array:
        """Return a point from coordinates in which the normal around the centre is standard."""
        return self.centre + self.root @ w

    def shares(self, model: Model, point: jax.Array) -> jax.Array:
        """Return the weight of each record of the pool."""
        loglik = model.record_loglik(model.constrain(point[: model.dimension]), self.data)
        ratio = jnp.where(jnp.isfinite(loglik), loglik, _IMPOSSIBLE) - self.log_density
        return jax.nn.softmax(ratio)

    def rest(self, model: Model, point: jax.Array) -> jax.Array:
        """Return T̃ − Nμ(θ)."""
        mean = self.shares(model, point) @ self.contributions + self.correction
        mean = mean + self.tilt @ (point - self.centre)[: model.dimension]
        known = len(self.centre) == model.dimension
        return self.values - jnp.exp(self.log_size if known else point[-1]) * mean

    def height(self, model: Model, weight: jax.Array, w: jax.Array) -> jax.Array:
        """Return the log density of θ, given the inverse covariance of the misfit."""
        point = self.place(w)
        rest = self.rest(model, point)
        prior = model.log_prior_unconstrained(point[: model.dimension])
        if len(self.centre) > model.dimension:
            prior = prior - 0.5 * ((point[-1] - self.log_size) / SIZE_SPREAD) ** 2
        return prior - 0.5 * rest @ weight @ rest


def chain_draws(evidence: Evidence, mode: Mode, source: Source, *, count: int) -> Floats | None:
    """Return so many draws in a row, or None where no pool reaches as far as they go.

    A first walk, from the mode, finds where θ is: in a model with varying intercepts that may be
    far away. The next one has its pool, its covariance and its coordinates from there.
    """
    model, wide = evidence.population.model, len(evidence.values) > _WIDE
    warm_up = _WIDE_WARM_UP if wide else _WARM_UP
    centre, points = mode, None
    for number in range(_PASSES):
        last = number > 0 or model.by_tables
        pool = Pool.around(evidence, centre, source, records=_POOL, draws=points)
        target = _target(evidence, centre, pool, tilted=number > 0)
        asked = count if last else _FIRST_COUNT
        points, effective = _walked(
            model, target, source.key(), asked, warm_up=warm_up, mixed=not wide
        )
        if not np.isfinite(points).all():
            return None
        if last and np.quantile(effective, 0.05) > _FEWEST * len(pool.log_density):
            return points
        if not model.by_tables and mode.records <= MOST:
            centre = around(evidence, points.mean(axis=0), source, records=_RECORDS)
    # Of whole tables even a thin pool tells more than the normal around the mode does.
    return points if model.by_tables else None


def _target(evidence: Evidence, centre: Mode, pool: Pool, *, tilted: bool) -> _Target:
    prepared, here = pool.records.prepared, centre.prediction
    data = {name: np.array(values) for name, values in prepared.own.items()}
    for name, values in prepared.moved.items():
        data[name][prepared.rows] = values
    z = evidence.position(centre.point)
    tilt = np.zeros((len(here.mean), len(z)))
    if tilted:
        tilt = here.slope[:, : len(z)] / evidence.size(centre.point) - pool.slope(z)
    spread, axes = np.linalg.eigh(here.covariance)
    return _Target(
        {name: jnp.asarray(values) for name, values in data.items()},
        *map(
            jnp.asarray,
            (
                pool.contributions,
                pool.log_density,
                pool.correction,
                tilt,
                evidence.values,
                here.covariance,
                axes * np.sqrt(np.maximum(spread, 0.0)),
                evidence.laplace,
                evidence.normal,
                centre.point,
                np.linalg.cholesky(centre.covariance),
                math.log(evidence.population.size),
            ),
        ),
    )


def _walked(
    model: Model, target: _Target, key: jax.Array, count: int, *, warm_up: int, mixed: bool
) -> tuple[Floats, Floats]:
    """Return so many of the chain's points, and how many records of the pool count at each."""
    from blackjax.adaptation.step_size import dual_averaging_adaptation

    begin = dual_averaging_adaptation(_ACCEPTANCE)[0]
    start = jnp.zeros(len(target.centre)), 2 * target.laplace**2, begin(jnp.asarray(0.3))
    # With types of their own, not ones that a kernel may promote and then be compiled again for.
    state = jax.tree.map(lambda leaf: jnp.asarray(np.asarray(leaf)), start)
    # In strides of one length: walks of any length share a kernel.
    strides = -(-(warm_up + count) // _STRIDE)
    found = []
    for number, stride in enumerate(jax.random.split(key, strides)):
        left = jnp.asarray(warm_up - number * _STRIDE)
        state, points = _walk(model, target, stride, state, left, mixed=mixed)
        found.append(points)
    points, effective = (np.concatenate(each) for each in zip(*found, strict=True))
    return points[warm_up : warm_up + count], effective[warm_up : warm_up + count]


@partial(jax.jit, static_argnames=("model", "mixed"))
def _walk(
    model: Model, target: _Target, key: jax.Array, start: Any, left: jax.Array, *, mixed: bool
) -> tuple[Any, tuple[jax.Array, jax.Array]]:
    """Return where a stride ends, and its points; step sizes adapt while warm-up is left."""
    import blackjax
    from blackjax.adaptation.step_size import dual_averaging_adaptation

    adapt = dual_averaging_adaptation(_ACCEPTANCE)[1]
    move, metric = blackjax.nuts.build_kernel(), jnp.ones(len(target.centre))

    def inverse(variance: jax.Array) -> jax.Array:
        return jnp.linalg.inv(target.covariance + jnp.diag(variance))

    fixed = inverse(2 * target.laplace**2)

    def step(carry: Any, given: tuple[jax.Array, jax.Array]) -> tuple[Any, Any]:
        w, variance, adapting = carry
        warming, keys = given[0] < left, jax.random.split(given[1])
        size = jnp.where(
            warming, jnp.exp(adapting.log_step_size), jnp.exp(adapting.log_step_size_avg)
        )
        weight = inverse(variance) if mixed else fixed
        height = partial(target.height, model, weight)
        state, info = move(keys[0], blackjax.nuts.init(w, height), height, size, metric, _DOUBLINGS)
        adapted = adapt(adapting, info.acceptance_rate)
        adapting = jax.tree.map(lambda new, old: jnp.where(warming, new, old), adapted, adapting)
        point = target.place(state.position)
        if mixed:
            rest = target.rest(model, point)
            variance = _variances(keys[1], target, variance, weight, rest)
        effective = 1 / jnp.sum(target.shares(model, point) ** 2)
        return (state.position, variance, adapting), (point, effective)

    return jax.lax.scan(step, start, (jnp.arange(_STRIDE), jax.random.split(key, _STRIDE)))


def _variances(
    key: jax.Array, target: _Target, variance: jax.Array, weight: jax.Array, rest: jax.Array
) -> jax.Array:
    """Return τ given θ: first what the noise was, then 1/τ from an inverse Gaussian."""
    keys, scale = jax.random.split(key, 4), target.laplace
    sums = target.spread @ jax.random.normal(keys[0], rest.shape)
    own = jnp.sqrt(variance) * jax.random.normal(keys[1], rest.shape)
    noise = jnp.abs(own - variance * (weight @ (sums + own - rest)))
    # Michael, Schucany and Haas (1976), without the difference of numbers that are nearly equal.
    mean = 1 / (scale * jnp.maximum(noise, 1e-9 * scale))
    t = mean * jax.random.normal(keys[2], rest.shape) ** 2 * scale**2 / 2
    x = mean / (1 + t + jnp.sqrt(t * (2 + t)))
    first = jax.random.uniform(keys[3], rest.shape) <= mean / (mean + x)
    mixed = 1 / jnp.where(first, x, mean**2 / x)
    return jnp.where(target.normal, 2 * scale**2, mixed)
