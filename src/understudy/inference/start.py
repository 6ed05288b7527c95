"""Where a fit begins: each coordinate in turn is moved over the prior's range while it helps.

At the prior's centre a model may predict something so far from what was measured that slopes there
point nowhere. Heights need no slopes and few records, so many places can be tried.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from understudy.inference.evidence import Evidence
from understudy.samplers.proposals import prior_proposal
from understudy.support.randomness import Source

Floats = NDArray[np.float64]

_STRIDES = (-2.0, -1.0, -0.5, -0.25, 0.25, 0.5, 1.0, 2.0)
"""In standard deviations of the prior."""
_SWEEPS = 3
_RECORDS = 2048
_HEAT = 0.01
"""Share of the declared size by which the misfit is divided, so that the prior has a say."""
_GAIN = 0.5
"""By how much a move has to help; less may be simulation alone."""


def starting_point(evidence: Evidence, source: Source) -> Floats:
    """Return a point from which a fit can go on by its slopes."""
    proposal = prior_proposal(evidence.population.model)
    point, spread = proposal.centre, np.sqrt(np.sum(proposal.root**2, axis=1))
    seed = int(source.generator().integers(2**62))
    # Predictors that are fixed would have to be simulated row by row, for nothing.
    loose = replace(evidence, population=replace(evidence.population, known=False))
    heat = max(_HEAT * evidence.population.size, 1.0)

    def height(z: Floats) -> float:
        simulated = loose.population.simulate(z, Source(seed), _RECORDS)
        mean = simulated.contributions(evidence.contributions).mean(axis=0)
        misfit = evidence.rough(evidence.population.size * mean)[1] / heat
        total = misfit - loose.log_prior(loose.with_size(z)[None])[0]
        return float(total) if np.isfinite(total) else np.inf

    lowest = height(point)
    for _ in range(_SWEEPS):
        before = lowest
        for axis in range(len(point)):
            trials = [point + np.eye(len(point))[axis] * s * spread[axis] for s in _STRIDES]
            heights = [height(trial) for trial in trials]
            best = int(np.argmin(heights))
            if heights[best] < lowest - _GAIN:
                point, lowest = trials[best], heights[best]
        if lowest > before - _GAIN:
            break
    return evidence.with_size(point)
