"""The No-U-Turn sampler of BlackJAX: four chains, each with a metric of its own.

One kernel is compiled for a model and a number of records; weights, offsets and the bound are
arguments, so the Unweighted fit and the refits that follow share it. Chains run in threads: a chain
that takes long trajectories does not hold up the others, as it would in lock step.

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
from typing import TYPE_CHECKING, Any, NamedTuple

import blackjax
import numpy as np

from understudy._jax import jax, jnp
from understudy.samplers.diagnostics import SMALLEST_ESS, Convergence, judge
from understudy.samplers.frames import Frame, frame_at_peak
from understudy.score import Row, log_target

if TYPE_CHECKING:
    from understudy.models.base import Data, Model
    from understudy.randomness import Source
    from understudy.samplers.proposals import Proposal

CHAINS = 4
WARM_UP = 1000
BLOCK = 1000
LARGEST_BLOCKS = 8
LARGEST_DENSE = 20
"""Parameters up to which a dense metric is learned."""

Progress = Callable[[float], None]


@dataclass(frozen=True)
class Fit:
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


class _Chain(NamedTuple):
    state: Any
    parameters: Any


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
    frame = None
    if model.one_peak:
        start = np.zeros(model.dimension) if guess is None else guess.centre
        frame = frame_at_peak(model, data, row, start)
    elif guess is not None:
        frame = Frame(jnp.asarray(guess.centre), jnp.asarray(guess.root))
    starts = _starts(model, data, row, source, frame)
    keys = [source.key() for _ in range(CHAINS)]
    chains = _in_threads(
        [
            partial(_warm_up, model, data, row, k, start, frame=frame)
            for k, start in zip(keys, starts, strict=True)
        ],
        lambda done: progress(0.4 * done),
    )
    blocks: list[list[_Block]] = []
    while True:
        begun = len(blocks)
        keys = [source.key() for _ in range(CHAINS)]
        results = _in_threads(
            [
                partial(_sample, model, data, row, k, chain, frame=frame)
                for k, chain in zip(keys, chains, strict=True)
            ],
            lambda done, begun=begun: progress(  # type: ignore[misc]
                0.4 + 0.6 * done if begun == 0 else (begun + done) / largest_blocks
            ),
        )
        chains = [chain for chain, _ in results]
        blocks.append([block for _, block in results])
        fit = _judged(model, blocks[len(blocks) // 2 :])
        if not fit.convergence.failing(smallest_ess) or len(blocks) == largest_blocks:
            return fit


def _starts(model: Model, data: Data, row: Row, source: Source, frame: Frame | None) -> jax.Array:
    """Return a starting point for each chain, the likeliest of a few where the target is finite."""
    points = model.starting_points(source.key(), 8 * CHAINS)
    heights = _heights(model, points if frame is None else frame.place(points), data, row)
    finite = jnp.where(jnp.isfinite(heights), heights, -jnp.inf)
    groups = jnp.reshape(finite, (CHAINS, 8))
    best = jnp.argmax(groups, axis=1) + 8 * jnp.arange(CHAINS)
    return points[best]


@partial(jax.jit, static_argnames="model")
def _heights(model: Model, points: jax.Array, data: Data, row: Row) -> jax.Array:
    return jax.lax.map(lambda z: log_target(model, z, data, row), points)


@partial(jax.jit, static_argnames="model")
def _warm_up(
    model: Model,
    data: Data,
    row: Row,
    key: jax.Array,
    start: jax.Array,
    *,
    frame: Frame | None = None,
) -> _Chain:
    adaptation = blackjax.window_adaptation(
        blackjax.nuts,
        _density(model, data, row, frame),
        # A frame has dealt with correlations, and a diagonal is learned in far fewer steps. So it
        # is for many parameters, of which a short warm-up could not learn a dense metric.
        is_mass_matrix_diagonal=frame is not None or model.dimension > LARGEST_DENSE,
        adaptation_info_fn=lambda state, info, adaptation_state: None,
    )
    (state, parameters), _ = adaptation.run(key, start, WARM_UP)
    return _Chain(state, parameters)


@partial(jax.jit, static_argnames="model")
def _sample(
    model: Model,
    data: Data,
    row: Row,
    key: jax.Array,
    chain: _Chain,
    *,
    frame: Frame | None = None,
) -> tuple[_Chain, _Block]:
    kernel = blackjax.nuts(_density(model, data, row, frame), **chain.parameters)

    def step(state: Any, step_key: jax.Array) -> tuple[Any, _Block]:
        state, info = kernel.step(step_key, state)
        z = state.position if frame is None else frame.place(state.position)
        return state, _Block(z, state.logdensity, info.is_divergent)

    state, block = jax.lax.scan(step, chain.state, jax.random.split(key, BLOCK))
    return _Chain(state, chain.parameters), block


def _density(
    model: Model, data: Data, row: Row, frame: Frame | None
) -> Callable[[jax.Array], jax.Array]:
    """Return the log target as a function of coordinates in the frame, if there is one."""
    return lambda w: log_target(model, w if frame is None else frame.place(w), data, row)


def _in_threads(tasks: list[Callable[[], Any]], done: Progress) -> list[Any]:
    """Run the tasks, as many at once as there are cores, and return their results in order."""
    pool = ThreadPoolExecutor(min(len(tasks), os.cpu_count() or 1))
    try:
        futures = [pool.submit(_finished, task) for task in tasks]
        for count, _ in enumerate(as_completed(futures), start=1):
            done(count / len(tasks))
        return [future.result() for future in futures]
    finally:
        # Without waiting: an interrupted run must not sit out the rest of its chains.
        pool.shutdown(wait=False, cancel_futures=True)


def _finished(task: Callable[[], Any]) -> Any:
    return jax.block_until_ready(task())


def _judged(model: Model, blocks: list[list[_Block]]) -> Fit:
    z = np.concatenate([np.stack([chain.z for chain in block]) for block in blocks], axis=1)
    log_targets = np.concatenate(
        [np.stack([chain.log_target for chain in block]) for block in blocks], axis=1
    )
    divergences = sum(int(jnp.sum(chain.divergent)) for block in blocks for chain in block)
    convergence, theta = judge(model, jnp.asarray(z), jnp.asarray(log_targets), divergences)
    return Fit(z, theta, convergence)
