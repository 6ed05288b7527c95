"""Summary: bound what a record adds to a sum, add noise once, and do the rest in public."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
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
    from understudy.inference.contribution import Contribution
    from understudy.inference.measurement import Measurement
    from understudy.inference.moments import Population
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
    model at the θ₀ that the first one points to, in the directions that pay. An anchor is a θ₀, and
    the first round falls away.

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

    @property
    def rounds(self) -> tuple[float, ...]:
        """ε of each round when a record is added or removed; together at most what was asked."""
        own = self.epsilon / self.adjacency.steps * _HAIR
        if self.anchor is not None:
            return (own,)
        first = own * FIRST_SHARE
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
            losses = [adjacency.steps * Fraction(each) for each in mechanism.rounds]
            return Cost(stated, rounded_up(sum((loss**2 / 2 for loss in losses), Fraction())))

        return {each: under(each) for each in Adjacency}

    @property
    def stages(self) -> int:
        """How many rounds there are."""
        return len(self.mechanism.rounds)

    def draw(self) -> Drawn:
        """Measure round by round, and infer from what was measured."""
        from understudy.inference.evidence import Evidence
        from understudy.inference.posterior import infer

        request = self.request
        measurements, near, far = self._measure()
        with stage(request.progress, "Inferring"):
            evidence = Evidence(_population(request), measurements)
            posterior = infer(evidence, near, far, request.source, draws=DRAWS)
        draws = [posterior.theta(z) for z in posterior.positions]
        estimate = posterior.theta(posterior.estimate)
        released = {"estimate": estimate, "draws": draws}
        released["rounds"] = [each.to_dict() for each in measurements]
        return Drawn(
            thetas=[estimate] if request.tables == 1 else draws[: request.tables],
            diagnostics=_diagnostics(posterior),
            released=released,
        )

    def _measure(self) -> tuple[tuple[Measurement, ...], np.ndarray, np.ndarray]:
        """Return the rounds, θ₀ of the last one, and the prior's centre."""
        from understudy._jax import jnp
        from understudy.inference.cells import coarse
        from understudy.inference.contribution import TableContribution
        from understudy.inference.directions import choose_scores
        from understudy.inference.evidence import Evidence
        from understudy.inference.mode import find_mode
        from understudy.inference.posterior import RECORDS
        from understudy.inference.start import starting_point
        from understudy.samplers.proposals import prior_proposal

        request, model = self.request, self.request.model
        assert model is not None
        population, source = _population(request), request.source
        centre, *shares = np.asarray(prior_proposal(model).centre), *self.mechanism.rounds
        evidence = Evidence(population, ())
        if self.mechanism.anchor is None:
            share, columns = shares.pop(0), request.schema.confidential
            tables = tuple(coarse(c, share / len(columns) * population.size) for c in columns)
            table = _measured(request, TableContribution(model, tables), share, "Table")
            evidence = Evidence(population, (table,))
            mode = find_mode(evidence, starting_point(evidence, source), source, records=RECORDS)
            point, precision = mode.point, mode.precision
        else:
            theta = {name: jnp.asarray(value) for name, value in self.mechanism.anchor.items()}
            point = evidence.with_size(np.asarray(model.unconstrain(theta)))
            precision = evidence.prior(point)[1]
        z = np.asarray(model.round_to_grid(jnp.asarray(evidence.position(point))))
        known = np.linalg.inv(np.linalg.inv(precision)[: len(z), : len(z)])
        scores = choose_scores(
            population,
            z,
            known,
            source,
            epsilon=shares[0],
            records=RECORDS,
            counted=not (evidence.measurements or population.known),
        )
        last = _measured(request, scores, shares[0], "Scores")
        return (*evidence.measurements, last), point, evidence.with_size(centre)


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


def _population(request: Request) -> Population:
    from understudy.domain.skeleton import count_records
    from understudy.inference.moments import Population

    assert request.model is not None
    skeleton = request.skeleton
    size = count_records(skeleton.public) if skeleton.copied else request.size
    return Population(request.model, skeleton.public, size, skeleton.copied)


def _measured(
    request: Request, contribution: Contribution, epsilon: float, name: str
) -> Measurement:
    """Sum over the confidential table and add noise: the only place that sees it."""
    from understudy.inference.measurement import Measurement, Noise
    from understudy.mechanisms.noise import with_laplace

    with stage(request.progress, name):
        true, source = contribution.total(request.columns), request.source
        noisy, scale = with_laplace(
            true, sensitivity=contribution.bound, epsilon=epsilon, source=source
        )
    return Measurement(contribution, noisy, Noise(scale), epsilon)


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
                "noise_sd": math.sqrt(each.noise.variance) / each.contribution.unit,
            }
            for each in posterior.evidence.measurements
        ],
        "directions": len(posterior.evidence.contributions[-1].to_dict()["directions"]),
        "dimension": model.dimension,
    }
