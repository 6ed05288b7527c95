"""Densities cut to the declared domain: their normalising constants, and draws from them.

A constant is the integral of exp(g) over an interval, where g is concave and, in a variable that
is chosen for it, falls off at least as fast as a parabola. Gauss-Legendre nodes are laid over the
part of the interval in which exp(g) is within exp(−32) of its largest value there; 32 of them give
ten digits (tested), in log space throughout, so that a centre far outside the bounds does no harm.

Draws are NumPy's of the distribution before the cut, again and again where they lie outside of it.
What never falls inside, and quantiles, invert the distribution function by bisection; it is the
same function that normalises the density, so that what is simulated is what is scored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict

import numpy as np

from understudy._jax import jax, jnp
from understudy.domain.schema import Column
from understudy.models.balance import Floats
from understudy.models.base import Theta, host_generator
from understudy.models.families.base import unscaled

Simulate = Callable[[jax.Array, jax.Array, Theta], np.ndarray]
Quantile = Callable[[Floats, jax.Array, Theta], np.ndarray]
LogMass = Callable[[jax.Array], jax.Array]
Free = Callable[[np.random.Generator, np.ndarray, dict[str, Any]], np.ndarray]
"""Draws of u, or of a count, before the cut: from η and θ as NumPy has them."""

_NATS = 32.0
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(32)
_HALVINGS = 60
_POWER = 8
_SMALLEST = 1e-300
_TRIES = 12
_FEWEST = 256


def log_integral(
    g: Callable[[jax.Array], jax.Array],
    *,
    mode: jax.Array,
    sd: jax.Array,
    low: jax.Array,
    high: jax.Array,
) -> jax.Array:
    """Return log ∫ exp(g) from low to high, for each element.

    `mode` and `sd` are those of the parabola. `g` takes nodes along a last axis of their own.
    """
    nearest = jnp.clip(mode, low, high)[..., None]
    _, slope = jax.jvp(g, (nearest,), (jnp.ones_like(nearest),))
    nearest, slope = nearest[..., 0], jnp.abs(slope[..., 0])
    # Two bounds on how far exp(g) matters: it falls as a parabola does, and g lies below tangents.
    reach = sd * jnp.sqrt(((nearest - mode) / sd) ** 2 + 2 * _NATS)
    along = _NATS / jnp.maximum(slope, _SMALLEST)
    first = jax.lax.stop_gradient(jnp.maximum(mode - reach, nearest - along))
    last = jax.lax.stop_gradient(jnp.minimum(mode + reach, nearest + along))
    low, high = jnp.broadcast_arrays(jnp.maximum(low, first), jnp.minimum(high, last))
    width = jnp.maximum(high - low, _SMALLEST)
    heights = g(low[..., None] + width[..., None] * (_NODES + 1) / 2)
    top = jax.lax.stop_gradient(jnp.max(heights, axis=-1, keepdims=True))
    total = jnp.sum(_WEIGHTS / 2 * jnp.exp(heights - top), axis=-1)
    return top[..., 0] + jnp.log(total) + jnp.log(width)


class Inverse(TypedDict):
    """What inverting the distribution function gives a family."""

    simulate: Simulate
    quantile: Quantile


def inverting(
    column: Column, log_mass_at: Callable[[jax.Array, Theta], LogMass], free: Free
) -> Inverse:
    """Return quantiles of a family, and draws, from such before the cut.


    Where these lie outside, the log mass of [0, u] or of 0, ..., k at η and θ is inverted. The unit
    interval is halved on the scale of u^(1/8), as a density may have much of its mass next to zero.
    """
    largest = int(column.width)
    end = float(largest) if column.whole else 1.0

    @jax.jit
    def inverse(share: jax.Array, eta: jax.Array, theta: Theta) -> jax.Array:
        log_mass = log_mass_at(eta, theta)
        if column.whole:
            ends = jnp.full(eta.shape, -1.0), jnp.full(eta.shape, float(largest))
            return _inverted(share, log_mass, ends, jnp.ceil, largest.bit_length() + 1)
        ends = jnp.zeros(eta.shape), jnp.ones(eta.shape)
        root = _inverted(share, lambda v: log_mass(v**_POWER), ends, lambda v: v, _HALVINGS)
        return root**_POWER

    def quantile(share: Floats | jax.Array, eta: jax.Array, theta: Theta) -> np.ndarray:
        return placed(np.asarray(inverse(jnp.asarray(share), eta, theta)))

    def simulate(key: jax.Array, eta: jax.Array, theta: Theta) -> np.ndarray:
        generator = host_generator(key)
        place, known = np.asarray(eta), {name: np.asarray(v) for name, v in theta.items()}
        found, left = np.empty(place.shape), np.arange(len(place))
        for _ in range(_TRIES):
            if len(left):
                tried = free(generator, place[left], known)
                fits = (tried >= 0) & (tried <= end)
                found[left[fits]], left = tried[fits], left[~fits]
        if len(left):
            # Padded, so that few kernels are compiled however many are left.
            size = max(2 ** (len(left) - 1).bit_length(), _FEWEST)
            padded = place[left[np.minimum(np.arange(size), len(left) - 1)]]
            share = jax.random.uniform(key, padded.shape)
            found[left] = np.asarray(inverse(share, jnp.asarray(padded), theta))[: len(left)]
        return placed(found)

    def placed(found: np.ndarray) -> np.ndarray:
        return column.lower + found if column.whole else unscaled(found, column)

    return {"simulate": simulate, "quantile": quantile}


def _inverted(
    share: jax.Array,
    log_mass: LogMass,
    ends: tuple[jax.Array, jax.Array],
    rounded: Callable[[jax.Array], jax.Array],
    halvings: int,
) -> jax.Array:
    """Return where a share of the mass is reached; `log_mass` is the log mass up to a place."""
    target = jnp.log(share) + log_mass(ends[1])

    def halve(_: int, ends: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        # Where the ends are neighbours already, the middle may be the upper one: nothing changes.
        middle = rounded((ends[0] + ends[1]) / 2)
        below = (log_mass(middle) < target) & (middle < ends[1])
        return jnp.where(below, middle, ends[0]), jnp.where(below, ends[1], middle)

    return jax.lax.fori_loop(0, halvings, halve, ends)[1]
