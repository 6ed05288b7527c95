"""Exact private draws: one candidate out of a finite public list.

Candidates come from a public proposal q. Each has the score

    Σᵢ s_θ(xᵢ) + log ξ(θ) − log q(θ),

and one is picked with probability proportional to exp(score): the exponential mechanism. Every
s_θ(xᵢ) is rounded to a multiple of 2⁻²⁴ within ±B, and the multiples are added as whole numbers, so
the sensitivity of a score is what the guarantee says it is, to the last bit. Records are evaluated
in chunks of one fixed shape, padded with records that score nothing, so that a record's score is
the same number wherever it stands in whichever table. Adding or removing a record changes each
score by at most B: the pick is 2B-differentially private, for any number of candidates and with no
chain to converge. Their number decides only how close the pick is to a draw from the target.

The pick is OpenDP's Gumbel noisy max, which draws in proportion to exp(score). OpenDP takes no
seed; seeded runs, which are never for release, use NumPy's Gumbel noise instead.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from understudy._jax import jax, jnp
from understudy.errors import BadInput
from understudy.models.base import Data, Model
from understudy.samplers.proposals import Proposal, log_priors
from understudy.score import Row, score
from understudy.support.confidential import Confidential
from understudy.support.randomness import Source

UNIT = 2**24
"""Scores are whole multiples of 1/UNIT."""
_BLOCK = 64
_CHUNK = 2048
_LOWEST = -1e6
"""Candidates this far below the best in prior over proposal are never picked anyway."""


@dataclass(frozen=True, repr=False)
class Selection(Confidential):
    """Candidates with their whole-number scores, and the one that was picked."""

    candidates: np.ndarray
    scores: np.ndarray
    picked: int

    @property
    def probabilities(self) -> np.ndarray:
        """The probability of each candidate. Confidential."""
        weights = np.exp((self.scores - self.scores.max()) / UNIT)
        return weights / weights.sum()

    def resampled(self, generator: np.random.Generator, count: int) -> jax.Array:
        """Return candidates in proportion to their probabilities, for diagnostics only."""
        chosen = generator.choice(len(self.scores), size=count, p=self.probabilities)
        return jnp.asarray(self.candidates[chosen])

    @property
    def effective_candidates(self) -> float:
        """How many candidates carried weight: 1 / Σ p². Confidential."""
        return float(1 / np.sum(self.probabilities**2))


def exact_draw(
    model: Model, data: Data, row: Row, proposal: Proposal, source: Source, *, candidates: int
) -> Selection:
    """Pick one of so many candidates from the proposal, in proportion to the target over it."""
    z = proposal.draw(source.generator(), candidates)
    constant = log_priors(model, z) - proposal.log_density(z)
    inside = np.isfinite(constant)
    if not inside.any():
        raise BadInput("no candidate lies where the prior has any weight: use more candidates.")
    z, constant = z[inside], constant[inside]
    fixed = np.round(np.maximum(constant - constant.max(), _LOWEST) * UNIT).astype(np.int64)
    scores = summed_scores(model, z, data, row) + fixed
    return Selection(z, scores, _pick(scores, source))


def summed_scores(model: Model, z: np.ndarray, data: Data, row: Row) -> np.ndarray:
    """Return Σᵢ s_θ(xᵢ) of each candidate in units of 1/UNIT, as whole numbers."""
    padding = -len(z) % _BLOCK
    padded = jnp.asarray(np.concatenate([z, np.repeat(z[-1:], padding, axis=0)]))
    total = np.zeros(len(padded), dtype=np.int64)

    def summed(chunk: tuple[Data, Row]) -> np.ndarray:
        return np.asarray(_chunk_scores(model, padded, *chunk)).astype(np.int64)

    # One thread for each core: whole numbers add up to the same whichever comes first.
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for part in pool.map(summed, _chunks(data, row, _chunk_size(model))):
            total += part
    return total[: len(z)]


def chunked_loglik(model: Model, z: np.ndarray, data: Data) -> jax.Array:
    """Return f_θ(x) of each record, evaluated in the same chunks as the scores."""
    records = len(next(iter(data.values())))
    nothing = Row(jnp.zeros(records), jnp.zeros(records), jnp.asarray(0.0))
    position = jnp.asarray(z)
    chunks = _chunks(data, nothing, _chunk_size(model))
    parts = [_chunk_loglik(model, position, part) for part, _ in chunks]
    return jnp.concatenate(parts)[:records]


def _chunk_size(model: Model) -> int:
    """Return how many records fill a chunk: a public constant of the model."""
    return max(_CHUNK // model.rows_per_record, 1)


def _chunks(data: Data, row: Row, size: int) -> Iterator[tuple[Any, Any]]:
    """Yield the records in chunks of one shape; the last is padded with records of weight zero."""
    records = len(row.alpha)
    alpha, offset = np.asarray(row.alpha), np.asarray(row.offset)
    columns = {name: np.asarray(values) for name, values in data.items()}
    for start in range(0, records, size):
        # Copies of the chunk's first record fill up: they are in the domain, and weigh nothing.
        chosen = np.full(size, start)
        stop = min(start + size, records)
        chosen[: stop - start] = np.arange(start, stop)
        weight = np.where(np.arange(size) < stop - start, alpha[chosen], 0.0)
        part = {name: values[chosen] for name, values in columns.items()}
        yield part, Row(jnp.asarray(weight), jnp.asarray(offset[chosen]), row.bound)


@partial(jax.jit, static_argnames="model")
def _chunk_scores(model: Model, z: jax.Array, data: Data, row: Row) -> jax.Array:
    """Return sums of whole numbers held as float64, exact because they stay far below 2⁵³."""
    # In units of 1/UNIT, a power of two, so that scaling rounds nothing. The bound is a whole
    # number there, so that rounding cannot pass it.
    scaled = Row(row.alpha * UNIT, row.offset, jnp.floor(row.bound * UNIT))

    def one(position: jax.Array) -> jax.Array:
        loglik = model.record_loglik(model.constrain(position), data)
        return jnp.sum(jnp.round(score(loglik, scaled)))

    return jax.lax.map(one, z, batch_size=_BLOCK)


@partial(jax.jit, static_argnames="model")
def _chunk_loglik(model: Model, z: jax.Array, data: Data) -> jax.Array:
    return model.record_loglik(model.constrain(z), data)


def _pick(scores: np.ndarray, source: Source) -> int:
    """Return the place of one score, in proportion to exp(score)."""
    if source.seeded:
        noise = source.generator().gumbel(size=len(scores))
        return int(np.argmax(scores / UNIT + noise))
    import opendp.prelude as dp

    dp.enable_features("contrib")
    noisy_max = dp.m.make_noisy_max(
        dp.vector_domain(dp.atom_domain(T="i64")),
        dp.linf_distance(T="i64", monotonic=False),
        dp.zero_concentrated_divergence(),
        scale=float(UNIT),
    )
    return int(noisy_max(scores.tolist()))
