"""The most plausible θ, by damped Gauss–Newton steps over simulated records.

Fitted to precise counts from the prior's centre, such steps run away. So the fit begins hot: misfit
is judged round by round, divided by about the number of records, and cooled by a factor at a time.
The last steps use the covariance that θ predicts, overlaps included, with its determinant. A step
that does not help is shortened; simulated records share their random numbers, so that heights can
be compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.inference.evidence import Evidence, Prediction
from understudy.support.randomness import Source

Floats = NDArray[np.float64]

RECORDS = 8192
"""Simulated records of an ordinary fit."""
_COOLING = 6.0
_HOT_STEPS, _COLD_STEPS = 3, 15
_LONGEST_STEP = 2.0
_FIRST_DAMPING, _LEAST_DAMPING, _MOST_DAMPING = 1e-3, 1e-6, 1e3
_SLACK = 0.05
"""A height may rise by so much, which is what simulation leaves open."""
_WHOLE_STEPS, _WHOLE = 3, 1.0
_NEAR, _THERE = 0.5, 0.1
"""Length of a step, in posterior standard deviations, after which a fit goes on, or ends."""

Weigh = Callable[[Prediction], tuple[Floats, float]]
"""Gives the inverse covariance of the misfit at a prediction, and the height of the objective."""


@dataclass(frozen=True)
class Mode:
    """Where a fit ended."""

    prediction: Prediction
    weight: Floats
    """V⁻¹, the inverse covariance of the misfit."""
    precision: Floats
    """Of the normal distribution around the mode."""
    misfit: float
    """(T̃ − Nμ)′V⁻¹(T̃ − Nμ): about as many as there are entries, less parameters that were fitted,
    if the model can produce what was measured."""
    height: float
    """Minus the log of the posterior density, up to a constant."""
    records: int
    """About how many were simulated for each step."""
    steps: int
    settled: bool
    """Whether the last step was short."""

    @property
    def point(self) -> Floats:
        """Unconstrained coordinates, and log N where it is not known."""
        return self.prediction.point

    @property
    def simulation(self) -> float:
        """Largest share of any posterior variance that is due to simulation.

        With the slope J, the covariance V of the misfit and the precision P the estimate moves by
        P⁻¹J′V⁻¹ times what the mean is off: its covariance is compared with P⁻¹.
        """
        here = self.prediction
        pull = here.slope.T @ self.weight
        root = np.linalg.cholesky(self.precision)
        moved = np.linalg.solve(root, pull)
        return float(np.linalg.eigvalsh(moved @ here.doubt @ moved.T)[-1])

    @property
    def covariance(self) -> Floats:
        """Of the normal distribution around the mode."""
        return np.asarray(np.linalg.inv(self.precision), dtype=np.float64)


def find_mode(
    evidence: Evidence,
    start: Floats,
    source: Source,
    *,
    records: int,
    hot: bool = True,
    reach: float = 1.0,
) -> Mode:
    """Return the mode that is reached from a point.

    Args:
        evidence: What was measured.
        start: Where the fit begins.
        source: Where randomness comes from.
        records: About how many records are simulated for each step.
        hot: Whether the start may be far off.
        reach: Share of the usual longest step that a step may have.
    """
    seed = int(source.generator().integers(2**62))
    here, steps = evidence.predict(start, seed, records), 0
    levels = max(math.ceil(math.log(evidence.population.size, _COOLING)), 1) if hot else 0
    descent = _Descent(evidence, seed, records, reach * _LONGEST_STEP)
    for level in reversed(range(levels)):
        weigh = _rough_weight(evidence, _COOLING**level)
        limit, enough = (_HOT_STEPS, _NEAR) if level else (_COLD_STEPS, _THERE)
        here, took, _ = descent.run(here, weigh, limit, enough)
        steps += took
    here, took, settled = descent.run(here, _own_weight(evidence), _COLD_STEPS, _THERE)
    return _ended(evidence, here, records, steps + took, settled=settled)


def approached(evidence: Evidence, mode: Mode, source: Source, *, records: int) -> Mode:
    """Return where a few whole steps lead, each from so many records that few can be afforded.

    Near enough to the mode a step needs no trial: it is that of a linear model. Trials would
    only compare what simulation leaves open at one point with what it leaves open at another, which
    is also why no step gets much shorter than a posterior standard deviation.
    """
    seed = int(source.generator().integers(2**62))
    here = evidence.predict(mode.point, seed, records)
    for number in range(_WHOLE_STEPS):
        step, length = _step(evidence, here, _own_weight(evidence)(here)[0], damping=0.0)
        if length < _WHOLE:
            return _ended(evidence, here, records, number, settled=True)
        here = evidence.predict(here.point + step, seed, records)
    return _ended(evidence, here, records, _WHOLE_STEPS, settled=False)


def around(evidence: Evidence, point: Floats, source: Source, *, records: int) -> Mode:
    """Return what a fit that ended at this point would say, from about so many records."""
    seed = int(source.generator().integers(2**62))
    return _ended(evidence, evidence.predict(point, seed, records), records, 0, settled=True)


def _ended(
    evidence: Evidence, here: Prediction, records: int, steps: int, *, settled: bool
) -> Mode:
    weight, height = _own_weight(evidence)(here)
    rest = evidence.values - here.mean
    precision = here.slope.T @ weight @ here.slope + here.precision
    misfit = float(rest @ weight @ rest)
    return Mode(here, weight, precision, misfit, height, records, steps, settled)


@dataclass(frozen=True)
class _Descent:
    evidence: Evidence
    seed: int
    records: int
    longest: float

    def run(
        self, here: Prediction, weigh: Weigh, limit: int, enough: float
    ) -> tuple[Prediction, int, bool]:
        """Return where at most so many steps lead, how many it took, and whether it settled."""
        damping = _FIRST_DAMPING
        weight, height = weigh(here)
        for number in range(1, limit + 1):
            step, length = _step(self.evidence, here, weight, damping, self.longest)
            there = self.evidence.predict(here.point + step, self.seed, self.records)
            weight_there, height_there = weigh(there)
            if height_there < height + _SLACK:
                here, weight, height = there, weight_there, height_there
                damping = max(damping / 5, _LEAST_DAMPING)
                if length < enough:
                    return here, number, True
            else:
                damping *= 10
                if damping > _MOST_DAMPING:
                    return here, number, True
        return here, limit, False


def _step(
    evidence: Evidence,
    here: Prediction,
    weight: Floats,
    damping: float,
    longest: float = _LONGEST_STEP,
) -> tuple[Floats, float]:
    """Return a step of Gauss and Newton, and its length in posterior standard deviations."""
    curvature = here.slope.T @ weight @ here.slope + here.precision
    rest = evidence.values - here.mean
    pull = here.slope.T @ weight @ rest + here.gradient
    damped = curvature + damping * np.diag(np.diag(curvature))
    step = np.asarray(np.linalg.solve(damped, pull), dtype=np.float64)
    step *= min(1.0, longest / np.abs(step).max())
    return step, math.sqrt(step @ curvature @ step / len(step))


def _rough_weight(evidence: Evidence, heat: float) -> Weigh:
    def weigh(prediction: Prediction) -> tuple[Floats, float]:
        weights, height = evidence.rough(prediction.mean)
        return np.diag(weights) / heat, height / heat - prediction.log_prior

    return weigh


def _own_weight(evidence: Evidence) -> Weigh:
    def weigh(prediction: Prediction) -> tuple[Floats, float]:
        covariance = prediction.covariance + np.diag(evidence.variance)
        weight: Floats = np.asarray(np.linalg.inv(covariance), dtype=np.float64)
        rest = evidence.values - prediction.mean
        height = rest @ weight @ rest + np.linalg.slogdet(covariance)[1]
        return weight, 0.5 * float(height) - prediction.log_prior

    return weigh
