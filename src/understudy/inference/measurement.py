"""What was measured: a sum of bounded contributions, with noise, and what defines it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.inference.contribution import Contribution

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Noise:
    """Whole numbers that were added to every entry of a sum."""

    scale: float
    """Of a discrete Laplace distribution, in units."""
    distribution = "discrete-laplace"

    @property
    def variance(self) -> float:
        """Its variance, in units squared."""
        return 2 * math.exp(-1 / self.scale) / math.expm1(-1 / self.scale) ** 2


@dataclass(frozen=True, eq=False)
class Measurement:
    """T̃ = Σ w(xᵢ) + noise: public, with everything that is needed to infer from it."""

    contribution: Contribution
    """w, a public function of a record."""
    noisy: NDArray[np.int64]
    """T̃, in units."""
    noise: Noise
    """What was added."""
    epsilon: float
    """What the round costs when a record is added or removed."""

    @property
    def values(self) -> Floats:
        """T̃, with 1 for a whole."""
        return self.noisy / self.contribution.units

    @property
    def laplace(self) -> Floats:
        """The scale of the noise of each entry, with 1 for a whole: √(variance / 2)."""
        return math.sqrt(self.noise.variance / 2) / self.contribution.units

    def to_dict(self) -> dict[str, Any]:
        """Return what `parameters.json` says of a round."""
        return {
            "kind": self.contribution.kind,
            "definition": self.contribution.to_dict(),
            "noisy": self.noisy.tolist(),
            "noise": {"distribution": self.noise.distribution, "scale": self.noise.scale},
            "epsilon": self.epsilon,
        }
