"""What the contestants of `against_stan.py` share: targets, timed fits, and the arithmetic of both.

Contestants run one after another within a round, so a ratio compares neighbours in time: load on
the machine that comes and goes between rounds moves both sides of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

CHAINS = 4
WARM_UP = 1000
DRAWS = 1000
PATIENCE = 60.0
"""Seconds: a fit of a larger table that is expected to take longer is not begun."""


@dataclass(frozen=True)
class FitTarget:
    """A table of values in (0, 1) and the bound B at which its scores are censored."""

    name: str
    x: np.ndarray
    bound: float
    fits: int = 1
    """How many of the eleven fits of a replicate it stands for, when a study is extrapolated."""


@dataclass(frozen=True)
class TimedFit:
    """Draws of φ and λ, and how long they took."""

    seconds: float
    draws: np.ndarray
    """Shape (chains, draws, 2)."""
    independent: bool = False
    own_clock: float | None = None
    """What the contestant's own clock says, summed over chains that ran side by side."""

    @cached_property
    def effective(self) -> np.ndarray:
        """Effective draws of φ and of λ: bulk ESS, or all of them where they are independent."""
        from understudy.samplers.diagnostics import rhat_and_ess

        if self.independent:
            return np.full(2, float(self.draws.shape[0] * self.draws.shape[1]))
        return rhat_and_ess(self.draws)[1]

    @property
    def effective_per_second(self) -> float:
        """Effective draws of whichever parameter has fewer, per second of the fit."""
        return float(self.effective.min()) / self.seconds

    @property
    def mean(self) -> np.ndarray:
        """Posterior means of φ and λ."""
        return self.draws.mean(axis=(0, 1))

    @property
    def error(self) -> np.ndarray:
        """Monte Carlo standard errors of the means."""
        return self.draws.std(axis=(0, 1)) / np.sqrt(self.effective)


class StudyRound(NamedTuple):
    """The part of the paper's study that was run in one round."""

    seconds: float
    fits: int


class Spread(NamedTuple):
    """The middle and the ends of one number over the rounds."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{figure(self.median)} ({figure(self.low)}–{figure(self.high)})"


def spread(values: Sequence[float]) -> Spread:
    """Return median, minimum and maximum."""
    return Spread(float(np.median(values)), min(values), max(values))


def ratios(numerators: Sequence[float], denominators: Sequence[float]) -> Spread:
    """Return the spread of the ratios taken within each round."""
    return spread([a / b for a, b in zip(numerators, denominators, strict=True)])


def standard_errors_apart(fits: Sequence[TimedFit], exact: np.ndarray) -> float:
    """Return how far the pooled means of φ and λ are from the exact ones, the larger of the two."""
    mean = np.mean([fit.mean for fit in fits], axis=0)
    error = np.sqrt(np.sum([fit.error**2 for fit in fits], axis=0)) / len(fits)
    return float(np.max(np.abs(mean - exact) / error))


def figure(value: float) -> str:
    """Write a positive number with three significant digits and without an exponent."""
    places = 2 - math.floor(math.log10(value))
    return f"{round(value, places):,.{max(places, 0)}f}"
