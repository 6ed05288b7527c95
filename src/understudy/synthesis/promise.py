"""What a release promises, from what was asked for, what it costs and what paid for it."""

from __future__ import annotations

from collections.abc import Iterator

from understudy.mechanisms.plan import Plan
from understudy.mechanisms.request import Request
from understudy.privacy import assumptions
from understudy.privacy.guarantee import SEEDED, Guarantee, Kind
from understudy.synthesis.charging import Charge


def promise(plan: Plan, charge: Charge | None) -> Guarantee:
    """Return the guarantee of what a plan draws."""
    request, cost = plan.request, plan.cost
    mechanism, skeleton = request.mechanism, request.skeleton
    return Guarantee(
        mechanism=mechanism.name,
        kind=request.kind,
        asked=mechanism.adjacency,
        epsilon=plan.epsilon,
        delta=plan.delta,
        rho=None if cost is None else {a: each.rho for a, each in cost.items()},
        draws=request.tables,
        stages=plan.stages,
        measured_once=mechanism.measures_once,
        weights=mechanism.weights,
        sampler=request.sampler,
        assumptions=tuple(_assumed(request, with_delta=plan.delta is not None)),
        seeded=request.source.seeded,
        rows=skeleton.rows,
        membership=skeleton.membership,
        accept_poor_mixing=request.accept_poor_mixing,
        charged=None if charge is None else charge.entry.reference,
        period=request.period,
        population=None if charge is None else charge.ledger.settings.population or None,
        unit=request.unit,
    )


def _assumed(request: Request, *, with_delta: bool) -> Iterator[str]:
    """Yield what must be true, the most particular first."""
    mechanism, accepted = request.mechanism, request.accept_poor_mixing
    if mechanism.reason:
        yield mechanism.reason
    if mechanism.measures_once:
        yield assumptions.MEASURED_ONCE
    if request.sampler == "nuts":
        yield from assumptions.chains(request.kind, request.tables, accept_poor_mixing=accepted)
    for origin in mechanism.origins:
        yield assumptions.ORIGINS[origin]
    if request.calibrated_on is not None:
        yield assumptions.CALIBRATED_ON[request.calibrated_on]
    if mechanism.kind is not Kind.NONE:
        yield from _about_the_table(request)
    if with_delta:
        yield assumptions.NORMAL_NOISE
    if request.kind.states_epsilon:
        yield assumptions.ADDS_UP_WITH_DELTA if with_delta else assumptions.ADDS_UP
    if request.balanced:
        yield assumptions.BALANCED
    if request.source.seeded:
        yield SEEDED[0].upper() + SEEDED[1:]


def _about_the_table(request: Request) -> Iterator[str]:
    schema, skeleton = request.schema, request.skeleton
    if skeleton.copied:
        yield assumptions.copied_predictors(request.unit)
    elif skeleton.public:
        yield assumptions.SEPARATE_PREDICTORS
    elif skeleton.true_size:
        yield assumptions.TRUE_SIZE
    yield assumptions.protected(request.unit, row_is_unit=schema.row_is_unit)
    weight = schema.survey_weight or schema.released_weight
    if weight is not None:
        yield assumptions.survey_weights(weight.name)
    yield assumptions.SETTINGS
    if request.mechanism.needs_model:
        yield assumptions.MODEL
    yield assumptions.PUBLIC_FILES
