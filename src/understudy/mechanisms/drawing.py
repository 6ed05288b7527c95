"""The private step: θ drawn from a mechanism, once for each table.

What leaves this module for a public file is θ alone, rounded to a public grid. The rest of `Drawn`
is confidential.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy.domain.skeleton import Skeleton
from understudy.errors import BadInput
from understudy.mechanisms import (
    Anchored,
    CensorUw,
    Mechanism,
    PerturbedHistogram,
    RowMechanism,
    histogram,
)
from understudy.mechanisms.pricing import Plan
from understudy.support.confidential import Confidential
from understudy.support.progress import Progress, stage

if TYPE_CHECKING:
    from understudy.domain.schema import Schema
    from understudy.domain.tables import Columns
    from understudy.mechanisms.anchored import Stage
    from understudy.models.base import Data, Model
    from understudy.privacy.guarantee import Kind
    from understudy.samplers.exact import Selection
    from understudy.samplers.nuts import Fit
    from understudy.score import Row
    from understudy.support.randomness import Source


LARGEST_EXACT_DIMENSION = 10
"""Beyond this, candidates become too sparse and chains take over."""
LARGEST_EXACT_BOUND = 1000.0
"""Sums of scores up to this bound stay exact in chunks, and fit 64 bits for 10⁸ records."""
_CANDIDATES = 65_536
_DRAWS = 1000


@dataclass(frozen=True, repr=False)
class Drawn(Confidential):
    """One θ for each table, and what was seen on the way."""

    thetas: list[dict[str, Any]]
    """θ by name, as plain numbers and lists."""
    spec: dict[str, Any]
    """Which model the parameters belong to."""
    stages: int
    diagnostics: dict[str, Any]
    alpha: np.ndarray | None = None
    largest_score: np.ndarray | None = None
    bound: float | None = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Job(Confidential):
    """What is asked for, checked and settled, before anything is drawn."""

    model: Model | None
    """None for the histogram, which needs none."""
    schema: Schema
    columns: Columns
    mechanism: Mechanism
    predictors: Skeleton
    size: int
    """What stages and widths depend on: declared, or known anyway; 0 where nothing does."""
    source: Source
    count: int
    """Draws, one for each table."""
    sampler: str
    accept_poor_mixing: bool
    progress: Progress

    @property
    def kind(self) -> Kind:
        """How firmly the guarantee of what is drawn will hold."""
        return self.mechanism.kind_with(self.sampler)


def resolve_sampler(sampler: str, mechanism: Mechanism, model: Model | None) -> str:
    """Return `exact`, `nuts` or `none` for what was asked, or refuse what cannot be done."""
    if sampler not in ("auto", "exact", "nuts"):
        raise BadInput(f"there is no sampler '{sampler}': choose auto, exact or nuts.")
    if isinstance(mechanism, PerturbedHistogram):
        if sampler != "auto":
            raise BadInput("ph draws no parameters of a model: leave out `sampler`.")
        return "none"
    if model is None:
        raise BadInput(f"the mechanism {mechanism.name} needs a model, not a schema alone.")
    few = model.dimension <= LARGEST_EXACT_DIMENSION
    if sampler == "exact" and getattr(mechanism, "bound", 0.0) > LARGEST_EXACT_BOUND:
        raise BadInput(
            f"exact draws add scores as whole numbers, which allows an epsilon up to "
            f"{2 * LARGEST_EXACT_BOUND:g}: use `sampler` nuts."
        )
    if sampler == "exact" and not (few and isinstance(mechanism, Anchored | CensorUw)):
        raise BadInput(
            f"exact draws serve anchored and censor-uw with up to {LARGEST_EXACT_DIMENSION} "
            f"parameters, but this is {mechanism.name} with {model.dimension}: use `sampler` nuts."
        )
    if sampler == "auto":
        return "exact" if few and isinstance(mechanism, Anchored) else "nuts"
    return sampler


def prepare_draw(job: Job) -> tuple[Callable[[], Drawn], Plan]:
    """Return the draw, not yet made, and the plan of it, which knows what it costs."""
    from understudy.models.base import Model

    match job.mechanism, job.model:
        case PerturbedHistogram() as mechanism, _:
            histogram.histogram_column(job.schema)
            return partial(_draw_histogram, job, mechanism), Plan(mechanism, (), job.count)
        case RowMechanism() as mechanism, Model() as model:
            plan = Plan(mechanism, (mechanism.bound,), job.count)
            return partial(_draw_row, job, model, mechanism), plan
        case Anchored() as mechanism, Model() as model:
            stages = mechanism.plan(
                size=job.size,
                dimension=model.dimension,
                exact=job.sampler == "exact",
                rows_per_record=model.rows_per_record,
            )
            draw = partial(_draw_anchored, job, model, mechanism, stages)
            return draw, Plan(mechanism, tuple(each.bound for each in stages), job.count)
    raise BadInput(f"the mechanism {job.mechanism.name} needs a model, not a schema alone.")


def _draw_row(job: Job, model: Model, mechanism: RowMechanism) -> Drawn:
    """Draw θ from the mechanism's row of the equation."""
    from understudy.mechanisms.fitting import choose_draws, first_row, fit_mechanism
    from understudy.samplers.exact import exact_draw
    from understudy.samplers.proposals import prior_proposal

    data = model.prepare(job.columns)
    if job.sampler == "exact":
        row = first_row(model, data, mechanism)
        proposal = prior_proposal(model)
        selections = [
            exact_draw(model, data, row, proposal, job.source, candidates=_CANDIDATES)
            for _ in range(job.count)
        ]
        chosen = [selection.candidates[selection.picked] for selection in selections]
        seen: Selection | Fit = selections[-1]
        asked: dict[str, Any] = {}
    else:
        fitted = fit_mechanism(
            model,
            data,
            mechanism,
            job.source,
            draws=job.count,
            accept_poor_mixing=job.accept_poor_mixing,
            progress=job.progress,
        )
        row, seen = fitted.row, fitted.fit
        chosen = list(choose_draws(fitted.fit, job.count, job.source.generator()))
        asked = {"limits": fitted.limits}
    thetas = [_plain(model.constrain(model.round_to_grid(z))) for z in chosen]
    diagnostics, largest_score = _seen(job, model, data, row, seen)
    alpha = np.asarray(row.alpha)
    return Drawn(
        thetas=thetas,
        spec=model.spec,
        stages=1,
        diagnostics=diagnostics | asked | {"dropped_records": int(np.sum(alpha == 0))},
        alpha=alpha,
        largest_score=largest_score,
        bound=mechanism.bound,
    )


def _draw_anchored(job: Job, model: Model, mechanism: Anchored, stages: tuple[Stage, ...]) -> Drawn:
    """Draw θ by climbing from the anchor, once for each table."""
    from understudy._jax import jnp
    from understudy.mechanisms.ladder import climb
    from understudy.samplers.diagnostics import limits

    data = model.prepare(job.columns)
    climbs = [
        climb(
            model,
            data,
            mechanism,
            stages,
            job.source,
            size=job.size,
            public=job.predictors.public,
            exact=job.sampler == "exact",
            accept_poor_mixing=job.accept_poor_mixing,
            progress=job.progress,
        )
        for _ in range(job.count)
    ]
    last = climbs[-1][-1]
    diagnostics, largest_score = _seen(job, model, data, last.row, last.seen)
    if job.sampler != "exact":
        diagnostics["limits"] = limits()
    diagnostics["stages"] = [
        {
            "alpha": each.alpha,
            "threshold": each.threshold,
            "bound": each.bound,
            "effective_candidates": getattr(rung.seen, "effective_candidates", None),
        }
        for each, rung in zip(stages, climbs[-1], strict=True)
    ]
    return Drawn(
        thetas=[_plain(model.constrain(jnp.asarray(rungs[-1].z))) for rungs in climbs],
        spec=model.spec,
        stages=len(stages),
        diagnostics=diagnostics,
        alpha=np.asarray(last.row.alpha),
        largest_score=largest_score,
        bound=float(last.row.bound),
    )


def _draw_histogram(job: Job, mechanism: PerturbedHistogram) -> Drawn:
    """Draw noisy counts from the perturbed histogram."""
    column = histogram.histogram_column(job.schema)
    bins = mechanism.bin_count(job.schema.size)
    exact = histogram.counts(job.columns[column.name], column, bins)
    noisy = [histogram.perturbed(exact, mechanism, job.source) for _ in range(job.count)]
    return Drawn(
        thetas=[{"counts": counts.tolist()} for counts in noisy],
        spec=histogram.SPEC,
        stages=1,
        diagnostics={
            "parameters": {},
            "lipschitz_bound": None,
            "local_epsilon": None,
            "censored_records": None,
            "divergences": None,
        },
    )


def _seen(
    job: Job, model: Model, data: Data, row: Row, seen: Selection | Fit
) -> tuple[dict[str, Any], np.ndarray]:
    """Return the diagnostics of the target that was drawn from, and each record's largest score."""
    from understudy.samplers.lipschitz import censored_records, lipschitz_bound, reach
    from understudy.samplers.nuts import Fit

    if isinstance(seen, Fit):
        draws, summary = seen.thinned(_DRAWS), _of_chains(model, seen)
    else:
        draws = seen.resampled(job.source.generator(), _DRAWS)
        summary = _of_candidates(model, seen)
    with stage(job.progress, "Lipschitz bound"):
        reached = reach(model, draws, data, row)
        delta = lipschitz_bound(reached)
    found = {
        "lipschitz_bound": delta,
        "local_epsilon": 2 * delta,
        "censored_records": censored_records(reached, row),
    }
    return summary | found, np.asarray(reached.largest_score)


def _of_candidates(model: Model, selection: Selection) -> dict[str, Any]:
    """Return the weighted summary of the candidates, for the diagnostics."""
    from understudy._jax import jax, jnp

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


def _plain(theta: dict[str, Any]) -> dict[str, Any]:
    return {name: np.asarray(value).tolist() for name, value in theta.items()}


def _of_chains(model: Model, fit: Fit) -> dict[str, Any]:
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
