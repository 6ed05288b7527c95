"""The private step: θ drawn from a mechanism, once for each table.

What leaves this module for a public file is θ alone, rounded to a public grid. The rest of `Drawn`
is confidential.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy import histogram
from understudy.guarantee import Adjacency, Kind, epsilon_of_bound

if TYPE_CHECKING:
    from understudy.mechanisms import Mechanism, PerturbedHistogram
    from understudy.models.base import Model
    from understudy.progress import Progress
    from understudy.randomness import Source
    from understudy.samplers.nuts import Fit
    from understudy.schema import Schema
    from understudy.tables import Columns


@dataclass(frozen=True)
class Drawn:
    """One θ for each table, what it cost, and what was seen on the way."""

    thetas: list[dict[str, Any]]
    """θ by name, as plain numbers and lists."""
    spec: dict[str, Any]
    """Which model the parameters belong to."""
    sampler: str
    epsilon: dict[Adjacency, float] | None
    diagnostics: dict[str, Any]
    alpha: np.ndarray | None = None
    largest_score: np.ndarray | None = None
    bound: float | None = None


def draw_parameters(
    model: Model,
    columns: Columns,
    mechanism: Mechanism,
    source: Source,
    *,
    count: int,
    accept_poor_mixing: bool,
    progress: Progress,
) -> Drawn:
    """Draw θ from the mechanism's row of the equation."""
    from understudy.fitting import choose_draws, fit_mechanism
    from understudy.lipschitz import censored_records, lipschitz_bound

    fitted = fit_mechanism(
        model,
        model.prepare(columns),
        mechanism,
        source,
        draws=count,
        accept_poor_mixing=accept_poor_mixing,
        progress=progress,
    )
    chosen = choose_draws(fitted.fit, count, source.generator())
    delta = lipschitz_bound(fitted.reached)
    alpha = np.asarray(fitted.row.alpha)
    strict = mechanism.kind is Kind.STRICT
    return Drawn(
        thetas=[_plain(model.constrain(model.round_to_grid(z))) for z in chosen],
        spec=model.spec,
        sampler="nuts",
        epsilon=epsilon_of_bound(mechanism.bound, draws=count) if strict else None,
        diagnostics={
            **_convergence(model, fitted.fit),
            "lipschitz_bound": delta,
            "local_epsilon": 2 * delta,
            "censored_records": censored_records(fitted.reached, fitted.row),
            "dropped_records": int(np.sum(alpha == 0)),
        },
        alpha=alpha,
        largest_score=np.asarray(fitted.reached.largest_score),
        bound=mechanism.bound,
    )


def draw_histogram(
    schema: Schema,
    columns: Columns,
    mechanism: PerturbedHistogram,
    source: Source,
    *,
    count: int,
) -> Drawn:
    """Draw noisy counts from the perturbed histogram."""
    column = histogram.histogram_column(schema)
    exact = histogram.counts(columns[column.name], column, mechanism.bin_count(schema.size))
    noisy = [histogram.perturbed(exact, mechanism, source) for _ in range(count)]
    each = mechanism.epsilon / mechanism.sensitivity
    return Drawn(
        thetas=[{"counts": counts.tolist()} for counts in noisy],
        spec=histogram.SPEC,
        sampler="none",
        epsilon={adjacency: count * adjacency.steps * each for adjacency in Adjacency},
        diagnostics={
            "parameters": {},
            "lipschitz_bound": None,
            "local_epsilon": None,
            "censored_records": None,
            "divergences": None,
        },
    )


def _plain(theta: dict[str, Any]) -> dict[str, Any]:
    return {name: np.asarray(value).tolist() for name, value in theta.items()}


def _convergence(model: Model, fit: Fit) -> dict[str, Any]:
    """Return the posterior summary of each parameter and what the gate saw, for the diagnostics."""
    seen = fit.convergence
    judged = {
        name: {"rhat": float(rhat), "ess_bulk": float(ess)}
        for name, rhat, ess in zip(seen.names, seen.rhat, seen.ess_bulk, strict=True)
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
        "divergences": seen.divergences,
        "posterior_draws": int(np.prod(fit.z.shape[:2])),
    }
