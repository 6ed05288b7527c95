"""What was seen of the target that θ was drawn from, for the diagnostics: confidential."""

from __future__ import annotations

from typing import Any

import numpy as np

from understudy._jax import jax, jnp
from understudy.mechanisms.request import Request
from understudy.models.base import Data, Model
from understudy.samplers.exact import Selection
from understudy.samplers.lipschitz import censored_records, lipschitz_bound, reach
from understudy.samplers.nuts import Fit
from understudy.score import Row
from understudy.support.progress import stage

_DRAWS = 1000


def observed(
    request: Request, model: Model, data: Data, row: Row, explored: Selection | Fit
) -> tuple[dict[str, Any], np.ndarray]:
    """Return the diagnostics of the target that was drawn from, and each record's largest score."""
    if isinstance(explored, Fit):
        draws, summary = explored.thinned(_DRAWS), _of_chains(model, explored)
    else:
        draws = explored.resampled(request.source.generator(), _DRAWS)
        summary = _of_candidates(model, explored)
    with stage(request.progress, "Lipschitz bound"):
        reached = reach(model, draws, data, row)
        delta = lipschitz_bound(reached)
    measured = {
        "lipschitz_bound": delta,
        "local_epsilon": 2 * delta,
        "censored_records": censored_records(reached, row),
    }
    return summary | measured, np.asarray(reached.largest_score)


def plain(theta: dict[str, Any]) -> dict[str, Any]:
    """Return θ by name as plain numbers and lists."""
    return {name: np.asarray(value).tolist() for name, value in theta.items()}


def _of_candidates(model: Model, selection: Selection) -> dict[str, Any]:
    """Return the weighted summary of the candidates, for the diagnostics."""
    shares = selection.probabilities
    theta = jax.vmap(model.constrain)(jnp.asarray(selection.candidates))
    parameters = {}
    for parameter in model.parameters:
        elements = np.asarray(theta[parameter.name]).reshape(len(shares), -1).T
        for name, values in zip(parameter.element_names, elements, strict=True):
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
    convergence = fit.convergence
    judged = {
        name: {"rhat": float(rhat), "ess_bulk": float(ess)}
        for name, rhat, ess in zip(
            convergence.names, convergence.rhat, convergence.ess_bulk, strict=True
        )
    }
    parameters = {}
    for parameter in model.parameters:
        draws = fit.theta[parameter.name]
        elements = draws.reshape(draws.shape[0] * draws.shape[1], -1).T
        for name, values in zip(parameter.element_names, elements, strict=True):
            moments = {"mean": float(values.mean()), "sd": float(values.std())}
            parameters[name] = moments | judged.pop(name)
    return {
        "parameters": parameters,
        "gate": judged,
        "divergences": convergence.divergences,
        "posterior_draws": int(np.prod(fit.z.shape[:2])),
    }
