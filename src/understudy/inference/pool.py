"""A pool of simulated records that stands for any θ nearby, reweighted by p_θ(x) / q(x).

q is the mixture of the several θ that the pool was simulated from: the mode, and others as far from
it as the normal around the mode goes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from understudy.inference.evidence import Evidence
from understudy.inference.mode import Mode
from understudy.inference.moments import Simulated, dense
from understudy.support.randomness import Source

Floats = NDArray[np.float64]

_COMPONENTS = 8
_BLOCK = 64


@dataclass(frozen=True)
class Pool:
    """Simulated records that stand for any θ nearby."""

    records: Simulated
    contributions: Floats
    log_density: Floats
    """log q of each record."""
    correction: Floats
    """What the mean at the mode, estimated with a control variate, adds to the pool's own."""

    @classmethod
    def around(
        cls,
        evidence: Evidence,
        mode: Mode,
        source: Source,
        *,
        records: int,
        draws: Floats | None = None,
    ) -> Pool:
        """Return a pool of about so many records, from the mode and some draws, if there are."""
        # Fixed rows would have to be simulated all of them for each θ; the correction puts right
        # what rows at random are off at the mode.
        population, generator = replace(evidence.population, known=False), source.generator()
        if draws is None:
            spread = np.linalg.cholesky(mode.covariance)
            others = mode.point + generator.normal(size=(_COMPONENTS - 1, len(spread))) @ spread.T
        else:
            others = draws[np.linspace(0, len(draws) - 1, _COMPONENTS - 1).astype(int)]
        places = np.array([evidence.position(p) for p in (mode.point, *others)])
        parts = [population.simulate(z, source, records // _COMPONENTS) for z in places]
        pooled = Simulated.pooled(parts)
        values = dense(pooled.contributions(evidence.contributions))
        mixture = logsumexp(pooled.loglik(places), axis=0) - np.log(_COMPONENTS)
        pool = cls(pooled, values, mixture, np.zeros(1))
        own = mode.prediction.mean / evidence.size(mode.point)
        return replace(pool, correction=own - pool.means(places[:1])[0])

    def means(self, z: Floats) -> Floats:
        """Return μ(θ) for each row of unconstrained coordinates."""
        # Some rows at a time: their weights stay in the cache, and are changed in their place.
        blocks = [self._means(z[k : k + _BLOCK]) for k in range(0, len(z), _BLOCK)]
        return np.concatenate(blocks) + self.correction

    def _means(self, z: Floats) -> Floats:
        weight = self.records.loglik(z)
        weight -= self.log_density
        weight -= weight.max(axis=1, keepdims=True)
        np.exp(weight, out=weight)
        return np.asarray((weight @ self.contributions) / weight.sum(axis=1, keepdims=True))

    def slope(self, z: Floats) -> Floats:
        """Return ∂μ/∂z at unconstrained coordinates, as the pool itself has it."""
        ratio = self.records.loglik(z[None])[0] - self.log_density
        weight = np.exp(ratio - ratio.max())
        weight /= weight.sum()
        scores = self.records.slopes(z)
        both = self.contributions.T @ (scores * weight[:, None])
        return np.asarray(both - np.outer(weight @ self.contributions, weight @ scores))
