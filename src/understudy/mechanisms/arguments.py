"""Arguments of mechanisms: each is checked by its name, and means the same in every mechanism."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any

from understudy.errors import BadInput
from understudy.privacy.accounting import check_delta
from understudy.privacy.guarantee import Adjacency, check_epsilon

LARGEST_BINS = 1_000_000


def check_arguments(mechanism: Any) -> None:
    """Check each argument that is known here; what only one mechanism has, it checks itself."""
    for field in fields(mechanism):
        if field.name in _CHECKS:
            checked = _CHECKS[field.name](getattr(mechanism, field.name))
            object.__setattr__(mechanism, field.name, checked)


def _check_c1(c1: object) -> float:
    number = _check_number("c1", c1)
    if number < 0:
        raise BadInput(
            f"`c1` must not be negative, or risky records would count most; it is {c1!r}."
        )
    return number


def _check_number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise BadInput(f"`{name}` must be a finite number, not {value!r}.")
    return float(value)


def _check_bins(bins: object) -> str | int:
    if isinstance(bins, str) and bins.isascii() and bins.isdigit():
        bins = int(bins)
    if isinstance(bins, str) and bins in ("sqrt", "ln"):
        return bins
    if isinstance(bins, bool) or not isinstance(bins, int) or not 1 <= bins <= LARGEST_BINS:
        raise BadInput(
            f"`bins` must be 'sqrt', 'ln' or a number from 1 to {LARGEST_BINS:,}, not {bins!r}."
        )
    return bins


def _check_between(
    name: str, above: float, largest: float, words: str, value: object
) -> float | None:
    if value is None:
        return None
    number = _check_number(name, value)
    if not above < number <= largest:
        raise BadInput(f"`{name}` must be {words}, not {value!r}.")
    return number


def _check_integer(name: str, largest: int, value: object) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= largest:
        raise BadInput(f"`{name}` must be a whole number from 1 to {largest:,}, not {value!r}.")
    return value


def _check_delta(delta: object) -> float | None:
    return None if delta is None else check_delta(delta)


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "adjacency": Adjacency.parse,
    "epsilon": check_epsilon,
    "delta": _check_delta,
    "c1": _check_c1,
    "c2": partial(_check_number, "c2"),
    "bins": _check_bins,
    "threshold": partial(_check_between, "threshold", 0, 100, "a positive number up to 100"),
    "growth": partial(_check_between, "growth", 1, 1000, "a number above 1 and up to 1000"),
    "stages": partial(_check_integer, "stages", 30),
    "candidates": partial(_check_integer, "candidates", 10_000_000),
}
