"""Can the model produce what was measured? The misfit, beside what it would be if so.

(T̃ − Nμ)′V⁻¹(T̃ − Nμ) has about a χ² distribution, but not quite: Laplace noise has heavier tails
than normal noise. So it is compared with sums that are simulated, noise and all: at the mode, which
is a little too kind, since θ was fitted to the very sums; and at draws of θ, a posterior predictive
check.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.inference.evidence import Evidence
from understudy.inference.mode import Mode
from understudy.inference.pool import Pool
from understudy.support.randomness import Source

Floats = NDArray[np.float64]

_SIMULATED = 10_000
_POOL = 8192
_DRAWS = 100
_DOUBTFUL = 0.01
"""How seldom a table from the model may fit as badly before readers are warned."""


@dataclass(frozen=True)
class Check:
    """How well the model explains what was measured."""

    chi2: float
    entries: int
    p_value: float
    """How often a table from the model at the mode would fit as badly as this one, or worse."""
    predictive_p_value: float
    """The same at draws of θ, each fitted neither to this table nor to the other."""

    @property
    def warning(self) -> str | None:
        """What readers must know, if the model cannot produce what was measured."""
        chance = min(self.p_value, self.predictive_p_value)
        if chance >= _DOUBTFUL:
            return None
        return (
            f"The model can hardly have produced what was measured: of tables from it, fewer than "
            f"1 in {_fewer(chance):,} would fit as badly. Estimates and intervals speak of the "
            f"model and may be wrong about people."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what `parameters.json` says of it."""
        return {**vars(self), "warning": self.warning}


def check(evidence: Evidence, mode: Mode, points: Floats, source: Source) -> Check:
    """Return how well the model explains what was measured.

    Args:
        evidence: What was measured.
        mode: The most plausible θ.
        points: Draws of θ, with log N where it is not known.
        source: Where randomness comes from.
    """
    misfits = np.sort(_simulated(evidence, mode, source.generator()))
    own = np.append(_misfits(evidence, mode, points, source), mode.misfit)
    beyond = len(misfits) - np.searchsorted(misfits, own)
    chances = (1 + beyond) / (1 + len(misfits))
    return Check(mode.misfit, len(evidence.values), float(chances[-1]), float(chances[:-1].mean()))


def p_value(evidence: Evidence, mode: Mode, generator: np.random.Generator) -> float:
    """Return how often a table from the model at the mode would fit as badly, or worse."""
    misfits = _simulated(evidence, mode, generator)
    return float((1 + np.sum(misfits >= mode.misfit)) / (1 + _SIMULATED))


def _misfits(evidence: Evidence, mode: Mode, points: Floats, source: Source) -> Floats:
    """Return how badly some draws of θ fit what was measured."""
    chosen = points[np.linspace(0, len(points) - 1, min(len(points), _DRAWS)).astype(int)]
    pool = Pool.around(evidence, mode, source, records=_POOL, draws=points)
    means = pool.means(chosen[:, : evidence.population.model.dimension])
    sizes = np.array([evidence.size(point) for point in chosen])
    rest = evidence.values - sizes[:, None] * means
    return np.asarray(np.sum((rest @ mode.weight) * rest, axis=1))


def _simulated(evidence: Evidence, mode: Mode, generator: np.random.Generator) -> Floats:
    """Return misfits of tables from the model, each at the very θ that it comes from."""
    covariance = mode.prediction.covariance
    spread, axes = np.linalg.eigh(covariance)
    shape = (_SIMULATED, len(covariance))
    sums = generator.normal(size=shape) * np.sqrt(np.maximum(spread, 0.0)) @ axes.T
    noise = generator.laplace(size=shape) * evidence.laplace
    normal = evidence.normal
    deviation = np.sqrt(evidence.variance[normal])
    noise[:, normal] = generator.normal(size=(_SIMULATED, len(deviation))) * deviation
    root = np.linalg.cholesky(covariance + np.diag(evidence.variance))
    return np.asarray(np.sum(np.linalg.solve(root, (sums + noise).T) ** 2, axis=0))


def _fewer(chance: float) -> int:
    """Return one in how many, as a round number."""
    return int(10 ** np.floor(-np.log10(chance)))
