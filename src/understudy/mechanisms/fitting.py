"""Chains for a row of the equation: fits that have converged, or are refused.

And what was seen of the target that θ was drawn from, for the diagnostics. Everything computed here
is confidential, except for θ.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy._jax import jax, jnp
from understudy.errors import Refused
from understudy.mechanisms.plan import Drawn
from understudy.mechanisms.request import Request
from understudy.models.base import Data, Model
from understudy.privacy.guarantee import Kind, Weights
from understudy.samplers.diagnostics import SMALLEST_ESS, limits
from understudy.samplers.exact import Selection
from understudy.samplers.lipschitz import censored_records, lipschitz_bound, reach
from understudy.samplers.nuts import Fit, nuts
from understudy.samplers.proposals import Proposal
from understudy.score import Row
from understudy.support.progress import stage

if TYPE_CHECKING:
    from understudy.mechanisms.row import RowMechanism

DRAWS = 1000
"""Draws over which risks and Lipschitz bounds are taken; maxima grow with their number."""
_EFFECTIVE_DRAWS_PER_TABLE = 10
_PROBES = 16


def fit_mechanism(
    request: Request, model: Model, data: Data, mechanism: RowMechanism
) -> tuple[Fit, Row, dict[str, float]]:
    """Fit the mechanism's target, from which one independent θ will be taken for each table.

    Returns the fit, the row that was fitted, and what the gate asked of the chains.
    """
    smallest_ess = max(SMALLEST_ESS, _EFFECTIVE_DRAWS_PER_TABLE * request.tables)
    sample = partial(converged_fit, request, model, data, smallest_ess=smallest_ess)
    row = first_row(model, data, mechanism)
    if mechanism.weights is Weights.SAME_DATA:
        unweighted = row._replace(bound=jnp.asarray(math.inf))
        first = sample(unweighted, name="Unweighted fit")
        with stage(request.progress, "Weights"):
            risk = jax.block_until_ready(risk_of(model, first.thinned(DRAWS), data))
        row = row._replace(alpha=mechanism.alpha(risk))
    return sample(row, name=f"Fit of {mechanism.name}"), row, limits(smallest_ess)


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
        named = ", ".join(failing[:3]) + (", ..." if len(failing) > 3 else "")
        raise Refused(
            f"the chains have not converged after {fit.z.shape[1]:,} draws each (see {named}), so "
            f"the guarantee could not be trusted and nothing was released: simplify the model, or "
            f"accept it in writing with `accept_poor_mixing`."
        )
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


def drawn_from(
    request: Request,
    data: Data,
    row: Row,
    explored: Selection | Fit,
    *,
    thetas: list[dict[str, Any]],
    more: dict[str, Any],
) -> Drawn:
    """Return what was drawn, with the diagnostics of the target of the last draw, and more."""
    model = request.model
    assert model is not None
    if isinstance(explored, Fit):
        draws, summary = explored.thinned(DRAWS), _of_chains(model, explored)
    else:
        draws = explored.resampled(request.source.generator(), DRAWS)
        summary = _of_candidates(model, explored)
    with stage(request.progress, "Lipschitz bound"):
        reached = reach(model, draws, data, row)
        delta = lipschitz_bound(reached)
    measured = {
        "lipschitz_bound": delta,
        "local_epsilon": 2 * delta,
        "censored_records": censored_records(reached, row),
    }
    return Drawn(
        thetas=thetas,
        diagnostics=summary | measured | more,
        alpha=np.asarray(row.alpha),
        largest_score=np.asarray(reached.largest_score),
        bound=float(row.bound),
    )


def plain(theta: dict[str, Any]) -> dict[str, Any]:
    """Return θ by name as plain numbers and lists."""
    return {name: np.asarray(value).tolist() for name, value in theta.items()}


def _of_candidates(model: Model, selection: Selection) -> dict[str, Any]:
    """Return the weighted summary of the candidates, for the diagnostics."""
    shares = selection.probabilities
    theta = jax.vmap(model.constrain)(jnp.asarray(selection.candidates))
    parameters = {}
    for name, values in _elements(model, theta, len(shares)):
        mean = float(shares @ values)
        parameters[name] = {
            "mean": mean,
            "sd": float(np.sqrt(shares @ (values - mean) ** 2)),
            "rhat": None,
            "ess_bulk": selection.effective_candidates,
        }
    return {"parameters": parameters, "divergences": None, "candidates": len(shares)}


def _of_chains(model: Model, fit: Fit) -> dict[str, Any]:
    """Return the posterior summary of each parameter and what the gate saw, for the diagnostics."""
    convergence, count = fit.convergence, int(np.prod(fit.z.shape[:2]))
    judged = {
        name: {"rhat": float(rhat), "ess_bulk": float(ess)}
        for name, rhat, ess in zip(
            convergence.names, convergence.rhat, convergence.ess_bulk, strict=True
        )
    }
    parameters = {
        name: {"mean": float(values.mean()), "sd": float(values.std())} | judged.pop(name)
        for name, values in _elements(model, fit.theta, count)
    }
    return {
        "parameters": parameters,
        "gate": judged,
        "divergences": convergence.divergences,
        "posterior_draws": count,
    }


def _elements(model: Model, theta: dict[str, Any], count: int) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the draws of each element of the parameters, with its name."""
    for parameter in model.parameters:
        draws = np.asarray(theta[parameter.name]).reshape(count, -1)
        yield from zip(parameter.element_names, draws.T, strict=True)
