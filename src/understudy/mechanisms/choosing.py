"""Which pairs of columns are worth a table: chosen privately, by what is not explained yet.

The score of a pair is Σ |T − Nμ| over its cells, T the true counts and Nμ what is known so far
predicts of them, less the error that noise would cause anyway. A record is in one cell, and Nμ is
public and whole, so that adding or removing one moves every score by 1 at most: by C for a record
that counts for C. OpenDP's noisy max picks one pair at a time, at ε each:

    pure ε    noise of scale 2C/ε that makes it permute-and-flip
    ρ         Gumbel noise of the same scale, the exponential mechanism: ρ = ε²/8

Picks add up, like rounds. Which pair was picked is all that is published of the scores.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.inference.allowance import Allowance
from understudy.support.randomness import Source

Wholes = NDArray[np.int64]


@dataclass(frozen=True)
class Choice:
    """Pairs that were picked, and what that cost."""

    pairs: tuple[tuple[str, str], ...]
    candidates: int
    """Pairs that there were to pick from at first."""
    scale: float
    """Of the noise of each pick."""
    allowance: Allowance
    """For all of them."""

    def to_dict(self) -> dict[str, Any]:
        """Return what `parameters.json` says of a round that chooses."""
        rho = {} if self.allowance.rho is None else {"rho": self.allowance.rho}
        distribution = "gumbel" if rho else "permute-and-flip"
        return {
            "kind": "choice",
            "definition": {
                "score": "sum over cells of |count - predicted|, less the noise of a table",
                "candidates": self.candidates,
            },
            "noisy": [list(pair) for pair in self.pairs],
            "noise": {"distribution": distribution, "scale": self.scale},
            "epsilon": self.allowance.epsilon,
        } | rho


def choose(
    pairs: Sequence[tuple[str, str]],
    scores: Wholes,
    count: int,
    *,
    sensitivity: int,
    allowance: Allowance,
    source: Source,
) -> Choice:
    """Pick so many pairs, those with large scores most likely.

    Args:
        pairs: What there is to pick from.
        scores: Of each, whole numbers.
        count: How many to pick.
        sensitivity: The most by which a record moves any score.
        allowance: For all picks together.
        source: Where randomness comes from.
    """
    left, picked = list(range(len(pairs))), []
    scale = _scale(sensitivity, allowance, count)
    for _ in range(count):
        place = _noisy_max(scores[left], scale, allowance, source)
        picked.append(pairs[left.pop(place)])
    return Choice(tuple(picked), len(pairs), scale, allowance)


def _scale(sensitivity: int, allowance: Allowance, count: int) -> float:
    """Return the smallest scale at which so many picks cost no more than allowed."""
    each = allowance.amount / count
    scale = 2 * sensitivity / (each if allowance.rho is None else math.sqrt(8 * each))
    while _made(scale, allowance).map(sensitivity) * count > allowance.amount:
        scale = math.nextafter(scale, math.inf)
    return scale


def _made(scale: float, allowance: Allowance) -> Any:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    pure = allowance.rho is None
    return dp.m.make_noisy_max(
        dp.vector_domain(dp.atom_domain(T="i64")),
        dp.linf_distance(T="i64", monotonic=False),
        dp.max_divergence() if pure else dp.zero_concentrated_divergence(),
        scale=scale,
    )


def _noisy_max(scores: Wholes, scale: float, allowance: Allowance, source: Source) -> int:
    if not source.seeded:
        return int(_made(scale, allowance)(scores.tolist()))
    generator = source.generator()
    # Permute-and-flip is the largest of scores with exponential noise (Ding et al. 2021).
    pure = allowance.rho is None
    noise = generator.exponential(size=len(scores)) if pure else generator.gumbel(size=len(scores))
    return int(np.argmax(scores / scale + noise))
