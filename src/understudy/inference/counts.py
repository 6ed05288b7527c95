"""Shares of a histogram's bins given noisy counts: what a release by `ph` says of its population.

A bin with λ records on average holds c of them, and what was published of it is

    c̃ = max(0, c + noise),      c ~ Poisson(λ),      P(noise = k) ∝ exp(−|k| / b).

The likelihood of λ adds up over every c. Where counts are smaller than noise the prior decides, and
a prior of each bin by itself decides wrongly: with c alike for all whole numbers, every empty bin
is given about b records, and no interval of a mean held what it should. So bins are a chain, from
left to right:

- a bin's λ is that of the bin before it, times exp(σ · normal);
- or it has nothing to do with it, with probability π: then the bin is empty (λ = 0) or has any λ,
  on a logarithmic scale, one as likely as the other. An empty bin stays empty until then.

So empty stretches are known for what they are by many counts together, and a heap may stand beside
an empty bin. σ and π are as likely a priori as any other of a few values. λ has finely graded
levels, on which the posterior is added up exactly, forwards, and drawn, backwards: no chain has to
converge.

Shares are those of the population that the records are drawn from, bin by bin; within a bin its
values are taken to be spread evenly, as they are in the synthetic table. So an answer is about the
histogram's population, and is as coarse as its bins. Of how many records there are nothing is
assumed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, ndtr

from understudy.domain.skeleton import LARGEST_ROWS
from understudy.errors import BadInput, Refused
from understudy.inference.measurement import LAPLACE

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]

LARGEST_BINS = 10_000
"""With more of them, draws of all their shares would not fit into memory."""
LARGEST_SCALE = 1000.0
"""Of the noise: with more, every count from nothing to thousands is as likely as any other."""
_SIGMAS = (0.05, 0.1, 0.2, 0.4, 0.8)
_LEAPS = (0.01, 0.03, 0.1, 0.3)
_SMALLEST = 0.1
"""The smallest λ that is told apart from an empty bin."""
_STEP, _DEVIATIONS = 0.15, 0.5
"""A level is larger than the one before it by so large a share of it, or by so many standard
deviations of a noisy count, whichever is less."""
_REACH = 32.0
"""Likelihoods are followed down to exp(−32) of the largest."""


def read_counts(published: Mapping[str, Any]) -> tuple[Wholes, float]:
    """Return the noisy counts of a release by `ph` and the scale of their noise, or refuse.

    Args:
        published: Contents of its `parameters.json`.
    """
    match published:
        case {"noise": {"distribution": str(kind), "scale": int() | float() as scale}}:
            stated = kind == LAPLACE and 0 < scale < math.inf
        case _:
            stated = False
    if not stated:
        raise BadInput(
            "the release does not say how much noise its counts have, so nothing can be said about "
            "how far they are off: make intervals from the first table of a release."
        )
    counts = np.asarray(published["parameters"]["counts"], dtype=np.int64)
    if counts.max() > LARGEST_ROWS + _REACH * scale:
        raise BadInput(
            "a bin of the release has more records than any table may have: the file is damaged."
        )
    if len(counts) > LARGEST_BINS:
        raise Refused(
            f"the release has {len(counts):,} bins, and intervals are made for up to "
            f"{LARGEST_BINS:,}: make a release with fewer `bins`."
        )
    if scale > LARGEST_SCALE:
        raise Refused(
            f"the counts of the release have so much noise that they say next to nothing, and no "
            f"intervals are made: make a release with an `epsilon` above {2 / LARGEST_SCALE:g}."
        )
    return counts, float(scale)


def draws_of_counts(
    counts: ArrayLike,
    scale: float,
    generator: np.random.Generator,
    *,
    count: int,
    noise: bool = True,
) -> Floats:
    """Return draws of the shares of all bins, shape (count, bins).

    Args:
        counts: The published counts, none below 0.
        scale: b, the scale of the noise.
        generator: Where randomness comes from.
        count: How many draws.
        noise: Whether counts are taken to have noise. Without, draws are those that the likeliest
            true counts would allow if they had been published themselves.
    """
    noisy = np.asarray(counts, dtype=np.int64)
    means = _draws(_Histogram.of(noisy, scale), generator, count)
    if not noise:
        likely = np.rint(np.median(means, axis=0)).astype(np.int64)
        means = _draws(_Histogram.of(likely, 0.0), generator, count)
    total = means.sum(axis=1, keepdims=True)
    # Bins that all are empty say nothing, and synthetic rows are spread evenly then.
    return np.where(total > 0, means, 1.0) / np.where(total > 0, total, len(noisy))


@dataclass(frozen=True)
class _Histogram:
    """Levels of λ, and how likely what was published of each bin is at the plausible ones."""

    levels: Floats
    """0, then ever larger λ, but none that is plausible for no bin."""
    lower: Floats
    upper: Floats
    """The stretch of log λ that each level stands for; for 0 there is none."""
    ends: tuple[float, float]
    """Between which log λ lies."""
    likelihoods: Sequence[tuple[slice, Floats]]
    """Which levels are plausible for each bin, and the likelihoods of these."""

    @classmethod
    def of(cls, counts: Wholes, scale: float) -> _Histogram:
        """Return what follows from counts with noise of this scale, or with none."""
        largest = float(counts.max())
        top = largest + _REACH * scale + 8 * math.sqrt(largest + _REACH)
        above = [_SMALLEST]
        while above[-1] < top:
            spread = math.sqrt(above[-1] + 2 * scale**2)
            above.append(above[-1] + min(_STEP * above[-1], _DEVIATIONS * spread))
        levels, heights = np.array([0.0, *above]), np.log(above)
        edges = np.concatenate([heights[:1], (heights[1:] + heights[:-1]) / 2, heights[-1:]])
        different, which = np.unique(counts, return_inverse=True)
        plausible = [_plausible(likelihood(k, scale, levels)) for k in different.tolist()]
        wanted = np.zeros(len(levels), dtype=bool)
        for place, _ in plausible:
            wanted[place] = True
        moved = np.append(0, np.cumsum(wanted))
        placed = [(slice(moved[p.start], moved[p.stop]), seen) for p, seen in plausible]
        lower, upper = np.append(-np.inf, edges[:-1]), np.append(-np.inf, edges[1:])
        ends = float(edges[0]), float(edges[-1])
        likelihoods = [placed[k] for k in which]
        return cls(levels[wanted], lower[wanted], upper[wanted], ends, likelihoods)

    @property
    def anew(self) -> Floats:
        """The probability of each level in a bin that has nothing to do with the one before it."""
        whole = self.ends[1] - self.ends[0]
        with np.errstate(invalid="ignore"):
            return np.where(self.levels > 0, (self.upper - self.lower) / whole / 2, 0.5)

    def transition(self, sigma: float, leap: float) -> Floats:
        """Return the probability of each level (columns) after each level (rows)."""
        empty = self.levels == 0
        with np.errstate(divide="ignore"):
            heights = np.log(self.levels)[:, None]
        with np.errstate(invalid="ignore"):
            lower, upper, first, last = (
                ndtr((place - heights) / sigma) for place in (self.lower, self.upper, *self.ends)
            )
            stays = np.where(empty[:, None], empty, (upper - lower) / (last - first))
        return (1 - leap) * stays + leap * self.anew


def likelihood(noisy: int, scale: float, levels: Floats) -> Floats:
    """Return how likely a published count is if a bin has λ records on average, for each λ.

    Args:
        noisy: The published count; 0 if it was 0 or less.
        scale: b, the scale of the noise; 0 where there is none.
        levels: Values of λ.
    """
    decay = math.exp(-1 / scale) if scale > 0 else 0.0
    if noisy == 0:
        return np.exp(-levels * (1 - decay)) / (1 + decay)
    reach = math.ceil(_REACH * scale)
    true = np.arange(max(noisy - reach, 0), noisy + reach + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        heights = np.where(true > 0, true * np.log(levels)[:, None], 0.0)
    poisson = np.exp(heights - levels[:, None] - gammaln(true + 1))
    return poisson @ decay ** np.abs(noisy - true) * (1 - decay) / (1 + decay)


def _plausible(likelihoods: Floats) -> tuple[slice, Floats]:
    """Return the stretch of levels that matter, and their likelihoods, 1 at most."""
    relative = likelihoods / likelihoods.max()
    (there,) = np.nonzero(relative > math.exp(-_REACH))
    place = slice(int(there[0]), int(there[-1]) + 1)
    return place, relative[place]


def _draws(histogram: _Histogram, generator: np.random.Generator, count: int) -> Floats:
    """Return draws of λ of all bins."""
    settings = list(product(_SIGMAS, _LEAPS))
    heights = np.array([_forwards(histogram, histogram.transition(*each))[0] for each in settings])
    weights = np.exp(heights - heights.max())
    often = generator.multinomial(count, weights / weights.sum())
    chosen = [
        _backwards(histogram, histogram.transition(*setting), generator, times)
        for setting, times in zip(settings, often.tolist(), strict=True)
        if times
    ]
    places = generator.permutation(np.concatenate(chosen))
    lower, upper = histogram.lower[places], histogram.upper[places]
    with np.errstate(invalid="ignore"):
        within = lower + (upper - lower) * generator.random(places.shape)
    return np.where(histogram.levels[places] > 0, np.exp(within), 0.0)


def _forwards(histogram: _Histogram, transition: Floats) -> tuple[float, list[Floats]]:
    """Return the log-likelihood of all counts, and each bin's levels given those up to it."""
    height, known, expected = 0.0, [], histogram.anew
    for place, likelihoods in histogram.likelihoods:
        here = expected[place] * likelihoods
        mass = float(here.sum())
        height += math.log(mass)
        known.append(here / mass)
        expected = known[-1] @ transition[place]
    return height, known


def _backwards(
    histogram: _Histogram, transition: Floats, generator: np.random.Generator, count: int
) -> Wholes:
    """Return draws of all bins' levels, from the last bin to the first."""
    _, known = _forwards(histogram, transition)
    drawn = np.empty((count, len(known)), dtype=np.int64)
    after = np.ones((1, count))
    for j in reversed(range(len(known))):
        place, _ = histogram.likelihoods[j]
        cumulated = np.cumsum(known[j][:, None] * after, axis=0)
        below = cumulated < generator.random(count) * cumulated[-1]
        drawn[:, j] = place.start + np.minimum(below.sum(axis=0), len(cumulated) - 1)
        if j:
            after = transition[histogram.likelihoods[j - 1][0]][:, drawn[:, j]]
    return drawn
