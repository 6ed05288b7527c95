"""One audit: search for neighbours, measure them, and put the claim beside what was found."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from understudy._jax import jnp
from understudy.audit.draws import AlphaFunction, Draw, ladder_draws, row_draw
from understudy.audit.result import Audit, Curve
from understudy.audit.search import Bench, Grid, Pair, bases, bulk, largest_gap
from understudy.domain.schema import LARGEST_UNIT, Schema
from understudy.errors import BadInput
from understudy.mechanisms import Anchored, CensorW, Mechanism, RowMechanism
from understudy.mechanisms.pricing import Plan
from understudy.models.beta import beta
from understudy.models.record.declared import as_declared
from understudy.privacy.guarantee import Adjacency, Weights, check_epsilon

if TYPE_CHECKING:
    from understudy.models.base import Model

SMALLEST_N, LARGEST_N = 10, 100_000
_REFERENCE = 2000


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
) -> Audit:
    """Search for the neighbours that the mechanism tells apart best, on the Beta model.

    `alpha_function` gives the weights of records from their values, within [0, 1], and takes the
    place of weights learned from the table. `epsilon` is what to compare with; mechanisms without
    a target need it.

    With `rows_per_unit`, each of the `n` is a person with so many rows, and neighbours differ by a
    person. `unit` says whether the mechanism is told which rows belong together; if it is not, it
    takes each row for a record, and its guarantee claims nothing about people.
    """
    adjacency = Adjacency.parse(adjacency)
    if isinstance(n, bool) or not isinstance(n, int) or not SMALLEST_N <= n <= LARGEST_N:
        raise BadInput(f"n must be a number from {SMALLEST_N} to {LARGEST_N:,}, not {n!r}.")
    if type(rows_per_unit) is not int or not 1 <= rows_per_unit <= LARGEST_UNIT:
        raise BadInput(
            f"rows per unit must be a number from 1 to {LARGEST_UNIT}, not {rows_per_unit!r}."
        )
    if rows_per_unit > 1 and alpha_function is not None:
        raise BadInput("weights by a function of the record serve records of one row.")
    target = _target(mechanism, epsilon)
    model = _unit_model(rows_per_unit) if unit and rows_per_unit > 1 else _model()
    size = n * rows_per_unit
    claimed = _claimed(mechanism, model, size, adjacency, alpha_function)
    if not unit and rows_per_unit > 1:
        claimed = None
    found = []
    people = n if adjacency is Adjacency.ADD_REMOVE else n - 1
    for base in bases(people, seed, width=rows_per_unit):
        if isinstance(mechanism, Anchored):
            table = base.table(model, None)
            draws = ladder_draws(model, mechanism, table, size=size, seed=seed)
        elif isinstance(mechanism, RowMechanism):
            draws = [row_draw(model, mechanism, alpha_function, seed)]
        else:
            raise BadInput(f"{mechanism.name} draws no parameters, so there is nothing to audit.")
        pair = Bench(model, base, [draw.learn for draw in draws]).search(adjacency)
        found.append(_measured(model, pair, draws))
    best = max(found, key=lambda measured: measured.largest)
    return Audit(
        mechanism=mechanism.name,
        adjacency=adjacency,
        target=target,
        largest_log_ratio=best.largest,
        claimed=claimed,
        n=n,
        neighbour=str(best.pair),
        selection_log_ratio=(
            max(measured.selection for measured in found)
            if isinstance(mechanism, Anchored)
            else None
        ),
        curves=best.curves,
    )


@cache
def _model() -> Model:
    """Return the one Beta model, for which kernels are compiled once."""
    column = {"role": "confidential", "type": "continuous", "bounds": [0, 1]}
    return beta(Schema.from_dict({"columns": {"x": column}}))


@cache
def _unit_model(rows_per_unit: int) -> Model:
    """Return the Beta model of people with so many rows each."""
    columns = {
        "person": {"role": "unit"},
        "x": {"role": "confidential", "type": "continuous", "bounds": [0, 1]},
    }
    table = {"rows_per_unit": rows_per_unit}
    return as_declared(beta(Schema.from_dict({"table": table, "columns": columns})))


def with_record_weights(mechanism: Mechanism) -> Mechanism:
    """Return censor-w with weights that are fixed by a simulated reference, as a strict one has."""
    import pandas as pd

    from understudy.mechanisms.reference import reference

    if not isinstance(mechanism, CensorW):
        raise BadInput(f"record weights belong to censor-w, not to {mechanism.name}.")
    values = np.random.default_rng(0).beta(0.55, 2.7, _REFERENCE)
    history = pd.DataFrame({"x": values})
    return replace(mechanism, reference=reference(_model(), history, confidential=False))


def _target(mechanism: Mechanism, epsilon: float | None) -> float:
    target = getattr(mechanism, "epsilon", None) if epsilon is None else epsilon
    if target is None:
        raise BadInput(f"{mechanism.name} has no epsilon of its own to compare with: give one.")
    return check_epsilon(target)


def _claimed(
    mechanism: Mechanism,
    model: Model,
    size: int,
    adjacency: Adjacency,
    alpha_function: AlphaFunction | None,
) -> float | None:
    """Return the claim: what is charged, and never more than what was asked for.

    The second part keeps a mechanism that censors at a larger bound than it says from being
    excused by that bound.
    """
    asked = getattr(mechanism, "epsilon", math.inf) * adjacency.steps / mechanism.adjacency.steps
    if alpha_function is not None:
        if getattr(mechanism, "weights", None) is not Weights.SAME_DATA:
            raise BadInput(f"{mechanism.name} learns no weights that a function could replace.")
        return asked if isinstance(mechanism, RowMechanism) and mechanism.bound < math.inf else None
    bounds: tuple[float, ...] = (mechanism.bound,) if isinstance(mechanism, RowMechanism) else ()
    if isinstance(mechanism, Anchored):
        plan = mechanism.plan(
            size=size, dimension=model.dimension, rows_per_record=model.rows_per_record
        )
        bounds = tuple(stage.bound for stage in plan)
    charged = Plan(mechanism, bounds, draws=1).cost
    return None if charged is None else min(asked, charged[adjacency].epsilon)


@dataclass(frozen=True, eq=False)
class _Measured:
    pair: Pair
    largest: float
    selection: float
    curves: tuple[Curve, ...]


def _measured(model: Model, pair: Pair, draws: list[Draw]) -> _Measured:
    """Compare two neighbours, draw by draw, on grids that are fine in the bulk of both posteriors.

    Exact draws are compared once more, by the whole numbers that decide which candidate is picked.
    """
    tables = [pair.base.table(model, slot) for slot in (pair.before, pair.after)]
    total, selection = 0.0, 0.0
    curves: tuple[Curve, ...] = ()
    for draw in draws:
        sides = [(table, draw.learn(table)) for table in tables]
        grid = Grid.around([bulk(model, table, row) for table, row in sides])
        one, other = (grid.log_density(model, table.data, row) for table, row in sides)
        total += largest_gap(one, other)
        curves = _curves(model, grid, one, other)
        if draw.candidates is not None:
            selection += largest_gap(*(draw.candidates.log_probabilities(*side) for side in sides))
    return _Measured(pair, max(total, selection), selection, curves)


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
