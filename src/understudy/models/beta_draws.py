"""Beta variables, many of the same shapes at once: exact, and in half the time that NumPy takes.

NumPy draws each from two Gamma variables, one after the other. Here whole arrays are transformed,
which processors do several at a time. For a, b ≥ 1, Cheng's algorithm BB (Communications of the
ACM 21 (1978) 317–322) rejects from a log-logistic envelope: with p = min(a, b), q = max(a, b),
s = p + q and U₁, U₂ uniform,

    V = log(U₁ / (1 − U₁)) / γ,    γ = √((2pq − s) / (s − 2)),    W = p e^V,

is accepted where s log(s / (q + W)) + (p + γ) V − log 4 ≥ log(U₁² U₂), which at least two thirds
are; then W / (q + W) ~ Beta(p, q). A shape below 1 is taken out first, since for E ~ Exp(1)

    e^{−E/a} B ~ Beta(a, b),    B ~ Beta(a + 1, b − 1)    independent of E,

which serves where b ≥ 2. NumPy draws what is left over.
"""

from __future__ import annotations

import numpy as np

from understudy.models.balance import Floats

_TRIED = 16_384
"""Variables that are tried at once: so many arrays of them stay close to the processor."""
_LARGEST_SHAPE = 1e6
"""Beyond it the acceptance would be a small difference of large numbers."""


def beta_draws(generator: np.random.Generator, a: float, b: float, rows: int) -> Floats:
    """Return independent draws from Beta(a, b).

    Args:
        generator: Where chance comes from.
        a: The shape that pulls towards 1.
        b: The shape that pulls towards 0.
        rows: How many.
    """
    if not max(a, b) <= _LARGEST_SHAPE:
        return generator.beta(a, b, rows)
    if min(a, b) >= 1 and a + b > 2:
        return _rejected(generator, a, b, rows)
    if a < 1 and b >= 2:
        return _powers(generator, a, rows) * _rejected(generator, a + 1, b - 1, rows)
    if b < 1 and a >= 2:
        return 1 - _powers(generator, b, rows) * _rejected(generator, b + 1, a - 1, rows)
    return generator.beta(a, b, rows)


def _powers(generator: np.random.Generator, a: float, rows: int) -> Floats:
    """Return draws of e^{−E/a}, which is Beta(a, 1)."""
    with np.errstate(over="ignore", under="ignore"):
        return np.exp(generator.standard_exponential(rows) / -a)


def _rejected(generator: np.random.Generator, a: float, b: float, rows: int) -> Floats:
    """Return draws for shapes of 1 or more, which are not both 1."""
    draws, found = np.empty(rows), 0
    while found < rows:
        accepted = _accepted(generator, a, b)[: rows - found]
        draws[found : found + len(accepted)] = accepted
        found += len(accepted)
    return draws


def _accepted(generator: np.random.Generator, a: float, b: float) -> Floats:
    """Return those of some tried variables that are accepted."""
    p, q, s = min(a, b), max(a, b), a + b
    steepness = np.sqrt((2 * p * q - s) / (s - 2))
    u = generator.random(_TRIED)
    # log 0 is the limit that it should be: such a variable is accepted as 0, the end of its range.
    with np.errstate(divide="ignore"):
        v = np.log(u / (1 - u)) / steepness
        w = p * np.exp(v)
        whole = q + w
        margin = np.log(u * u * generator.random(_TRIED))
    accepted = s * np.log(s / whole) + (p + steepness) * v - np.log(4) >= margin
    return ((w if a <= b else q) / whole)[accepted]
