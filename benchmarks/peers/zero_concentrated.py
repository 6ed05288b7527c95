"""From (ε, δ) to the ρ of zero-concentrated differential privacy that implies it.

A mechanism that is ρ-zero-concentrated is (ε, δ)-private for every ε ≥ 0 with

    δ = min over α > 1 of exp((α − 1)(αρ − ε)) / (α − 1) · (1 − 1/α)^α

(Canonne, Kamath and Steinke 2020, corollary 13). The authors of AIM and MST state their results by
the same rule.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq, minimize_scalar


def log_delta(rho: float, epsilon: float) -> float:
    """Return the logarithm of the smallest δ of the rule."""

    def exponent(log_excess: float) -> float:
        excess = float(np.exp(log_excess))  # α − 1
        alpha = 1 + excess
        return excess * (alpha * rho - epsilon) - log_excess + alpha * np.log1p(-1 / alpha)

    # The exponent is convex in α − 1, so that it has one dip in its logarithm.
    found = minimize_scalar(exponent, bounds=(np.log(1e-4), np.log(1e6)), method="bounded")
    return min(0.0, float(found.fun))


def budget(epsilon: float, delta: float) -> float:
    """Return the largest ρ that implies (ε, δ), from below."""
    if not (epsilon > 0 and 0 < delta < 1):
        raise ValueError("ε must be positive, and δ between 0 and 1")
    # The rule gives δ < 1 only while ρ is below ε, roughly: there the search can end.
    target, top = np.log(delta), epsilon + 1
    found = brentq(lambda rho: log_delta(rho, epsilon) - target, 1e-12, top, rtol=1e-12)
    return float(found) * (1 - 1e-9)
