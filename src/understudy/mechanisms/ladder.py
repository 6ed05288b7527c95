"""Climbing: each draw is the public anchor of the next.

Stage k scores a record by clip(αₖ (f_θ(x) − f_θₖ₋₁(x)), ±Bₖ) and draws θₖ, exactly (`exact.py`) or
by NUTS. Before the first draw nothing is known but the prior, or a public anchor; after each draw
the next proposal is centred at it and as wide as a posterior of effective size αₖ·size would be.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from understudy._jax import jnp
from understudy.mechanisms.fitting import converged_fit
from understudy.samplers.exact import Selection, chunked_loglik, exact_draw
from understudy.samplers.proposals import Proposal, posterior_proposal, prior_proposal
from understudy.score import Row

if TYPE_CHECKING:
    from understudy.domain.tables import Columns
    from understudy.mechanisms import Anchored
    from understudy.mechanisms.anchored import Stage
    from understudy.models.base import Data, Model
    from understudy.samplers.nuts import Fit
    from understudy.support.progress import Progress
    from understudy.support.randomness import Source


@dataclass(frozen=True)
class Rung:
    """One stage as it went: confidential, except for the point that was drawn."""

    z: np.ndarray
    """The point, on the public grid."""
    row: Row
    seen: Selection | Fit


def climb(
    model: Model,
    data: Data,
    mechanism: Anchored,
    plan: tuple[Stage, ...],
    source: Source,
    *,
    size: int,
    public: Columns,
    exact: bool,
    accept_poor_mixing: bool,
    progress: Progress,
) -> list[Rung]:
    """Draw stage by stage; the last rung's point is released."""
    proposal = first_proposal(model, mechanism)
    z = proposal.centre
    rungs: list[Rung] = []
    for number, stage in enumerate(plan, start=1):
        name = f"Stage {number} of {len(plan)}"
        row = anchored_row(model, z, data, stage)
        if exact:
            progress(name, 0.0)
            count = mechanism.candidate_count(model.dimension)
            selection = exact_draw(model, data, row, proposal, source, candidates=count)
            progress(name, 1.0)
            z = np.asarray(model.round_to_grid(selection.candidates[selection.picked]))
            rungs.append(Rung(z, row, selection))
        else:
            fit = converged_fit(
                model,
                data,
                row,
                source,
                name=name,
                accept_poor_mixing=accept_poor_mixing,
                progress=progress,
                guess=posterior_proposal(model, z, stage.alpha * size, public, source),
            )
            pooled = fit.z.reshape(-1, model.dimension)
            z = np.asarray(model.round_to_grid(pooled[source.generator().integers(len(pooled))]))
            rungs.append(Rung(z, row, fit))
        if exact and number < len(plan):
            proposal = posterior_proposal(model, z, stage.alpha * size, public, source)
    return rungs


def anchored_row(model: Model, z: np.ndarray, data: Data, stage: Stage) -> Row:
    """Return the row of one stage: constant weight, and the anchor's log-likelihood as offset."""
    offset = chunked_loglik(model, z, data)
    return Row(jnp.full(offset.shape, stage.alpha), offset, jnp.asarray(stage.bound))


def first_proposal(model: Model, mechanism: Anchored) -> Proposal:
    """Return the proposal of the first stage, whose centre is its anchor."""
    if mechanism.start is None:
        return prior_proposal(model)
    theta = {name: jnp.asarray(value) for name, value in mechanism.start.items()}
    centre = np.asarray(model.round_to_grid(model.unconstrain(theta)))
    return Proposal(centre, mechanism.width * np.eye(model.dimension))
