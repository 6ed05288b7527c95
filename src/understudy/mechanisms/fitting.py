"""Chains for a row of the equation: fits that have converged, or are refused.

Everything computed here is confidential.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy._jax import jax, jnp
from understudy.errors import Refused
from understudy.privacy.guarantee import Kind, Weights
from understudy.samplers.diagnostics import SMALLEST_ESS, limits
from understudy.samplers.lipschitz import reach
from understudy.samplers.nuts import Fit, nuts
from understudy.score import Row
from understudy.support.progress import stage

if TYPE_CHECKING:
    from understudy.mechanisms.request import Request
    from understudy.mechanisms.row import RowMechanism
    from understudy.models.base import Data, Model
    from understudy.samplers.proposals import Proposal

DRAWS = 1000
"""Draws over which risks and Lipschitz bounds are taken; maxima grow with their number."""
_EFFECTIVE_DRAWS_PER_TABLE = 10
_PROBES = 16


@dataclass(frozen=True)
class Fitted:
    """The target that θ is drawn from, as far as it was explored."""

    fit: Fit
    row: Row
    limits: dict[str, float]
    """What the gate asked of the chains."""


def fit_mechanism(request: Request, model: Model, data: Data, mechanism: RowMechanism) -> Fitted:
    """Fit the mechanism's target, from which one independent θ will be taken for each table."""
    smallest_ess = max(SMALLEST_ESS, _EFFECTIVE_DRAWS_PER_TABLE * request.tables)
    sample = partial(converged_fit, request, model, data, smallest_ess=smallest_ess)
    row = first_row(model, data, mechanism)
    if mechanism.weights is Weights.SAME_DATA:
        unweighted = row._replace(bound=jnp.asarray(math.inf))
        first = sample(unweighted, name="Unweighted fit")
        with stage(request.progress, "Weights"):
            risk = jax.block_until_ready(risk_of(model, first.thinned(DRAWS), data))
        row = row._replace(alpha=mechanism.alpha(risk))
    fit = sample(row, name=f"Fit of {mechanism.name}")
    return Fitted(fit, row, limits(smallest_ess))


def converged_fit(
    request: Request,
    model: Model,
    data: Data,
    row: Row,
    *,
    name: str,
    smallest_ess: float = SMALLEST_ESS,
    guess: Proposal | None = None,
) -> Fit:
    """Sample a target by NUTS and refuse chains that have not converged, unless that is accepted.

    `guess` is a public guess at the target, around which the chains may start.
    """
    request.progress(name, 0.0)
    fit = nuts(
        model,
        data,
        row,
        request.source,
        smallest_ess=smallest_ess,
        progress=partial(request.progress, name),
        guess=guess,
    )
    failing = fit.convergence.failing(smallest_ess)
    if failing and not request.accept_poor_mixing:
        raise Refused(_not_converged(fit, failing))
    return fit


def risk_of(model: Model, draws: jax.Array, data: Data) -> jax.Array:
    """Return max |f| over the draws for each record of a prepared table."""
    records = jax.eval_shape(
        lambda z: model.record_loglik(model.constrain(z), data), draws[0]
    ).shape[0]
    plain = Row(jnp.ones(records), jnp.zeros(records), jnp.asarray(math.inf))
    return reach(model, draws, data, plain).risk


def first_row(model: Model, data: Data, mechanism: RowMechanism) -> Row:
    """Return the mechanism's row before any risk is known.

    Without a bound, a record whose density is infinite wherever one looks (an exact 0 under a Beta
    model) would leave no posterior at all; such records get the weight 0, as in the paper.
    """
    if mechanism.references:
        alpha = mechanism.alpha(mechanism.references[0].risk(model, data))
    else:
        usable = 1.0 - _without_posterior(model, data)
        learned = mechanism.weights is Weights.SAME_DATA
        alpha = jnp.ones_like(usable) if learned else mechanism.alpha(jnp.zeros_like(usable))
        alpha = alpha if mechanism.kind is Kind.STRICT else alpha * usable
    return Row(alpha, jnp.zeros(alpha.shape), jnp.asarray(mechanism.bound))


@partial(jax.jit, static_argnames="model")
def _without_posterior(model: Model, data: Data) -> jax.Array:
    """Return 1.0 for each record whose log-likelihood is finite at no public θ and +∞ at some.

    One that is −∞ wherever one looks is no such record: it says that θ lies elsewhere.
    """
    probes = model.starting_points(jax.random.key(0), _PROBES)

    def look(so_far: tuple[jax.Array, jax.Array], z: jax.Array) -> tuple[Any, None]:
        loglik = model.record_loglik(model.constrain(z), data)
        finite, endless = so_far
        return (finite | jnp.isfinite(loglik), endless | ~(loglik < jnp.inf)), None

    nothing = jnp.zeros_like(model.record_loglik(model.constrain(probes[0]), data), dtype=bool)
    (finite, endless), _ = jax.lax.scan(look, (nothing, nothing), probes)
    return jnp.where(endless & ~finite, 1.0, 0.0)


def choose_draws(fit: Fit, count: int, generator: np.random.Generator) -> np.ndarray:
    """Return `count` unconstrained draws at even distances, the first of them at random."""
    pooled = fit.z.reshape(-1, fit.z.shape[-1])
    start = generator.integers(len(pooled))
    return pooled[(start + np.arange(count) * len(pooled) // count) % len(pooled)]


def _not_converged(fit: Fit, failing: tuple[str, ...]) -> str:
    named = ", ".join(failing[:3]) + (", ..." if len(failing) > 3 else "")
    return (
        f"the chains have not converged after {fit.z.shape[1]:,} draws each (see {named}), so the "
        f"guarantee could not be trusted and nothing was released: simplify the model, or accept "
        f"it in writing with `accept_poor_mixing`."
    )
