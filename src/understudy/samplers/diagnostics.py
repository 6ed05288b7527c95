"""Have the chains converged? R-hat and bulk effective sample size, by ArviZ.

The gate lets at most one draw in a hundred come from a trajectory that diverged, and it asks for
R-hat ≤ 1.01 and ESS ≥ 400 (Vehtari et al. 2021, doi:10.1214/20-BA1221) of

- the log target and the record log-likelihood at fixed public points spread over the declared
  domain, which see the distribution that θ describes and not how its components are numbered;
- every parameter. Where the elements of arrays can be renumbered together without changing prior
  or likelihood, as the components of a mixture can, those arrays are judged by their sorted
  elements: chains may disagree about labels.

A gate can show that chains have not converged, never that they have: all of them may sit in one of
two wells. So what it lets through is promised on condition (`privacy/guarantee.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from understudy._jax import jax, jnp
from understudy.models.base import Data, Model

LARGEST_RHAT = 1.01
SMALLEST_ESS = 400
LARGEST_DIVERGENT = 0.01
"""Share of draws whose trajectory diverged. At the kinks of a censored target a few do: 0.35 % for
the joint model of the CPS, with R-hat 1.001 and 6000 effective draws. In a funnel's neck it was up
to 2.8 %."""
DIVERGENT = "divergent trajectories"
_FEWEST_POINTS = 25


@dataclass(frozen=True)
class Convergence:
    """R-hat and bulk ESS of each quantity that the gate looks at."""

    names: tuple[str, ...]
    rhat: np.ndarray
    ess_bulk: np.ndarray
    divergences: int
    draws: int
    """Of all chains together."""

    def failing(self, smallest_ess: float = SMALLEST_ESS) -> tuple[str, ...]:
        """Return the names of the quantities that have not converged, and divergences if many."""
        passed = (self.rhat <= LARGEST_RHAT) & (self.ess_bulk >= smallest_ess)
        failing = [name for name, passes in zip(self.names, passed, strict=True) if not passes]
        if self.divergences > LARGEST_DIVERGENT * self.draws:
            failing.insert(0, DIVERGENT)
        return tuple(failing)


def limits(smallest_ess: float = SMALLEST_ESS) -> dict[str, float]:
    """Return what the gate asks for, by name, as the report shows it."""
    return {"rhat": LARGEST_RHAT, "ess_bulk": smallest_ess, "divergent": LARGEST_DIVERGENT}


def rhat_and_ess(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return R-hat and bulk ESS of quantities, shape (chains, draws, quantities).

    A quantity that never changes is known exactly: R-hat 1, with as many effective draws as draws.
    """
    from arviz_stats.base import array_stats

    chains, draws, count = values.shape
    rhat, ess = np.ones(count), np.full(count, float(chains * draws))
    moving = np.ptp(values, axis=(0, 1)) > 0
    changing = values[..., moving]
    if moving.any():
        # Chains that each stay at a value of their own have R-hat ∞ or NaN, which the gate refuses.
        with np.errstate(divide="ignore", invalid="ignore"):
            rhat[moving] = array_stats.rhat(changing, chain_axis=0, draw_axis=1)
            ess[moving] = array_stats.ess(changing, chain_axis=0, draw_axis=1, method="bulk")
    return rhat, ess


def judge(
    model: Model, z: jax.Array, log_targets: jax.Array, divergences: int
) -> tuple[Convergence, dict[str, np.ndarray]]:
    """Judge draws of shape (chains, draws, dimension); also return θ by name for each draw."""
    points = public_points(model)
    derived, loglik = _derived(model, z, points)
    theta = {name: np.asarray(values) for name, values in derived.items()}
    renumbered = renumbered_sizes(model, points)
    names: list[str] = ["log target"]
    columns = [np.asarray(log_targets)[..., None]]
    for parameter in model.parameters:
        values = theta[parameter.name]
        if parameter.shape and parameter.shape[0] in renumbered:
            values = np.sort(values, axis=2)
        names += parameter.element_names
        columns.append(values.reshape(*values.shape[:2], -1))
    rhat, ess = rhat_and_ess(np.concatenate(columns, axis=-1))
    at_points = rhat_and_ess(np.nan_to_num(np.asarray(loglik), posinf=0.0, neginf=0.0))
    convergence = Convergence(
        ("log-likelihood at public points", *names),
        np.concatenate([[at_points[0].max()], rhat]),
        np.concatenate([[at_points[1].min()], ess]),
        divergences,
        int(np.prod(z.shape[:2])),
    )
    return convergence, theta


def public_points(model: Model) -> Data:
    """Return prepared public records, enough of them to show every declared level."""
    levels = (len(column.levels or ()) for column in model.schema.columns)
    points = model.schema.public_points(max(_FEWEST_POINTS, *levels))
    return model.prepare(model.schema.standing_alone(points))


def renumbered_sizes(model: Model, points: Data) -> frozenset[int]:
    """Return the sizes K for which arrays of K elements can be renumbered together.

    Renumbering must leave the prior and the log-likelihood at the public points unchanged, at a few
    values of θ that are fixed and public.
    """
    sizes = {p.shape[0] for p in model.parameters if p.shape and p.shape[0] > 1}

    def densities(theta: dict[str, jax.Array]) -> np.ndarray:
        values = [model.log_prior(theta)[None], model.record_loglik(theta, points)]
        return np.nan_to_num(np.concatenate([np.asarray(v) for v in values]))

    renumbered = set()
    thetas = [model.constrain(z) for z in model.starting_points(jax.random.key(0), 3)]
    for size in sizes:
        arrays = [p.name for p in model.parameters if p.shape and p.shape[0] == size]
        rolled = [
            theta | {name: jnp.roll(theta[name], 1, axis=0) for name in arrays} for theta in thetas
        ]
        pairs = zip(thetas, rolled, strict=True)
        if all(np.allclose(densities(one), densities(other), rtol=1e-9) for one, other in pairs):
            renumbered.add(size)
    return frozenset(renumbered)


@partial(jax.jit, static_argnames="model")
def _derived(model: Model, z: jax.Array, points: Data) -> tuple[dict[str, jax.Array], jax.Array]:
    def one(position: jax.Array) -> tuple[dict[str, jax.Array], jax.Array]:
        theta = model.constrain(position)
        return theta, model.record_loglik(theta, points)

    chains, draws, dimension = z.shape
    theta, loglik = jax.lax.map(one, z.reshape(-1, dimension), batch_size=64)
    shaped = {k: jnp.reshape(v, (chains, draws, *v.shape[1:])) for k, v in theta.items()}
    return shaped, jnp.reshape(loglik, (chains, draws, -1))
