"""Summary: bound what a record adds to a sum, add noise once, and do the rest in public."""

from __future__ import annotations

import math
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
from understudy.privacy.accounting import HAIR, Cost, epsilon_above, rho_within, rounded_up
from understudy.privacy.assumptions import ORIGINS
from understudy.privacy.guarantee import Adjacency, Kind, Weights
from understudy.support.progress import stage

if TYPE_CHECKING:
    from understudy.inference.allowance import Allowance
    from understudy.inference.measurement import Measurement
    from understudy.inference.posterior import Posterior
    from understudy.inference.whole import WholePosterior
    from understudy.mechanisms.choosing import Choice
    from understudy.mechanisms.one_round import Rounds
    from understudy.mechanisms.request import Request
    from understudy.models.base import Model

FIRST_SHARE, NOISY_SHARE = 0.3, 0.5
"""Share of ε that the coarse table takes, and where ε times the size is small. Settled on Beta(0.8,
5), Beta(60, 15) and Beta(150, 350), and on samples of the CPS of 1992 and of the ACS."""
CLEAR, NOISY = 1000.0, 250.0
"""ε times size from which on, and up to which, it is that share."""
DRAWS, WIDE_DRAWS, FEW_DRAWS = 400, 100, 50
"""Draws of θ that are published beside the estimate, those of a model of whole tables, and those of
one with a great many parameters."""
_MANY_PARAMETERS = 2000


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

    With a δ it is ‖w(x)‖₂ ≤ C, and the noise is discrete Gaussian with deviation C/√(2ρ): ρ-zCDP
    when a record is added or removed, 4ρ when one is replaced, because the sum may then move by
    2C. ρ adds up over rounds as ε does. It is the largest that is known to be (ε, δ)-DP under the
    adjacency asked for.

    The first round is a coarse table of every confidential column; the second sums scores of the
    model at the θ₀ that the first one points to, in the directions that pay. Of a model of whole
    tables it counts pairs of columns instead. An anchor is a θ₀, and the first round falls away:
    of a whole table, all is then measured at once.
    With survey weights and public columns, a round before them measures how these hang together.

    Every default depends on ε, the schema and the declared size alone, or on what was published.
    """

    epsilon: float
    """The privacy loss of all rounds together."""
    delta: float | None = None
    """δ at which that ε holds, with normal noise; None for pure ε."""
    anchor: Mapping[str, Any] | None = None
    """θ₀ by name, from an earlier release; of a whole table as `read_anchor` returns it."""
    carried: Sequence[Mapping[str, Any]] | None = None
    """Draws of θ of that release, which then are the prior: right if θ has not changed since."""

    name = "summary"
    kind = Kind.STRICT
    weights = Weights.NONE
    needs_size = True
    measures_once = True
    tried_unasked = True
    earlier = EarlierTheta.WELCOME
    by_sums = True

    def plan(self, request: Request) -> SummaryPlan:
        """Return the rounds; an anchor that is no value of the model is refused."""
        from understudy.inference.shares import Shares
        from understudy.mechanisms.published import check_theta, place_of

        assert request.model is not None
        if request.records.count > Shares.declared(request.schema).most_summed:
            raise BadInput(
                "the table has so many rows that their sums might not fit into 64 bits: split it "
                "into tables of different people."
            )
        if self.anchor is not None:
            place_of(self.anchor, request.model)
        if self.carried is not None and self.anchor is None:
            raise BadInput("what an earlier release knew is carried over together with its anchor.")
        if self.carried is not None and request.model.by_tables:
            raise BadInput(
                "what an earlier release knew is not carried over to a whole table: leave out "
                "`carried`."
            )
        for theta in self.carried or ():
            check_theta(dict(theta), request.model)
        plan = SummaryPlan(request, self)
        plan.of_rows()
        return plan

    def samplers(self, model: Model) -> Sequence[str]:
        """It draws nothing from the table but noise."""
        return ("none",)

    def measures(self, request: Request) -> Sequence[Measurement | Choice]:
        """Return what its rounds measure and choose."""
        return self.plan(request).measure().published

    @classmethod
    def no_combining(cls, schema: Schema) -> str | None:
        """Its draws of θ follow the posterior given the noisy sums, where that means anything."""
        from understudy.inference.shares import Shares

        weight = schema.released_weight
        if weight is not None:
            return (
                f"each table has as many rows as the sample, so that the survey weights in "
                f"'{weight.name}' add up to the population, and so few do not tell how far an "
                f"estimate may be off: ask a release of one table by infer."
            )
        return Shares.declared(schema).no_intervals

    @property
    def origins(self) -> Sequence[str]:
        """Where the start comes from, and the prior if it was carried over."""
        carried = () if self.carried is None else ("carried",)
        return () if self.anchor is None else ("release", *carried)

    def following(self, theta: Mapping[str, Any] | None, model: Model | None) -> Summary:
        """Return it anchored at θ; that of a whole table is told together with its groups."""
        in_turn = None if model is None or theta is None else model.in_turn
        if model is None or in_turn is None or not in_turn.structure.groups:
            return replace(self, anchor=theta)
        return replace(self, anchor={"model": model.spec, "parameters": theta})

    @classmethod
    def trials(cls) -> Sequence[Mapping[str, float]]:
        """It has nothing to settle but ε."""
        return ({},)

    def rounds(self, model: Model, size: int) -> tuple[Allowance, ...]:
        """Return ε or ρ of each round when a record is added or removed: together what was asked.

        Args:
            model: The model of a record.
            size: How many records there are, or are declared to be.
        """
        from understudy.inference import margins
        from understudy.inference.allowance import Allowance
        from understudy.inference.shares import Shares
        from understudy.inference.tables import table_plan

        if self.delta is None:
            own = Allowance(epsilon=self.epsilon / self.adjacency.steps * HAIR)
        else:
            within = rho_within(self.epsilon, delta=self.delta)
            own = Allowance(rho=within / self.adjacency.steps**2 * HAIR)
        before: tuple[Allowance, ...] = ()
        if margins.needed(model.schema):
            first, own = own.split(margins.SHARE)
            before = (first,)
        rows = size / Shares.declared(model.schema).most
        if self.anchor is not None:
            return (*before, own)
        if model.by_tables:
            return (*before, *table_plan(model, own, rows).shares)
        return (*before, *own.split_accuracy(coarse_share(own.information(rows, among=1))))


def coarse_share(information: float) -> float:
    """Return the share of ε for the coarse table of a model of one outcome.

    Scores tell more than cells do, but only at a θ₀ that is about right: where noise would let the
    table miss it, the table gets more.

    Args:
        information: ε times the number of records.
    """
    far = math.log(CLEAR / max(information, NOISY)) / math.log(CLEAR / NOISY)
    return FIRST_SHARE + (NOISY_SHARE - FIRST_SHARE) * max(far, 0.0)


@dataclass(frozen=True, eq=False, repr=False)
class SummaryPlan(Plan):
    """Measures round by round, then infers in public."""

    mechanism: Summary

    @property
    def cost(self) -> Price:
        """What was asked for, whatever the number of tables."""
        mechanism = self.mechanism

        def under(adjacency: Adjacency) -> Cost:
            if self.delta is not None:
                rhos = [adjacency.steps**2 * Fraction(each.amount) for each in self._shares]
                return Cost(None, rounded_up(sum(rhos, Fraction())))
            stated = mechanism.epsilon / mechanism.adjacency.steps * adjacency.steps
            losses = [adjacency.steps * Fraction(each.amount) for each in self._shares]
            return Cost(stated, rounded_up(sum((loss**2 / 2 for loss in losses), Fraction())))

        return {each: under(each) for each in Adjacency}

    @property
    def delta(self) -> float | None:
        """The δ that was asked for."""
        return self.mechanism.delta

    @property
    def epsilon(self) -> dict[Adjacency, float] | None:
        """The ε that was asked for; under the other adjacency twice or half of it, if pure.

        At a δ it is what ρ stands for there, which is not the same: 2.12 for 1 at δ = 10⁻⁶.
        """
        mechanism, delta = self.mechanism, self.mechanism.delta
        if delta is None:
            return super().epsilon
        other = {each: epsilon_above(cost, delta=delta) for each, cost in self.cost.items()}
        return other | {mechanism.adjacency: mechanism.epsilon}

    @property
    def stages(self) -> int:
        """How many rounds there are."""
        return len(self._shares)

    @cached_property
    def _shares(self) -> tuple[Allowance, ...]:
        """ε or ρ of each round."""
        from understudy.mechanisms.one_round import population_of

        assert self.request.model is not None
        return self.mechanism.rounds(self.request.model, population_of(self.request).size)

    def of_rows(self) -> Request:
        """Return the request with the model of a row: sums run over rows, and rows are simulated.

        Draws of θ that make no prior are refused.
        """
        from understudy.inference.history import carried

        assert self.request.model is not None
        model, draws = self.request.model.row or self.request.model, self.mechanism.carried
        return replace(self.request, model=model if draws is None else carried(model, draws))

    def measure(self) -> Rounds:
        """Measure round by round: all that is ever taken from the table."""
        from understudy.mechanisms.rounds import measure

        return measure(self.of_rows(), self._shares, self.mechanism.anchor)

    def draw(self) -> Drawn:
        """Measure round by round, and infer from what was measured."""
        from understudy.inference.shares import Shares

        request, rounds = self.request, self.measure()
        model = rounds.population.model
        with stage(request.progress, "Inferring"):
            posterior = _posterior(rounds, request)
        estimate, *walked = posterior.thetas
        # Neighbours on a chain are alike: in another order, any few draws stand for all of them.
        draws = [walked[k] for k in np.random.default_rng(0).permutation(len(walked))]
        released = {"estimate": estimate, "draws": draws}
        released["rounds"] = [each.to_dict() for each in rounds.published]
        if model.in_turn is not None:
            released["model"] = model.spec
        released["check"] = posterior.check.to_dict()
        declared = Shares.declared(request.schema)
        reason, assumed = declared.no_intervals, self.mechanism.carried and ORIGINS["carried"]
        released["intervals"] = {"valid": reason is None, "reason": reason}
        if assumed:
            mean, covariance = model.normal_prior  # type: ignore[misc]
            normal = {"mean": mean.tolist(), "covariance": covariance.tolist()}
            released["prior"] = {"assumes": assumed} | normal
        notes = [note for note in (declared.capped, reason, assumed) if note]
        return Drawn(
            thetas=[estimate] if request.tables == 1 else draws[: request.tables],
            diagnostics=_diagnostics(model, posterior, rounds.measurements) | {"notes": notes},
            released=released,
            model=model if model.in_turn is not None else None,
        )


def _posterior(rounds: Rounds, request: Request) -> Posterior | WholePosterior:
    """Infer θ from what was measured."""
    from understudy.inference.evidence import Evidence
    from understudy.inference.posterior import infer
    from understudy.inference.whole import Whole, infer_whole

    model, source = rounds.population.model, request.source
    if model.in_turn is not None:
        few = model.dimension <= _MANY_PARAMETERS
        count = max(WIDE_DRAWS if few else FEW_DRAWS, request.tables)
        return infer_whole(Whole(rounds.population, rounds.evidence), source, draws=count)
    evidence = Evidence(rounds.population, rounds.evidence)
    count = WIDE_DRAWS if model.by_tables else DRAWS
    return infer(evidence, rounds.near, rounds.far, source, draws=count)


def _diagnostics(
    model: Model, posterior: Posterior | WholePosterior, measured: Sequence[Measurement]
) -> dict[str, Any]:
    """Return what the report says of the fit."""
    parameters = {}
    for parameter in model.parameters:
        draws = posterior.natural[parameter.name][1:]
        elements = draws.reshape(len(draws), -1).T
        for name, values in zip(parameter.element_names, elements, strict=True):
            moments = {"mean": float(values.mean()), "sd": float(values.std())}
            parameters[name] = moments | {"rhat": None, "ess_bulk": None}
    nothing = ("lipschitz_bound", "local_epsilon", "censored_records", "divergences")
    return dict.fromkeys(nothing) | {
        "parameters": parameters,
        "misfit": posterior.check.to_dict(),
        "fit": posterior.fit,
        "rounds": [
            {
                "kind": each.contribution.kind,
                "entries": each.contribution.width,
                "epsilon": each.epsilon,
                "rho": each.rho,
                "noise_sd": float(np.sqrt(2) * each.laplace.mean()),
            }
            for each in measured
        ],
        "directions": posterior.directions,
        "dependences": posterior.dependences,
        "dimension": model.dimension,
    }
