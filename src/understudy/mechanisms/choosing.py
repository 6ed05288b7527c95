"""Which pairs of columns are worth a table: chosen privately, by what is not explained yet.

The score of a pair is Σ |T − Nμ| over its cells, T the true counts and Nμ what is known so far
predicts of them, less the error that noise would cause anyway. A record is in one cell, and Nμ is
public and whole, so that adding or removing one moves every score by 1 at most: by C for a record
that counts for C. OpenDP's noisy max picks one pair at a time, at ε each:

    pure ε    noise of scale 2C/ε that makes it permute-and-flip
    ρ         Gumbel noise of the same scale, the exponential mechanism: ρ = ε²/8

By a record that moves scores by d, the log chance of any pick changes by (max d − min d) / scale at
most, which is what the audit searches for. Picks add up, like rounds. Which pair was picked is all
that is published of the scores.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.domain.schema import Schema
from understudy.domain.tables import Columns
from understudy.inference.allowance import Allowance
from understudy.inference.cells import Pair
from understudy.inference.shares import Shares
from understudy.support.randomness import Source

Wholes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PairErrors:
    """The scores of pairs, as a public function of a table: how badly each one is explained.

    In units of what a row counts. Pairs are looked at one by one, so that no more than the cells of
    one are held at a time.
    """

    schema: Schema
    pairs: Mapping[tuple[str, str], Pair]
    """By their names; a column has the same cells in all of its pairs."""
    pool: Mapping[str, NDArray[Any]]
    """The cell of each row of a pool that stands for what is known so far, by column."""
    size: float
    """How many records the pool stands for."""
    noise: float
    """The error that noise would cause in a cell anyway, in records."""

    @cached_property
    def shares(self) -> Shares:
        """How much each row counts."""
        return Shares.declared(self.schema)

    @property
    def bound(self) -> int:
        """The most by which a record moves any score."""
        return self.shares.record

    @property
    def counting(self) -> Callable[[Columns], Wholes]:
        """Returns how much the rows in each cell of each pair count: a sum over records."""
        return partial(_counted, self.pairs, self.shares)

    def scores(self, columns: Columns) -> Wholes:
        """Return the score of each pair."""
        return self.scores_of(self.counting(columns))

    def scores_of(self, counts: Wholes) -> Wholes:
        """Return the score of each pair, of a table with these counts."""
        unit = self.noise * self.shares.average
        both = zip(self.pairs.values(), self.surplus(counts), strict=True)
        scores = [int(np.abs(each).sum()) - round(pair.count * unit) for pair, each in both]
        return np.array(scores, dtype=np.int64)

    def surplus(self, counts: Wholes) -> Iterator[Wholes]:
        """Yield by how much each cell of a pair holds more than is predicted, pair by pair.

        Args:
            counts: Of all cells of all pairs, as `counting` returns them.
        """
        rows = len(next(iter(self.pool.values())))
        ends = np.cumsum([pair.count for pair in self.pairs.values()])
        parts = np.split(counts, ends[:-1])
        for ((one, other), pair), own in zip(self.pairs.items(), parts, strict=True):
            pool = self.pool[one] * pair.other.count + self.pool[other]
            predicted = self.size / rows * np.bincount(pool, minlength=pair.count)
            yield own - np.rint(predicted * self.shares.average).astype(np.int64)

    def moved(self, surplus: Iterable[Wholes], records: Columns) -> Wholes:
        """Return by what each record moves each score when it is added: shape (records, pairs).

        Args:
            surplus: Of the table that it is added to.
            records: One at a time; each is a row.
        """
        added = self.shares.of(records)
        there = (s[cells] for s, cells in zip(surplus, _cells(self.pairs, records), strict=True))
        return np.column_stack([np.abs(each + added) - np.abs(each) for each in there])


def _counted(pairs: Mapping[tuple[str, str], Pair], shares: Shares, columns: Columns) -> Wholes:
    """Return how much the rows in each cell count, pair after pair."""
    weights = shares.of(columns)
    both = zip(pairs.values(), _cells(pairs, columns), strict=True)
    # Sums of whole numbers are exact in float64 up to 2⁵³, far beyond any of them.
    counts = [np.bincount(cells, weights, pair.count) for pair, cells in both]
    return np.concatenate(counts).astype(np.int64)


def _cells(pairs: Mapping[tuple[str, str], Pair], columns: Columns) -> Iterator[Wholes]:
    """Yield the cell of each record, pair by pair."""
    codes: dict[str, Wholes] = {}
    for (one, other), pair in pairs.items():
        for name, cells in ((one, pair.one), (other, pair.other)):
            if name not in codes:
                codes[name] = cells.codes(columns)
        yield codes[one] * pair.other.count + codes[other]


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
    errors: PairErrors
    """What they were picked by, a public function of a table."""

    @property
    def epsilon(self) -> float | None:
        """What all picks cost when a record is added or removed; None where only ρ is known."""
        return self.allowance.epsilon

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
    errors: PairErrors, counts: Wholes, count: int, *, allowance: Allowance, source: Source
) -> Choice:
    """Pick so many pairs, those with large scores most likely.

    Args:
        errors: The scores of all that there is to pick from.
        counts: What is summed for them over the confidential table.
        count: How many to pick.
        allowance: For all picks together.
        source: Where randomness comes from.
    """
    pairs, scores = list(errors.pairs), errors.scores_of(counts)
    left, picked = list(range(len(pairs))), []
    scale = _scale(errors.bound, allowance, count)
    for _ in range(count):
        place = _noisy_max(scores[left], scale, allowance, source)
        picked.append(pairs[left.pop(place)])
    return Choice(tuple(picked), len(pairs), scale, allowance, errors)


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
