"""Can the model produce what was measured? The misfit, beside what it would be if so.

(T̃ − Nμ)′V⁻¹(T̃ − Nμ) has about a χ² distribution, but not quite: Laplace noise has heavier tails
than normal noise. So it is compared with sums that are simulated at the mode, noise and all. That θ
was fitted to the very sums makes the check a little too kind.
"""

from __future__ import annotations

import numpy as np

from understudy.inference.evidence import Evidence
from understudy.inference.mode import Mode

_SIMULATED = 10_000


def p_value(evidence: Evidence, mode: Mode, generator: np.random.Generator) -> float:
    """Return how often a table from the model at the mode would fit as badly, or worse."""
    covariance = mode.prediction.covariance
    spread, axes = np.linalg.eigh(covariance)
    shape = (_SIMULATED, len(covariance))
    sums = generator.normal(size=shape) * np.sqrt(np.maximum(spread, 0.0)) @ axes.T
    noise = generator.laplace(size=shape) * evidence.laplace
    normal = evidence.normal
    deviation = np.sqrt(evidence.variance[normal])
    noise[:, normal] = generator.normal(size=(_SIMULATED, len(deviation))) * deviation
    root = np.linalg.cholesky(covariance + np.diag(evidence.variance))
    misfits = np.sum(np.linalg.solve(root, (sums + noise).T) ** 2, axis=0)
    return float((1 + np.sum(misfits >= mode.misfit)) / (1 + _SIMULATED))
