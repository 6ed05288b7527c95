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
_FEW_PARAMETERS = 10
_NEWTON_STEPS = 20
_FURTHEST, _WIDEST, _WIDEN = 10.0, 4.5, 1.5
"""A prior without a mode is kept within bounds; its standard deviations are made wider."""
_RECORDS = 2048
_HEAT = 0.01
"""Share of the declared size by which the misfit is divided, so that the prior has a say."""
_GAIN = 0.5
"""By how much a move has to help; less may be simulation alone."""


def starting_point(evidence: Evidence, source: Source) -> Floats:
    """Return a point from which a fit can go on by its slopes."""
    point, spread = _prior_shape(evidence)
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


def middle_of_prior(evidence: Evidence) -> Floats:
    """Return a point in the middle of the prior."""
    return evidence.with_size(_prior_shape(evidence)[0])


def _prior_shape(evidence: Evidence) -> tuple[Floats, Floats]:
    """Return about the middle of the prior and its standard deviations, without a chain.

    Of few parameters they are had from weighted draws. Of many, Newton's steps lead to the mode.
    """
    model = evidence.population.model
    if model.dimension <= _FEW_PARAMETERS:
        proposal = prior_proposal(model)
        return proposal.centre, np.sqrt(np.sum(proposal.root**2, axis=1))
    alone = Evidence(replace(evidence.population, known=True), ())
    z = np.zeros(model.dimension)
    for _ in range(_NEWTON_STEPS):
        _, gradient, precision = alone.prior(z)
        z = z + np.clip(np.linalg.solve(precision, gradient), -1.0, 1.0)
    spread = np.sqrt(np.diag(np.linalg.inv(alone.prior(z)[2])))
    return np.clip(z, -_FURTHEST, _FURTHEST), _WIDEN * np.minimum(spread, _WIDEST)
