"""Climbing: each draw is the public anchor of the next.

Stage k scores a record by clip(αₖ (f_θ(x) − f_θₖ₋₁(x)), ±Bₖ) and draws θₖ, exactly (`exact.py`) or
by NUTS. Before the first draw nothing is known but the prior, or a public anchor; after each draw
the next proposal is centred at it and as wide as a posterior of effective size αₖ·size would be.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy._jax import jnp
from understudy.domain.tables import count_records
from understudy.inference.stages import TemperedStage
from understudy.mechanisms.fitting import choose_draws, converged_fit, drawn_from, plain
from understudy.mechanisms.plan import Drawn, DrawTarget, Plan, Price, staged
from understudy.mechanisms.request import Request
from understudy.models.base import Data, Model
from understudy.samplers.diagnostics import limits
from understudy.samplers.exact import Selection, chunked_loglik, exact_draw
from understudy.samplers.nuts import Fit
from understudy.samplers.proposals import Proposal, posterior_proposal, prior_proposal
from understudy.score import Row
from understudy.support.confidential import Confidential

if TYPE_CHECKING:
    from understudy.mechanisms.anchored import Anchored, Stage


@dataclass(frozen=True, repr=False)
class Rung(Confidential):
    """One stage as it went: confidential, except for the point that was drawn."""

    z: np.ndarray
    """The point, on the public grid."""
    row: Row
    explored: Selection | Fit
    proposal: Proposal | None = None
    """Where candidates came from, if the draw is exact: public, and centred at the anchor."""


@dataclass(frozen=True, eq=False, repr=False)
class AnchoredPlan(Plan):
    """Draws by climbing from the anchor, once for each table."""

    mechanism: Anchored
    ladder: tuple[Stage, ...]

    @property
    def cost(self) -> Price:
        """What the stages cost together."""
        mechanism = self.mechanism
        bounds = [stage.bound for stage in self.ladder]
        return staged(
            bounds, self.request.tables, asked=mechanism.epsilon, under=mechanism.adjacency
        )

    @property
    def stages(self) -> int:
        """Draws that lead to one θ."""
        return len(self.ladder)

    def draw(self) -> Drawn:
        """Climb; what is seen of the last climb's stages goes into the diagnostics."""
        request, model = self.request, self.request.model
        assert model is not None
        data = model.prepare(request.columns)
        climbs = [climb(request, data, self.mechanism, self.ladder) for _ in range(request.tables)]
        last = climbs[-1][-1]
        more: dict[str, Any] = {} if request.sampler == "exact" else {"limits": limits()}
        more["stages"] = [
            {
                "alpha": stage.alpha,
                "threshold": stage.threshold,
                "bound": stage.bound,
                "effective_candidates": getattr(rung.explored, "effective_candidates", None),
            }
            for stage, rung in zip(self.ladder, climbs[-1], strict=True)
        ]
        thetas = [plain(model.constrain(jnp.asarray(rungs[-1].z))) for rungs in climbs]
        drawn = drawn_from(request, data, last.row, last.explored, thetas=thetas, more=more)
        return replace(drawn, released=self.published(climbs[0]))

    def published(self, rungs: list[Rung]) -> dict[str, Any]:
        """Return what is told of a climb beside its last point, so that others can infer from it.

        All of it was made from the public anchor and from draws that are paid for: the price is
        that of every stage's draw, and not of the last alone. An anchor that comes from a
        confidential reference is protected by nothing, so nothing is told of such a climb; nor of
        one by chains, whose draws nobody knows the distribution of.
        """
        if self.request.sampler != "exact" or "confidential" in self.mechanism.origins:
            return {}
        count = self.mechanism.candidate_count(len(rungs[0].z))
        stages = [
            TemperedStage(stage.alpha, stage.threshold, rung.proposal, count, rung.z).to_dict()
            for stage, rung in zip(self.ladder, rungs, strict=True)
            if rung.proposal is not None
        ]
        return {"ladder": stages, "size": population_size(self.request)}


def population_size(request: Request) -> int:
    """Return how many records there are, where that is public, or are declared to be."""
    skeleton = request.skeleton
    return count_records(skeleton.public) if skeleton.copied else request.size


def climb(
    request: Request, data: Data, mechanism: Anchored, ladder: tuple[Stage, ...]
) -> list[Rung]:
    """Draw stage by stage; the last rung's point is released."""
    model, source, public = request.model, request.source, request.skeleton.public
    assert model is not None
    exact = request.sampler == "exact"
    proposal = first_proposal(model, mechanism)
    z = proposal.centre
    rungs: list[Rung] = []
    for number, stage in enumerate(ladder, start=1):
        name = f"Stage {number} of {len(ladder)}"
        row = anchored_row(model, z, data, stage)
        explored: Selection | Fit
        if exact:
            request.progress(name, 0.0)
            count = mechanism.candidate_count(model.dimension)
            explored = exact_draw(model, data, row, proposal, source, candidates=count)
            request.progress(name, 1.0)
            point = explored.candidates[explored.picked]
        else:
            guess = posterior_proposal(model, z, stage.alpha * request.size, public, source)
            explored = converged_fit(request, model, data, row, name=name, guess=guess)
            (point,) = choose_draws(explored, 1, source.generator())
        z = np.asarray(model.round_to_grid(point))
        rungs.append(Rung(z, row, explored, proposal if exact else None))
        if exact and number < len(ladder):
            proposal = posterior_proposal(model, z, stage.alpha * request.size, public, source)
    return rungs


def stage_targets(plan: AnchoredPlan) -> tuple[DrawTarget, ...]:
    """Return the target of each stage, with the anchors of one climb held fixed.

    Each anchor is public by the time it is used; the losses of the stages add up.
    """
    request, model = plan.request, plan.request.model
    assert model is not None
    rungs = climb(request, model.prepare(request.columns), plan.mechanism, plan.ladder)
    anchors = [first_proposal(model, plan.mechanism).centre, *(rung.z for rung in rungs)]

    def target(stage: Stage, anchor: np.ndarray, rung: Rung) -> DrawTarget:
        selection = rung.explored if isinstance(rung.explored, Selection) else None
        return DrawTarget(lambda data, count: anchored_row(model, anchor, data, stage), selection)

    return tuple(map(target, plan.ladder, anchors, rungs))


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
