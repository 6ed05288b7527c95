"""One round of a summary: a sum over the confidential table, with noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy._jax import jnp
from understudy.domain.skeleton import in_order
from understudy.domain.tables import count_records
from understudy.inference.allowance import Allowance
from understudy.inference.contribution import Contribution
from understudy.inference.measurement import Measurement
from understudy.inference.moments import Population
from understudy.mechanisms.choosing import Choice
from understudy.mechanisms.noise import with_noise
from understudy.mechanisms.request import Request
from understudy.models.base import Model
from understudy.support.progress import stage


@dataclass(frozen=True, eq=False)
class Rounds:
    """What was measured, of whom, and where a fit may begin."""

    population: Population
    evidence: tuple[Measurement, ...]
    """What θ is inferred from."""
    near: np.ndarray | None
    """Where the last round was measured."""
    far: np.ndarray
    """Where a fit may begin if that leads nowhere."""
    margins: tuple[Measurement, ...] = ()
    """How public columns are weighted, where they are."""
    choices: tuple[Choice, ...] = ()
    """Which pairs were chosen, each before the measurement that followed from it."""

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """All that was measured, in order."""
        return (*self.margins, *self.evidence)

    @property
    def published(self) -> tuple[Measurement | Choice, ...]:
        """The same, with what was chosen in between."""
        if not self.choices:
            return self.measurements
        rest = zip(self.choices, self.evidence[1:], strict=True)
        return (*self.margins, self.evidence[0], *(each for pair in rest for each in pair))


def population_of(request: Request) -> Population:
    """Return whom the records are drawn from, as far as that is public."""
    assert request.model is not None
    skeleton = request.skeleton
    size = count_records(skeleton.public) if skeleton.copied else request.size
    return Population(request.model, in_order(skeleton.public), size, skeleton.copied)


def measure_sum(
    request: Request, contribution: Contribution, allowance: Allowance, name: str
) -> Measurement:
    """Sum over the confidential table and add noise: the only place that sees it."""
    with stage(request.progress, name):
        true, source = request.records.total(contribution.total), request.source
        if contribution.norm != allowance.norm:
            raise ValueError("noise that does not fit the norm by which contributions are bounded")
        noisy, noise = with_noise(
            true, sensitivity=contribution.bound, allowance=allowance, source=source
        )
    return Measurement(contribution, noisy, noise, allowance.epsilon, allowance.rho)


def coordinates(model: Model, theta: Mapping[str, Any]) -> np.ndarray:
    """Return the unconstrained coordinates of θ."""
    return np.asarray(model.unconstrain({name: jnp.asarray(v) for name, v in theta.items()}))
