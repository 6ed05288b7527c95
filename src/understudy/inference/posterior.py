"""The posterior of θ given what was published: an estimate, draws, and a check of the model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy._jax import jax
from understudy.inference.check import Check, check, p_value
from understudy.inference.contribution import ScoreContribution
from understudy.inference.draws import posterior_draws
from understudy.inference.evidence import Evidence
from understudy.inference.mode import RECORDS, Mode, find_mode
from understudy.inference.refined import refined
from understudy.models.base import GRID, Model, Theta
from understudy.support.randomness import Source

Floats = NDArray[np.float64]

_LITTLE = 50.0
"""Records for each parameter, in units of the noise, below which little was told of it."""
_DOUBTFUL = 1e-3
"""A misfit that is less likely than this calls for another attempt."""
_SMALLER, _MORE, _FURTHER_ATTEMPTS = 4, 4, 2
"""By how much steps get smaller and records more where a fit did not settle, and how often."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """What is known of θ."""

    evidence: Evidence
    mode: Mode
    points: Floats
    """Draws, in unconstrained coordinates and log N where it is not known."""
    sampler: str
    """How they were drawn."""
    attempts: int
    """Fits that were made, the best of which is this."""
    check: Check
    """Whether the model can produce what was measured."""

    @property
    def fit(self) -> dict[str, Any]:
        """How it was found, for the report."""
        steps, settled = self.mode.steps, self.mode.settled
        told = {"attempts": self.attempts, "steps": steps, "settled": settled}
        return told | {"sampler": self.sampler}

    @property
    def dependences(self) -> None:
        """Of columns in turn alone."""
        return None

    @property
    def directions(self) -> int | None:
        """In how many directions scores were measured; None where tables were."""
        last = self.evidence.contributions[-1]
        return len(last.directions) if isinstance(last, ScoreContribution) else None

    @property
    def estimate(self) -> Floats:
        """The mean of the draws or the mode, in unconstrained coordinates.

        The mean takes Laplace noise as it is. But where little was told of each parameter, the
        posterior is so wide in some directions that its mean makes far worse tables than the mode;
        and of a whole table's parameters there are too few draws for a mean.
        """
        model = self.evidence.population.model
        little = self.sampler != "importance" and self.evidence.told < _LITTLE * model.dimension
        if model.by_tables or little:
            return self.evidence.position(self.mode.point)
        return np.asarray(self.positions.mean(axis=0))

    @property
    def positions(self) -> Floats:
        """The draws, in unconstrained coordinates."""
        return self.points[:, : self.evidence.population.model.dimension]

    @cached_property
    def natural(self) -> dict[str, Floats]:
        """θ by name, on the public grid: of the estimate first, then of each draw."""
        model = self.evidence.population.model
        z = on_grid(np.vstack([self.estimate, self.positions]))
        return {name: np.asarray(value) for name, value in _natural(model, z).items()}

    @property
    def thetas(self) -> list[dict[str, Any]]:
        """The same one by one."""
        listed = {name: values.tolist() for name, values in self.natural.items()}
        return [dict(zip(listed, each, strict=True)) for each in zip(*listed.values(), strict=True)]


def on_grid(z: Floats) -> Floats:
    """Return unconstrained coordinates on the public grid, as `Model.round_to_grid` does."""
    return np.asarray(np.round(z / GRID) * GRID)


@partial(jax.jit, static_argnames="model")
def _natural(model: Model, z: jax.Array) -> Theta:
    return jax.vmap(model.constrain)(z)


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
    generator = source.generator()
    modes: list[Mode] = []
    starts = [(far, True)] if near is None else [(near, False), (far, True)]
    for start, hot in starts:
        modes.append(find_mode(evidence, start, source, records=RECORDS, hot=hot))
        if modes[-1].settled and p_value(evidence, modes[-1], generator) > _DOUBTFUL:
            break
    best = min(modes, key=lambda mode: mode.height)
    for k in range(1, _FURTHER_ATTEMPTS + 1):
        if best.settled:
            break
        more = {"records": RECORDS * _MORE**k, "reach": _SMALLER**-k}
        modes.append(find_mode(evidence, best.point, source, hot=False, **more))
        best = modes[-1]
    best = refined(evidence, best, source)
    drawn = posterior_draws(evidence, best, source, count=draws)
    best, attempts = drawn.mode, len(modes) + len(drawn.modes) - 1
    checked = check(evidence, best, drawn.points, source)
    return Posterior(evidence, best, drawn.points, drawn.sampler, attempts, checked)
