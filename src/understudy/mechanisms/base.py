"""What a mechanism is: the three columns α, b and B of its row, and what follows from them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

from understudy.errors import BadInput
from understudy.privacy.guarantee import Adjacency, Kind, Weights, check_epsilon

if TYPE_CHECKING:
    import jax


LARGEST_BINS = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Mechanism(ABC):
    """Something that turns a table into private parameters, and what may be said about them."""

    name: ClassVar[str]
    reason: ClassVar[str | None] = None
    """Why the guarantee is not strict, in one sentence."""

    adjacency: Adjacency = Adjacency.ADD_REMOVE

    def __post_init__(self) -> None:
        check_arguments(self)

    @property
    @abstractmethod
    def kind(self) -> Kind:
        """How firmly the guarantee holds for a draw from the mechanism's very target."""

    def kind_with(self, sampler: str) -> Kind:
        """Return how firmly it holds for a draw by this sampler: chains only come close."""
        by_chains = sampler == "nuts" and self.kind is Kind.STRICT
        return Kind.CONDITIONAL if by_chains else self.kind

    @property
    @abstractmethod
    def weights(self) -> Weights:
        """Where the weights of the records come from."""


@dataclass(frozen=True, kw_only=True)
class RowMechanism(Mechanism):
    """A row of the equation in `score.py`, with the offset 0.

    A subclass says in its docstring what α and B are, which guarantee follows, and why.
    """

    @property
    @abstractmethod
    def bound(self) -> float:
        """B, infinite where nothing is censored."""

    @abstractmethod
    def alpha(self, risk: jax.Array) -> jax.Array:
        """Return the weight of each record from its risk."""


def check_arguments(mechanism: Any) -> None:
    """Check each argument by its name: it means the same in every mechanism."""
    for field in fields(mechanism):
        checked = _CHECKS[field.name](getattr(mechanism, field.name))
        object.__setattr__(mechanism, field.name, checked)


def _check_c1(c1: object) -> float:
    number = _check_number("c1", c1)
    if number < 0:
        raise BadInput(f"c1 must not be negative, or risky records would count most; it is {c1!r}.")
    return number


def _check_number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise BadInput(f"{name} must be a finite number, not {value!r}.")
    return float(value)


def _check_bins(bins: object) -> str | int:
    if isinstance(bins, str) and bins.isascii() and bins.isdigit():
        bins = int(bins)
    if isinstance(bins, str) and bins in ("sqrt", "ln"):
        return bins
    if isinstance(bins, bool) or not isinstance(bins, int) or not 1 <= bins <= LARGEST_BINS:
        raise BadInput(
            f"bins must be 'sqrt', 'ln' or a number from 1 to {LARGEST_BINS:,}, not {bins!r}."
        )
    return bins


def _check_threshold(threshold: object) -> float | None:
    if threshold is None:
        return None
    number = _check_number("threshold", threshold)
    if not 0 < number <= 100:
        raise BadInput(f"threshold must be a positive number up to 100, not {threshold!r}.")
    return number


def _check_growth(growth: object) -> float | None:
    if growth is None:
        return None
    number = _check_number("growth", growth)
    if not 1 < number <= 1000:
        raise BadInput(f"growth must be a number above 1 and up to 1000, not {growth!r}.")
    return number


def _check_whole(name: str, value: object, largest: int) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= largest:
        raise BadInput(f"{name} must be a whole number from 1 to {largest:,}, not {value!r}.")
    return value


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "adjacency": Adjacency.parse,
    "epsilon": check_epsilon,
    "c1": _check_c1,
    "c2": lambda c2: _check_number("c2", c2),
    "bins": _check_bins,
    "threshold": _check_threshold,
    "growth": _check_growth,
    "stages": lambda stages: _check_whole("stages", stages, 30),
    "candidates": lambda count: _check_whole("candidates", count, 10_000_000),
    "anchor": lambda anchor: anchor,
    "reference": lambda reference: reference,
}
