"""What a round of measurements may cost, and how much its noise varies then.

    ε    discrete Laplace noise of scale C/ε,                 ‖w‖₁ ≤ C,    variance about 2(C/ε)²
    ρ    discrete Gaussian noise of deviation C/√(2ρ),        ‖w‖₂ ≤ C,    variance about C²/(2ρ)

With `rate` ε in the first line and 2√ρ in the second, both variances are 2(C/rate)². Of k tables
alike, C is k by the first norm and √k by the second, which is what normal noise is worth where a
record has many entries.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Allowance:
    """ε or ρ, one of them, when a record is added or removed."""

    epsilon: float | None = None
    """For Laplace noise."""
    rho: float | None = None
    """For normal noise."""

    def __post_init__(self) -> None:
        if (self.epsilon is None) == (self.rho is None):
            raise ValueError("an allowance is either epsilon or rho")

    @property
    def norm(self) -> int:
        """By which norm contributions have to be bounded."""
        return 1 if self.rho is None else 2

    @property
    def amount(self) -> float:
        """The number itself, which adds up over rounds."""
        return float(self.epsilon if self.rho is None else self.rho)  # type: ignore[arg-type]

    @property
    def rate(self) -> float:
        """The ε at which Laplace noise, for the same C, would vary as much."""
        return self.amount if self.rho is None else 2 * math.sqrt(self.rho)

    def variance(self, bound: float) -> float:
        """Return the variance of the noise that contributions up to a bound C need."""
        return 2 * (bound / self.rate) ** 2

    def information(self, size: float, *, among: int) -> float:
        """Return rate × size / C for so many tables alike: records, in units of their noise."""
        return self.rate * size / float(among) ** (1 / self.norm)

    def split(self, share: float) -> tuple[Allowance, Allowance]:
        """Return that share of it, and the rest.

        Args:
            share: The first one's share of ε, or of ρ.
        """
        first = self.amount * share
        return self._like(first), self._like(self.amount - first)

    def split_accuracy(self, share: float) -> tuple[Allowance, Allowance]:
        """Return two whose deviations are to each other as those of shares of ε would be.

        Deviations go like 1/ε, but like 1/√ρ. So ρ is split like the squares of the shares, s² to
        (1 − s)²: the rounds stay as accurate relative to each other. Both are more accurate than
        by those shares of the rate, which is s and 1 − s of it, divided by √(s² + (1 − s)²) < 1.

        Args:
            share: The first one's share, if ε were shared.
        """
        if self.rho is not None:
            share = share**2 / (share**2 + (1 - share) ** 2)
        return self.split(share)

    def _like(self, amount: float) -> Allowance:
        return Allowance(epsilon=amount) if self.rho is None else Allowance(rho=amount)


def together(allowances: Sequence[Allowance]) -> Allowance:
    """Return what several rounds may cost in all; they are all ε, or all ρ."""
    amount = sum(each.amount for each in allowances)
    return allowances[0]._like(amount)
