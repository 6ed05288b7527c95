"""The posterior of θ given what was published: an estimate, draws, and a check of the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy._jax import jnp
from understudy.inference.check import p_value
from understudy.inference.draws import posterior_draws
from understudy.inference.evidence import Evidence
from understudy.inference.mode import Mode, find_mode
from understudy.support.randomness import Source

Floats = NDArray[np.float64]

RECORDS = 8192
"""Simulated records of an ordinary fit."""
_MANY_PER_RECORD, _FEW_PER_RECORD = 16, 4
"""Simulated records for each of the table's, so that simulation leaves little open."""
_MANY, _MOST = 2**17, 2**19
"""Up to so many records there are many for each of the table's, and never more than the last."""
_DOUBTFUL = 1e-3
"""A misfit that is less likely than this calls for another attempt."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """What is known of θ."""

    evidence: Evidence
    mode: Mode
    points: Floats
    """Draws, in unconstrained coordinates and log N where it is not known."""
    attempts: int
    """Fits that were made, the best of which is this."""
    p_value: float
    """How often a table from the model would fit as badly as this one, or worse."""

    @property
    def estimate(self) -> Floats:
        """The mean of the draws, in unconstrained coordinates."""
        return self.positions.mean(axis=0)

    @property
    def positions(self) -> Floats:
        """The draws, in unconstrained coordinates."""
        return self.points[:, : self.evidence.population.model.dimension]

    def theta(self, z: Floats) -> dict[str, Any]:
        """Return θ by name at unconstrained coordinates, rounded to the public grid."""
        model = self.evidence.population.model
        values = model.constrain(model.round_to_grid(jnp.asarray(z)))
        return {name: np.asarray(value).tolist() for name, value in values.items()}


def infer(
    evidence: Evidence, near: Floats | None, far: Floats, source: Source, *, draws: int
) -> Posterior:
    """Return the posterior, found from a point that should be near, or else from afar.

    Args:
        evidence: What was measured.
        near: Where the last round was measured, if that is known.
        far: Where a second attempt begins, if the first one leads nowhere.
        source: Where randomness comes from.
        draws: How many draws of θ.
    """
    size, generator = evidence.population.size, source.generator()
    modes: list[Mode] = []
    starts = [(far, True)] if near is None else [(near, False), (far, True)]
    for start, hot in starts:
        modes.append(find_mode(evidence, start, source, records=RECORDS, hot=hot))
        if modes[-1].settled and p_value(evidence, modes[-1], generator) > _DOUBTFUL:
            break
    best = min(modes, key=lambda mode: mode.height)
    records = max(min(_MANY_PER_RECORD * size, _MANY), min(_FEW_PER_RECORD * size, _MOST))
    if records > RECORDS:
        best = find_mode(evidence, best.point, source, records=records, hot=False)
    points = posterior_draws(evidence, best, source, count=draws)
    return Posterior(evidence, best, points, len(modes), p_value(evidence, best, generator))
