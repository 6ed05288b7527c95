"""The No-U-Turn sampler of BlackJAX: four chains, which learn one frame together.

One kernel is compiled for a model and a number of records; weights, offsets and the bound are
arguments, so the Unweighted fit and the refits that follow share it. Chains run in threads: a chain
that takes long trajectories does not hold up the others, as it would in lock step.

Chains start at points that do not depend on the table. Warm-up goes in rounds: after each, the
draws and slopes of all chains say in which coordinates to move next (`frames.py`), and each chain
finds a step size of its own.

Draws come in blocks. When the gate of `diagnostics.py` is not passed, the chains go on from where
they are, the older half of the blocks is dropped as further warm-up, and the gate looks again, up
to a limit.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import blackjax
import numpy as np
from blackjax.adaptation.step_size import dual_averaging_adaptation

from understudy._jax import jax, jnp
from understudy.models.base import Data, Model
from understudy.samplers.diagnostics import SMALLEST_ESS, Convergence, judge
from understudy.samplers.frames import Frame, learned, plain
from understudy.samplers.proposals import Proposal
from understudy.score import Row, log_target
from understudy.support.confidential import Confidential
from understudy.support.randomness import Source

CHAINS = 4
ROUNDS = 6
ROUND = 100
BLOCK = 1000
LARGEST_BLOCKS = 8
_ACCEPTANCE = 0.8
_SPARE = 8
"""Starting points drawn for each chain, of which the first that can be used is taken."""
_SHORT = 6
"""Doublings of a trajectory in warm-up: in a frame that does not fit, long ones lead nowhere."""

Progress = Callable[[float], None]


@dataclass(frozen=True, repr=False)
class Fit(Confidential):
    """Draws from a target, with what is known about their convergence."""

    z: np.ndarray
    """Unconstrained draws, shape (chains, draws, dimension)."""
    theta: dict[str, np.ndarray]
    """The same on the natural scale, by name, shape (chains, draws, ...)."""
    convergence: Convergence

    def thinned(self, count: int) -> jax.Array:
        """Return `count` draws spread evenly over all chains, shape (count, dimension)."""
        pooled = self.z.reshape(-1, self.z.shape[-1])
        return jnp.asarray(pooled[np.linspace(0, len(pooled) - 1, count).astype(int)])


class _Target(NamedTuple):
    """What the chains of a model sample, and the coordinates in which they move."""

    data: Data
    row: Row
    frame: Frame

    def log_density(self, model: Model, w: jax.Array) -> jax.Array:
        return log_target(model, self.frame.place(w), self.data, self.row)


class _Chain(NamedTuple):
    z: jax.Array
    step_size: jax.Array


class _Block(NamedTuple):
    z: jax.Array
    log_target: jax.Array
    divergent: jax.Array


def nuts(
    model: Model,
    data: Data,
    row: Row,
    source: Source,
    *,
    smallest_ess: float = SMALLEST_ESS,
    largest_blocks: int = LARGEST_BLOCKS,
    progress: Progress = lambda fraction: None,
    guess: Proposal | None = None,
) -> Fit:
    """Sample the target of `score.py` until the gate is passed or the limit is reached.

    `guess` is a public guess at the target, around which the chains may start. The caller decides
    what to do with a fit that has not converged: see `Fit.convergence`.
    """
    frame = plain(model.dimension)
    if guess is not None:
        frame = Frame(jnp.asarray(guess.centre), jnp.asarray(guess.root))
    target = _Target(data, row, frame)
    chains = [_Chain(z, jnp.ones(())) for z in _starts(model, target, source)]
    for number in range(ROUNDS):
        walks = _in_threads(
            [partial(_warm_up, model, target, source.key(), chain) for chain in chains],
            lambda done, number=number: progress(0.4 * (number + done) / ROUNDS),  # type: ignore[misc]
        )
        chains, w, slopes = (list(parts) for parts in zip(*walks, strict=True))
        if number < ROUNDS - 1:
            frame = learned(target.frame, np.concatenate(w), np.concatenate(slopes))
            target = target._replace(frame=frame)
    blocks: list[list[_Block]] = []
    while True:
        begun = len(blocks)
        results = _in_threads(
            [partial(_sample, model, target, source.key(), chain) for chain in chains],
            lambda done, begun=begun: progress(  # type: ignore[misc]
                0.4 + 0.6 * done if begun == 0 else (begun + done) / largest_blocks
            ),
        )
        chains = [chain for chain, _ in results]
        blocks.append([block for _, block in results])
        fit = _judged(model, blocks[len(blocks) // 2 :])
        if not fit.convergence.failing(smallest_ess) or len(blocks) == largest_blocks:
            return fit


def _starts(model: Model, target: _Target, source: Source) -> jax.Array:
    """Return a starting point for each chain, without regard to how likely the target makes it.

    Chains that started where the target is highest would all start in the same well, one record
    could decide in which, and no diagnostic would show it. Only a point at which the target is not
    finite, where no chain can start, is replaced by the next.
    """
    points = model.starting_points(source.key(), _SPARE * CHAINS)
    finite = np.isfinite(_heights(model, target, points))
    # Finite ones come first, in the order in which they were drawn.
    chosen = np.argsort(~finite, kind="stable")[:CHAINS]
    return target.frame.place(points[chosen])


@partial(jax.jit, static_argnames="model")
def _heights(model: Model, target: _Target, points: jax.Array) -> jax.Array:
    return jax.lax.map(partial(target.log_density, model), points)


@partial(jax.jit, static_argnames="model")
def _warm_up(
    model: Model, target: _Target, key: jax.Array, chain: _Chain
) -> tuple[_Chain, jax.Array, jax.Array]:
    """Return the chain at the end of a round, and its draws and slopes in the round's frame."""
    log_density, metric = partial(target.log_density, model), jnp.ones(model.dimension)
    begin, adapt, end = dual_averaging_adaptation(_ACCEPTANCE)

    def step(carry: Any, step_key: jax.Array) -> tuple[Any, tuple[jax.Array, jax.Array]]:
        state, adapting = carry
        size = jnp.exp(adapting.log_step_size)
        kernel = blackjax.nuts(log_density, size, metric, max_num_doublings=_SHORT)
        state, info = kernel.step(step_key, state)
        adapting = adapt(adapting, info.acceptance_rate)
        return (state, adapting), (state.position, state.logdensity_grad)

    start = blackjax.nuts.init(target.frame.within(chain.z), log_density)
    (state, adapting), (w, slopes) = jax.lax.scan(
        step, (start, begin(chain.step_size)), jax.random.split(key, ROUND)
    )
    # The earlier half may still have been on its way to where the target is.
    later = slice(ROUND // 2, None)
    moved = _Chain(target.frame.place(state.position), end(adapting))
    return moved, w[later], slopes[later]


@partial(jax.jit, static_argnames="model")
def _sample(model: Model, target: _Target, key: jax.Array, chain: _Chain) -> tuple[_Chain, _Block]:
    log_density, metric = partial(target.log_density, model), jnp.ones(model.dimension)
    kernel = blackjax.nuts(log_density, chain.step_size, metric)

    def step(state: Any, step_key: jax.Array) -> tuple[Any, _Block]:
        state, info = kernel.step(step_key, state)
        z = target.frame.place(state.position)
        return state, _Block(z, state.logdensity, info.is_divergent)

    start = blackjax.nuts.init(target.frame.within(chain.z), log_density)
    state, block = jax.lax.scan(step, start, jax.random.split(key, BLOCK))
    return chain._replace(z=target.frame.place(state.position)), block


def _in_threads(tasks: list[Callable[[], Any]], done: Progress) -> list[Any]:
    """Run the tasks, as many at once as there are cores, and return their results in order."""
    pool = ThreadPoolExecutor(min(len(tasks), os.cpu_count() or 1))
    try:
        futures = [pool.submit(lambda f: jax.block_until_ready(f()), task) for task in tasks]
        for count, _ in enumerate(as_completed(futures), start=1):
            done(count / len(tasks))
        return [future.result() for future in futures]
    finally:
        # Without waiting: an interrupted run must not sit out the rest of its chains.
        pool.shutdown(wait=False, cancel_futures=True)


def _judged(model: Model, blocks: list[list[_Block]]) -> Fit:
    def joined(field: str) -> np.ndarray:
        stacked = [np.stack([getattr(chain, field) for chain in block]) for block in blocks]
        return np.concatenate(stacked, axis=1)

    z, log_targets, divergent = map(joined, _Block._fields)
    divergences = int(divergent.sum())
    convergence, theta = judge(model, jnp.asarray(z), jnp.asarray(log_targets), divergences)
    return Fit(z, theta, convergence)
