"""One audit: search for neighbours, measure them, and put the claim beside what was found."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import cast

import numpy as np
import pandas as pd

from understudy._jax import jnp
from understudy.audit.result import Audit, Curve
from understudy.audit.search import (
    Base,
    Bench,
    Grid,
    Learn,
    Pair,
    Table,
    bases,
    bulk,
    largest_gap,
)
from understudy.audit.sums import asked, audit_sums
from understudy.domain.records import Held
from understudy.domain.schema import LARGEST_UNIT, Schema
from understudy.domain.skeleton import Skeleton
from understudy.errors import BadInput
from understudy.mechanisms import CensorW, Mechanism, Request
from understudy.mechanisms.base import EarlierTheta
from understudy.mechanisms.plan import DrawTarget
from understudy.mechanisms.reference import reference
from understudy.mechanisms.registry import resolve_sampler
from understudy.models.base import Model
from understudy.models.beta import beta
from understudy.models.record.declared import as_declared
from understudy.privacy.guarantee import Adjacency, Weights, check_epsilon
from understudy.samplers.exact import UNIT, summed_scores
from understudy.score import Row
from understudy.support.randomness import Source

SMALLEST_N, LARGEST_N = 10, 100_000
_REFERENCE = 2000

AlphaFunction = Callable[[np.ndarray], np.ndarray]
"""Weights of records from their values."""


def audit(
    mechanism: Mechanism,
    *,
    n: int,
    adjacency: Adjacency | str,
    seed: int = 0,
    alpha_function: AlphaFunction | None = None,
    epsilon: float | None = None,
    rows_per_unit: int = 1,
    unit: bool = True,
    model: Model | None = None,
) -> Audit:
    """Search for the neighbours that the mechanism tells apart best.

    A mechanism that draws θ is tried on the Beta model of one column in [0, 1]; one that publishes
    sums with any model.

    Args:
        mechanism: What to break, with its ε.
        n: Records of the simulated tables.
        adjacency: Which tables are neighbours.
        seed: From which the tables are simulated.
        alpha_function: Weights of records from their values, within [0, 1], in place of weights
            that are learned from the table.
        epsilon: What to compare with, by default the mechanism's own; without a target it has none.
        rows_per_unit: Makes each of the `n` a person with so many rows; neighbours then differ by a
            person.
        unit: Whether the mechanism is told which rows belong together; if it is not, it takes each
            row for a record, and its guarantee claims nothing about people.
        model: Sums: the model of a record, whose schema declares the domain that is searched; the
            Beta model by default.

    Returns:
        The largest log-ratio that was found, beside what was asked for and what is claimed.
    """
    adjacency = Adjacency.parse(adjacency)
    if isinstance(n, bool) or not isinstance(n, int) or not SMALLEST_N <= n <= LARGEST_N:
        raise BadInput(f"`n` must be a number from {SMALLEST_N} to {LARGEST_N:,}, not {n!r}.")
    if type(rows_per_unit) is not int or not 1 <= rows_per_unit <= LARGEST_UNIT:
        raise BadInput(
            f"`rows_per_unit` must be a number from 1 to {LARGEST_UNIT}, not {rows_per_unit!r}."
        )
    if rows_per_unit > 1 and alpha_function is not None:
        raise BadInput("weights by a function of the record serve records of one row.")
    target = mechanism.target if epsilon is None else epsilon
    if target is None:
        raise BadInput(f"{mechanism.name} has no ε of its own to compare with: give `epsilon`.")
    target = check_epsilon(target)
    if model is not None:
        check_takes_models(mechanism)
        if not isinstance(model, Model):
            raise BadInput(f"`model` must be a model, not a {type(model).__name__}.")
    if mechanism.by_sums:
        if rows_per_unit > 1 or alpha_function is not None:
            raise BadInput(f"{mechanism.name} is audited with rows as records, without weights.")
        tried = _model() if model is None else model
        return audit_sums(mechanism, tried, n=n, adjacency=adjacency, target=target, seed=seed)
    return _audit_draws(
        mechanism,
        n,
        adjacency,
        target,
        alpha_function,
        seed=seed,
        rows_per_unit=rows_per_unit,
        unit=unit,
    )


def check_takes_models(mechanism: Mechanism) -> None:
    """Refuse to audit draws with any other model than that for which a grid is made."""
    if not mechanism.by_sums:
        raise BadInput(
            f"the audit of {mechanism.name}, on a grid, serves the beta model on [0, 1] alone: "
            f"leave out `model`."
        )


def _audit_draws(
    mechanism: Mechanism,
    n: int,
    adjacency: Adjacency,
    target: float,
    alpha_function: AlphaFunction | None,
    *,
    seed: int,
    rows_per_unit: int,
    unit: bool,
) -> Audit:
    """Compare posteriors of neighbouring tables, on the Beta model."""
    model = _model(rows_per_unit) if unit and rows_per_unit > 1 else _model()
    people = n if adjacency is Adjacency.ADD_REMOVE else n - 1
    measurements = []
    for base in bases(people, seed, width=rows_per_unit):
        request = _request(mechanism, model, base, size=n * rows_per_unit, seed=seed)
        claimed = _claimed(request, adjacency, alpha_function)
        draws = draws_of(request, model, base.table(model, None), alpha_function)
        pair = Bench(model, base, [draw.learn for draw in draws]).search(adjacency)
        measurements.append(_measured(model, pair, draws))
    best = max(measurements, key=lambda measured: measured.largest)
    picked = [each.selection for each in measurements if each.selection is not None]
    return Audit(
        mechanism=mechanism.name,
        adjacency=adjacency,
        target=target,
        largest_log_ratio=best.largest,
        claimed=claimed if unit or rows_per_unit == 1 else None,
        n=n,
        neighbour=str(best.pair),
        selection_log_ratio=max(picked, default=None),
        curves=best.curves,
    )


def _request(mechanism: Mechanism, model: Model, base: Base, *, size: int, seed: int) -> Request:
    """Return the records that neighbours share, as a synthesis would be asked about them."""
    return Request(
        mechanism=mechanism,
        model=model,
        schema=model.schema,
        records=Held(base.columns(model, base.others)),
        skeleton=Skeleton({}, size),
        size=size,
        sampler=resolve_sampler("auto", mechanism, model),
        source=Source(seed),
    )


@cache
def _model(rows_per_unit: int | None = None) -> Model:
    """Return the one Beta model of records, for which kernels are compiled once.

    With a number, it is the one of people with so many rows each.
    """
    columns = {"x": {"role": "confidential", "type": "continuous", "bounds": [0, 1]}}
    if rows_per_unit is None:
        return beta(Schema.from_dict({"columns": columns}))
    table = {"rows_per_unit": rows_per_unit}
    columns = {"person": {"role": "unit"}, **columns}
    return as_declared(beta(Schema.from_dict({"table": table, "columns": columns})))


def with_record_weights(mechanism: Mechanism) -> Mechanism:
    """Return censor-w with weights that are fixed by a simulated reference, as a strict one has."""
    if mechanism.earlier is not EarlierTheta.NEEDED:
        raise BadInput(
            f"`with_record_weights` is for censor-w, not for {mechanism.name}: leave it out."
        )
    history = pd.DataFrame({"x": np.random.default_rng(0).beta(0.55, 2.7, _REFERENCE)})
    learned = reference(_model(), history, confidential=False)
    return replace(cast("CensorW", mechanism), reference=learned)


def _claimed(
    request: Request, adjacency: Adjacency, alpha_function: AlphaFunction | None
) -> float | None:
    """Return the claim: what is charged, and never more than what was asked for.

    The second part keeps a mechanism that censors at a larger bound than it says from being
    excused by that bound.
    """
    mechanism = request.mechanism
    target = asked(mechanism, adjacency)
    if alpha_function is not None:
        if mechanism.weights is not Weights.SAME_DATA:
            raise BadInput(f"{mechanism.name} learns no weights that a function could replace.")
        return target if getattr(mechanism, "bound", math.inf) < math.inf else None
    stated = mechanism.plan(request).epsilon
    return None if stated is None else min(target, stated[adjacency])


@dataclass(frozen=True, eq=False)
class Draw:
    """One draw of θ."""

    learn: Learn
    """What is put into the equation for any table, with everything learned from that table."""
    picked: Callable[[Table, Row], np.ndarray] | None = None
    """Of an exact draw, the logarithm of the probability with which it picks each candidate."""


def draws_of(
    request: Request, model: Model, table: Table, alpha_function: AlphaFunction | None
) -> list[Draw]:
    """Return the draws that a mechanism makes to answer a request, from its targets on a table."""

    def draw(target: DrawTarget) -> Draw:
        def learn(any_table: Table) -> Row:
            count = any_table.count
            row = target.row(any_table.data, count)
            alpha = row.alpha[:count]
            if alpha_function is not None:
                alpha = jnp.asarray(alpha_function(any_table.values[:count]))
            return any_table.weighted(row, alpha)

        if target.selection is None:
            return Draw(learn)
        z = target.selection.candidates
        # The list is public, and so is what is left of the scores without the table.
        fixed = target.selection.scores - summed_scores(model, z, table.data, learn(table))

        def picked(any_table: Table, row: Row) -> np.ndarray:
            scores = summed_scores(model, z, any_table.data, row) + fixed
            heights = (scores - scores.max()) / UNIT
            return np.asarray(heights - np.logaddexp.reduce(heights))

        return Draw(learn, picked)

    return [draw(target) for target in request.mechanism.targets(request)]


@dataclass(frozen=True, eq=False)
class _Measured:
    pair: Pair
    largest: float
    selection: float | None
    """Of exact draws."""
    curves: tuple[Curve, ...]


def _measured(model: Model, pair: Pair, draws: list[Draw]) -> _Measured:
    """Compare two neighbours, draw by draw, on grids that are fine in the bulk of both posteriors.

    Exact draws are compared once more, by the whole numbers that decide which candidate is picked.
    """
    tables = [pair.base.table(model, slot) for slot in (pair.before, pair.after)]
    total = 0.0
    selections: list[float] = []
    curves: tuple[Curve, ...] = ()
    for draw in draws:
        sides = [(table, draw.learn(table)) for table in tables]
        grid = Grid.around([bulk(model, table, row) for table, row in sides])
        one, other = (grid.log_density(model, table.data, row) for table, row in sides)
        total += largest_gap(one, other)
        curves = _curves(model, grid, one, other)
        if draw.picked is not None:
            selections.append(largest_gap(*(draw.picked(*side) for side in sides)))
    selection = sum(selections) if selections else None
    return _Measured(pair, max(total, selection or 0.0), selection, curves)


def _curves(model: Model, grid: Grid, one: np.ndarray, other: np.ndarray) -> tuple[Curve, ...]:
    """Return marginal densities on the natural scale; every parameter is one coordinate here."""
    heights = [
        np.exp(density).reshape([len(axis) for axis in grid.axes]) for density in (one, other)
    ]
    curves = []
    for k, (parameter, axis) in enumerate(zip(model.parameters, grid.axes, strict=True)):
        at = parameter.transform(jnp.asarray(axis))
        stretch = np.exp(parameter.transform.log_abs_det_jacobian(jnp.asarray(axis), at))
        before, after = (grid.marginal(height, k) / stretch for height in heights)
        curves.append(Curve(parameter.name, np.asarray(at), before, after))
    return tuple(curves)
