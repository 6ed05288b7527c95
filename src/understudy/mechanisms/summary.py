"""Summary: bound what a record adds to a sum, add noise once, and do the rest in public."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy.domain.schema import Schema
from understudy.errors import BadInput
from understudy.mechanisms.base import EarlierTheta, Mechanism
from understudy.mechanisms.plan import Drawn, Plan, Price
from understudy.privacy.accounting import Cost, rounded_up
from understudy.privacy.guarantee import Adjacency, Kind, Weights
from understudy.support.progress import stage

if TYPE_CHECKING:
    from understudy.inference.posterior import Posterior
    from understudy.mechanisms.request import Request
    from understudy.models.base import Model

FIRST_SHARE = 0.3
"""Share of ε that the coarse table takes. Settled on Beta(0.8, 5), Beta(60, 15), Beta(150, 350)."""
DRAWS = 400
"""Draws of θ that are published beside the estimate."""
_HAIR = 1 - 2.0**-40
"""So that no rounding error lets the rounds together cost more than ε."""


@dataclass(frozen=True, kw_only=True)
class Summary(Mechanism):
    """Noisy sums of bounded contributions; θ is inferred from them in public. Strict.

    Let w be a public function from records to vectors of whole numbers with ‖w(x)‖₁ ≤ C for every
    record of the domain. Then T̃ = Σᵢ w(xᵢ) + discrete Laplace noise of scale C/ε in every entry is
    ε-DP when a record is added or removed, and 2ε-DP when one is replaced, for tables of any size
    and any number of entries: adding a record moves the sum by w(x), and the log-ratio of the noise
    densities by at most ‖w(x)‖₁ ε/C. Rounds add up, and the w of a round may depend on all that
    earlier rounds published. All else is post-processing: the estimate of θ, its draws, a fit that
    is tried again, any number of synthetic tables.

    The first round is a coarse table of every confidential column; the second sums scores of the
    model at the θ₀ that the first one points to, in the directions that pay. Of a model of whole
    tables it counts pairs of columns instead. An anchor is a θ₀, and the first round falls away.

    Every default depends on ε, the schema and the declared size alone, or on what was published.
    """

    epsilon: float
    """The privacy loss of all rounds together."""
    anchor: Mapping[str, Any] | None = None
    """θ₀ by name, from an earlier release."""

    name = "summary"
    kind = Kind.STRICT
    weights = Weights.NONE
    needs_size = True
    measures_once = True
    tried_unasked = True
    earlier = EarlierTheta.WELCOME

    def plan(self, request: Request) -> SummaryPlan:
        """Return the rounds; an anchor that is no value of the model is refused."""
        from understudy.mechanisms.published import check_theta

        assert request.model is not None
        _refuse_undescribed(request.schema)
        if self.anchor is not None:
            check_theta(dict(self.anchor), request.model)
        return SummaryPlan(request, self)

    def samplers(self, model: Model) -> Sequence[str]:
        """It draws nothing from the table but noise."""
        return ("none",)

    @property
    def origins(self) -> Sequence[str]:
        """Where the start comes from."""
        return () if self.anchor is None else ("release",)

    def following(self, theta: Mapping[str, Any] | None, model: Model | None) -> Summary:
        """Return it anchored at θ."""
        return replace(self, anchor=theta)

    @classmethod
    def trials(cls) -> Sequence[Mapping[str, float]]:
        """It has nothing to settle but ε."""
        return ({},)

    @classmethod
    def check_serves(cls, schema: Schema, model: Model | None, *, public: bool) -> None:
        """Refuse a schema whose records cannot be simulated as they are."""
        super().check_serves(schema, model, public=public)
        _refuse_undescribed(schema)

    def rounds(self, model: Model, size: int) -> tuple[float, ...]:
        """Return ε of each round when a record is added or removed: together what was asked.

        Args:
            model: The model of a record.
            size: How many records there are, or are declared to be.
        """
        own = self.epsilon / self.adjacency.steps * _HAIR
        if self.anchor is not None:
            return (own,)
        from understudy.inference.tables import first_share

        first = own * (first_share(model.schema, own * size) if model.by_tables else FIRST_SHARE)
        return (first, own - first)


@dataclass(frozen=True, eq=False, repr=False)
class SummaryPlan(Plan):
    """Measures round by round, then infers in public."""

    mechanism: Summary

    @property
    def cost(self) -> Price:
        """The ε that was asked for, whatever the number of tables."""
        mechanism = self.mechanism

        def under(adjacency: Adjacency) -> Cost:
            stated = mechanism.epsilon / mechanism.adjacency.steps * adjacency.steps
            losses = [adjacency.steps * Fraction(each) for each in self._shares]
            return Cost(stated, rounded_up(sum((loss**2 / 2 for loss in losses), Fraction())))

        return {each: under(each) for each in Adjacency}

    @property
    def stages(self) -> int:
        """How many rounds there are."""
        return len(self._shares)

    @cached_property
    def _shares(self) -> tuple[float, ...]:
        """ε of each round."""
        from understudy.mechanisms.rounds import population_of

        assert self.request.model is not None
        return self.mechanism.rounds(self.request.model, population_of(self.request).size)

    def draw(self) -> Drawn:
        """Measure round by round, and infer from what was measured."""
        from understudy.inference.evidence import Evidence
        from understudy.inference.posterior import infer
        from understudy.mechanisms.rounds import measure_scores, measure_tables, population_of

        request = self.request
        assert request.model is not None
        measure = measure_tables if request.model.by_tables else measure_scores
        rounds = measure(request, self._shares, self.mechanism.anchor)
        with stage(request.progress, "Inferring"):
            evidence = Evidence(population_of(request), rounds.measurements)
            posterior = infer(evidence, rounds.near, rounds.far, request.source, draws=DRAWS)
        draws = [posterior.theta(z) for z in posterior.positions]
        estimate = posterior.theta(posterior.estimate)
        released = {"estimate": estimate, "draws": draws}
        released["rounds"] = [each.to_dict() for each in rounds.measurements]
        return Drawn(
            thetas=[estimate] if request.tables == 1 else draws[: request.tables],
            diagnostics=_diagnostics(posterior),
            released=released,
        )


def _refuse_undescribed(schema: Schema) -> None:
    """Refuse records that a model does not simulate as the table has them."""
    for declared, what in (
        (schema.unit is not None, "units with several rows"),
        (schema.survey_weight is not None, "survey weights"),
        (bool(schema.rules), "structural rules"),
    ):
        if declared:
            raise BadInput(
                f"summary infers from simulated records, which have no {what} yet, but the schema "
                f"declares them: use the mechanism anchored."
            )


def _diagnostics(posterior: Posterior) -> dict[str, Any]:
    """Return what the report says of the fit."""
    from understudy._jax import jax, jnp

    model = posterior.evidence.population.model
    draws = jax.vmap(model.constrain)(jnp.asarray(posterior.positions))
    parameters = {}
    for parameter in model.parameters:
        elements = np.asarray(draws[parameter.name]).reshape(len(posterior.positions), -1).T
        for name, values in zip(parameter.element_names, elements, strict=True):
            moments = {"mean": float(values.mean()), "sd": float(values.std())}
            parameters[name] = moments | {"rhat": None, "ess_bulk": None}
    nothing = ("lipschitz_bound", "local_epsilon", "censored_records", "divergences")
    mode = posterior.mode
    return dict.fromkeys(nothing) | {
        "parameters": parameters,
        "misfit": {
            "chi2": mode.misfit,
            "entries": len(posterior.evidence.values),
            "p_value": posterior.p_value,
        },
        "fit": {"attempts": posterior.attempts, "steps": mode.steps, "settled": mode.settled},
        "rounds": [
            {
                "kind": each.contribution.kind,
                "entries": each.contribution.width,
                "epsilon": each.epsilon,
                "noise_sd": float(np.sqrt(2) * each.laplace.mean()),
            }
            for each in posterior.evidence.measurements
        ],
        "directions": posterior.evidence.contributions[-1].width,
        "dimension": model.dimension,
    }
