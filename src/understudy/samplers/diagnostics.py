"""Have the chains converged? R-hat and bulk effective sample size, by ArviZ.

The gate asks for R-hat ≤ 1.01 and ESS ≥ 400 (Vehtari et al. 2021, doi:10.1214/20-BA1221) of

- the log target and the record log-likelihood at a few fixed public points, which see the
  distribution that θ describes and not how its components are numbered;
- every parameter, where an array also passes when its sorted elements do, so that the components
  of a mixture may swap their labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from understudy._jax import jax, jnp

if TYPE_CHECKING:
    from understudy.models.base import Data, Model

LARGEST_RHAT = 1.01
SMALLEST_ESS = 400
_PUBLIC_POINTS = 5


@dataclass(frozen=True)
class Convergence:
    """R-hat and bulk ESS of each quantity that the gate looks at."""

    names: tuple[str, ...]
    rhat: np.ndarray
    ess_bulk: np.ndarray
    relabelled: frozenset[str]
    """Parameters that pass by their sorted elements only."""
    divergences: int

    def failing(self, smallest_ess: float = SMALLEST_ESS) -> tuple[str, ...]:
        """Return the names of the quantities that have not converged."""
        good = (self.rhat <= LARGEST_RHAT) & (self.ess_bulk >= smallest_ess)
        return tuple(
            name
            for name, passes in zip(self.names, good, strict=True)
            if not passes and name not in self.relabelled
        )


def rhat_and_ess(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return R-hat and bulk ESS of quantities, shape (chains, draws, quantities).

    A quantity that never changes is known exactly: R-hat 1, with as many effective draws as draws.
    """
    from arviz_stats.base import array_stats

    chains, draws, count = values.shape
    rhat, ess = np.ones(count), np.full(count, float(chains * draws))
    moving = np.ptp(values, axis=(0, 1)) > 0
    if moving.any():
        rhat[moving] = array_stats.rhat(values[..., moving], chain_axis=0, draw_axis=1)
        ess[moving] = array_stats.ess(values[..., moving], chain_axis=0, draw_axis=1, method="bulk")
    return rhat, ess


def judge(
    model: Model, z: jax.Array, log_targets: jax.Array, divergences: int
) -> tuple[Convergence, dict[str, np.ndarray]]:
    """Judge draws of shape (chains, draws, dimension); also return θ by name for each draw."""
    points = model.prepare(model.schema.public_points(_PUBLIC_POINTS))
    theta, loglik = _derived(model, z, points)
    names, columns = ["log target"], [np.asarray(log_targets)[..., None]]
    names += [f"log-likelihood at public point {k + 1}" for k in range(_PUBLIC_POINTS)]
    columns.append(np.nan_to_num(np.asarray(loglik), posinf=0.0, neginf=0.0))
    relabelled: set[str] = set()
    by_name: dict[str, np.ndarray] = {}
    for parameter in model.parameters:
        values = np.asarray(theta[parameter.name])
        by_name[parameter.name] = values
        flat = values.reshape(*values.shape[:2], -1)
        names += parameter.element_names
        columns.append(flat)
        if parameter.shape and _passes(np.sort(values, axis=2).reshape(flat.shape)):
            relabelled.update(parameter.element_names)
    rhat, ess = rhat_and_ess(np.concatenate(columns, axis=-1))
    return Convergence(tuple(names), rhat, ess, frozenset(relabelled), divergences), by_name


def _passes(values: np.ndarray) -> bool:
    rhat, ess = rhat_and_ess(values)
    return bool(np.all(rhat <= LARGEST_RHAT) and np.all(ess >= SMALLEST_ESS))


@partial(jax.jit, static_argnames="model")
def _derived(model: Model, z: jax.Array, points: Data) -> tuple[dict[str, jax.Array], jax.Array]:
    def one(position: jax.Array) -> tuple[dict[str, jax.Array], jax.Array]:
        theta = model.constrain(position)
        return theta, model.record_loglik(theta, points)

    chains, draws, dimension = z.shape
    theta, loglik = jax.lax.map(one, z.reshape(-1, dimension), batch_size=64)
    shaped = {k: jnp.reshape(v, (chains, draws, *v.shape[1:])) for k, v in theta.items()}
    return shaped, jnp.reshape(loglik, (chains, draws, -1))
