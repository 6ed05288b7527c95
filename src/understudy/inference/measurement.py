"""What was measured: a sum of bounded contributions, with noise, and what defines it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.inference.contribution import Contribution

Floats = NDArray[np.float64]

LAPLACE, GAUSSIAN = "discrete-laplace", "discrete-gaussian"
_WIDE, _FURTHEST = 3.0, 40
LEAST = 0.02
"""Inference takes noise to be at least this, in records: without any, covariances are singular."""


@dataclass(frozen=True)
class Noise:
    """Whole numbers that were added to every entry of a sum."""

    scale: float
    """In units: b of P(k) ∝ exp(−|k|/b), or σ of P(k) ∝ exp(−k²/2σ²)."""
    distribution: str = LAPLACE
    """`discrete-laplace` or `discrete-gaussian`."""

    @property
    def variance(self) -> float:
        """Its variance, in units squared."""
        if self.distribution == GAUSSIAN:
            if self.scale > _WIDE:
                return self.scale**2  # Less by a share below 10⁻¹⁵.
            steps = np.arange(-_FURTHEST, _FURTHEST + 1)
            return float(np.average(steps**2, weights=np.exp(-0.5 * (steps / self.scale) ** 2)))
        decay = math.exp(-1 / self.scale)
        return 2 * decay / math.expm1(-1 / self.scale) ** 2

    def to_dict(self) -> dict[str, Any]:
        """Return what `parameters.json` says of it."""
        return {"distribution": self.distribution, "scale": self.scale}


@dataclass(frozen=True, eq=False)
class Measurement:
    """T̃ = Σ w(xᵢ) + noise: public, with everything that is needed to infer from it."""

    contribution: Contribution
    """w, a public function of a record."""
    noisy: NDArray[np.int64]
    """T̃, in units."""
    noise: Noise
    """What was added."""
    epsilon: float | None
    """What the round costs when a record is added or removed; None where only ρ is known."""
    rho: float | None = None
    """The same for normal noise."""

    @property
    def values(self) -> Floats:
        """T̃, with 1 for a whole."""
        return self.noisy / self.contribution.units

    @property
    def laplace(self) -> Floats:
        """The scale of Laplace noise that varies as much in each entry, with 1 for a whole."""
        return np.maximum(math.sqrt(self.noise.variance / 2) / self.contribution.units, LEAST)

    @property
    def normal(self) -> bool:
        """Whether the noise is normal."""
        return self.noise.distribution == GAUSSIAN

    def to_dict(self) -> dict[str, Any]:
        """Return what `parameters.json` says of a round."""
        rho = {} if self.rho is None else {"rho": self.rho}
        return {
            "kind": self.contribution.kind,
            "definition": self.contribution.to_dict(),
            "noisy": self.noisy.tolist(),
            "noise": self.noise.to_dict(),
            "epsilon": self.epsilon,
        } | rho
