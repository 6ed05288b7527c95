"""How far records move what a round published, and how well that tells neighbours apart.

    a sum       moves by w(x). With discrete Laplace noise of scale s the log-ratio of what may be
                published reaches ‖w(x) − w(x′)‖₁ / s, and never passes it
    a choice    scores move by d. With noise of scale s no pick's log chance changes by more than
                (max d − min d) / s, by permute-and-flip as by Gumbel noise, and by nearly as much
                where the others' scores are far above; k picks add up

Lengths are whole numbers, and ratios are computed in fractions.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from understudy.audit.recomputed import fault_of, fault_of_scores
from understudy.domain.tables import Columns
from understudy.inference.contribution import Wholes
from understudy.inference.measurement import Measurement
from understudy.mechanisms.choosing import Choice

_LARGEST = 2**52
"""Entries below this add up exactly, in float64 too; one that is not is no contribution."""

Floats = NDArray[np.float64]


class Published(ABC):
    """What a round published, as a function of the table."""

    what: ClassVar[str]
    """What is computed of a table, in a sentence."""

    @property
    @abstractmethod
    def kind(self) -> str:
        """Of what was computed."""

    @property
    @abstractmethod
    def entries(self) -> int:
        """How many numbers that is."""

    @property
    @abstractmethod
    def bound(self) -> int:
        """How far a record that is added may move it, in units."""

    @property
    @abstractmethod
    def epsilon(self) -> float:
        """What it costs when a record is added or removed."""

    @property
    @abstractmethod
    def scale(self) -> Fraction:
        """The length by which neighbours are told apart by a log-ratio of 1."""

    @abstractmethod
    def each(self, records: Columns) -> Wholes:
        """Return by what each record moves it when it is added, shape (records, entries)."""

    @abstractmethod
    def lengths(self, vectors: Wholes) -> Floats:
        """Return how far that is, infinite for what is no vector of whole numbers."""

    @abstractmethod
    def fault(self, table: Columns, records: Columns, generator: np.random.Generator) -> str | None:
        """Say what is wrong when it is computed again, with a record more, if anything is."""

    def told_apart(self, length: float) -> Fraction | float:
        """Return the largest log-ratio at that length, exactly."""
        return Fraction(length) / self.scale if math.isfinite(length) else math.inf


@dataclass(frozen=True, eq=False)
class PublishedSum(Published):
    """A noisy sum. Here alone its noise is compared: p(k) ∝ exp(−|k| / s) in every entry."""

    measurement: Measurement
    what = "sum"

    kind = property(lambda self: self.measurement.contribution.kind)
    entries = property(lambda self: self.measurement.contribution.width)
    bound = property(lambda self: int(self.measurement.contribution.bound))
    epsilon = property(lambda self: self.measurement.epsilon)
    scale = property(lambda self: Fraction(self.measurement.noise.scale))

    def each(self, records: Columns) -> Wholes:
        """Return what each record contributes."""
        return self.measurement.contribution.each(records)

    def lengths(self, vectors: Wholes) -> Floats:
        """Return Σ|entries| of each vector."""
        values, sound = _whole(vectors)
        total = np.sum(np.abs(values), axis=1)
        return np.where(sound & (total < _LARGEST), total, np.inf)

    def fault(self, table: Columns, records: Columns, generator: np.random.Generator) -> str | None:
        """Say why it is not the sum of contributions."""
        return fault_of(self.measurement.contribution, table, records, generator)


@dataclass(frozen=True, eq=False)
class PublishedChoice(Published):
    """Pairs that were picked by scores of a table."""

    choice: Choice
    columns: Columns
    """The table to which records are added."""
    what = "scores"

    kind = "choice"
    entries = property(lambda self: self.choice.candidates)
    bound = property(lambda self: 2 * self.choice.errors.bound)
    epsilon = property(lambda self: self.choice.epsilon)
    scale = property(lambda self: Fraction(self.choice.scale) / max(len(self.choice.pairs), 1))

    @cached_property
    def _surplus(self) -> tuple[Wholes, ...]:
        return tuple(self.choice.errors.surplus(self.choice.errors.counting(self.columns)))

    def each(self, records: Columns) -> Wholes:
        """Return by what each record moves every score.

        One that takes the place of another moves them by the difference of what both do: where they
        are in one cell, not at all.
        """
        return self.choice.errors.moved(self._surplus, records)

    def lengths(self, vectors: Wholes) -> Floats:
        """Return max − min of each vector: what all scores have in common changes no pick."""
        values, sound = _whole(vectors)
        return np.where(sound, values.max(axis=1) - values.min(axis=1), np.inf)

    def fault(self, table: Columns, records: Columns, generator: np.random.Generator) -> str | None:
        """Say why scores are not moved as they should be."""
        return fault_of_scores(self.choice.errors, table, records, generator)


def published(each: Measurement | Choice, columns: Columns) -> Published:
    """Return what a round published as the audit sees it.

    Args:
        each: What it measured or chose.
        columns: The table that it did so of.
    """
    return PublishedChoice(each, columns) if isinstance(each, Choice) else PublishedSum(each)


def question(each: Measurement | Choice) -> dict[str, Any]:
    """Return what a round asked of a table, to be compared to the bit."""
    if isinstance(each, Measurement):
        return each.contribution.to_dict()
    errors = each.errors
    pool = {name: codes.tobytes() for name, codes in errors.pool.items()}
    return {"pairs": dict(errors.pairs), "pool": pool, "size": errors.size, "noise": errors.noise}


def answer(each: Measurement | Choice) -> Any:
    """Return what a round published, likewise."""
    return each.pairs if isinstance(each, Choice) else each.noisy.tolist()


def _whole(vectors: Wholes) -> tuple[Floats, NDArray[np.bool_]]:
    """Return vectors as exact numbers, and which of them hold whole ones alone.

    What was not a number before it became whole is the smallest one there is, whose absolute value
    no int64 holds.
    """
    values = np.asarray(vectors, dtype=np.float64)
    sound = np.isfinite(values) & (np.abs(values) < _LARGEST) & (values == np.rint(values))
    return np.where(sound, values, 0.0), sound.all(axis=1)
