"""Rows that satisfy the schema's rules, drawn from a model that does not know them.

Columns that a rule fixes are set; a row that still breaks a rule is drawn again, beside the same
public values. That is the model's distribution given that the rules hold. A row that no draw makes
right is repaired: its last draw is moved onto the limits that it oversteps, or gives way to a point
of the declared domain. Everything starts from θ and public values, so none of it costs privacy.

Whether repair can succeed depends on the public values and the declared domain alone, so it is
known before anything is drawn or charged (`check_satisfiable`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.domain.rules import enforce, holds, moved
from understudy.domain.schema import Schema
from understudy.domain.tables import Columns, within_domain
from understudy.errors import BadInput

_TRIES = 100
"""Draws for each row: where fewer than one in a hundred satisfies the rules, repair takes over."""
_BLOCK = 1024
_POINTS = 1024
_SWEEPS = 16
"""Points that are tried on all rows at once, before each row that is left tries all of them."""


@dataclass(frozen=True)
class Satisfying:
    """Confidential columns of rows that satisfy every rule."""

    columns: Columns
    repaired: int
    """How many of them no draw made right."""


def draw_satisfying(
    draw: Callable[[Columns, int], Columns], public: Columns, rows: int, schema: Schema
) -> Satisfying:
    """Return rows beside the given public ones, drawn until they satisfy the rules."""
    columns, satisfied = _settled(draw(public, rows), public, schema)
    drawn = rows
    while not satisfied.all() and drawn < _TRIES * (rows + _BLOCK):
        pending = np.flatnonzero(~satisfied)
        # Blocks of few sizes, so that few kernels are compiled; a row may stand in one repeatedly.
        block = max(_BLOCK, 1 << (len(pending) - 1).bit_length())
        chosen = np.resize(pending, block)
        beside = _taken(public, chosen)
        redrawn, right = _settled(draw(beside, block), beside, schema)
        drawn += block
        # Of several right draws for one row the last is kept, which is as random as the first.
        _replace(columns, chosen[right], _taken(redrawn, right))
        satisfied[chosen[right]] = True
    pending = np.flatnonzero(~satisfied)
    if pending.size:
        beside = _taken(public, pending)
        repaired, right = _settled(_taken(columns, pending), beside, schema, move=True)
        left = np.flatnonzero(~right)
        if left.size:
            _replace(repaired, left, _points_satisfying(_taken(beside, left), len(left), schema))
        _replace(columns, pending, repaired)
    return Satisfying(columns, len(pending))


def check_satisfiable(schema: Schema, public: Columns) -> None:
    """Refuse rules that no record of the declared domain satisfies, beside some public row."""
    if schema.rules:
        rows = len(next(iter(public.values()))) if public else 1
        _points_satisfying(public, rows, schema)


def _settled(
    drawn: Columns, public: Columns, schema: Schema, *, move: bool = False
) -> tuple[Columns, NDArray[np.bool_]]:
    """Return the confidential columns with all that rules fix, and which rows satisfy the rules.

    If asked to, move columns onto the limits that they overstep.
    """
    own = within_domain(drawn, schema)
    fixed = enforce(schema.rules, {**public, **own})
    if move:
        fixed = moved(schema.rules, fixed, {column.name: column for column in schema.columns})
    # A value that a rule puts outside the domain would be brought back inside, and break the rule.
    inside = within_domain({name: fixed[name] for name in own}, schema)
    return inside, holds(schema.rules, {**public, **inside})


def _points_satisfying(public: Columns, rows: int, schema: Schema) -> Columns:
    """Return a point of the domain for each public row that satisfies the rules beside it."""
    domains = _domains(schema)
    points = {name: np.repeat(values[:1], rows) for name, values in domains[0].items()}
    left = np.arange(rows)
    for domain in domains:
        for point in range(_SWEEPS):
            tried = {name: np.repeat(values[point], len(left)) for name, values in domain.items()}
            settled, right = _settled(tried, _taken(public, left), schema, move=True)
            _replace(points, left[right], _taken(settled, right))
            left = left[~right]
            if not left.size:
                return points
    for row in left:
        beside = _taken(public, np.full(_POINTS, row))
        for domain in domains:
            settled, right = _settled(domain, beside, schema, move=True)
            if right.any():
                break
        else:
            where = f" beside the public values in row {row + 1}" if public else ""
            raise BadInput(
                f"no record was found in the declared domain that obeys all rules of the schema"
                f"{where}: do they contradict each other?"
            )
        _replace(points, row, _taken(settled, np.argmax(right)))
    return points


def _domains(schema: Schema) -> list[Columns]:
    """Return points all over the declared domain: first those with every value.

    Then, where rules say why values are missing, the same points without some of them: every second
    one without all that rules speak of, for reasons of the same place in order.
    """
    everywhere = schema.public_points(_POINTS)
    own = {column.name: everywhere[column.name] for column in schema.confidential}
    domain = within_domain(own, schema)
    names = frozenset[str]().union(*(rule.explained for rule in schema.rules))
    if not names:
        return [domain]
    without, places = dict(domain), np.arange(_POINTS)
    for turn, name in enumerate(sorted(names)):
        column = schema.column(name)
        mixed = np.random.PCG64(turn).random_raw(_POINTS) % (column.kinds + 1)
        kind = np.where(places % 2, mixed, places // 2 % (column.kinds + 1)).astype(np.int64)
        missing = kind < column.kinds
        without[name] = np.where(missing, np.nan if column.numeric else -1 - kind, domain[name])
        if column.beside is not None:
            without[column.beside] = np.where(missing, kind, -1)
    return [domain, within_domain(without, schema)]


def _taken(columns: Columns, rows: NDArray[np.intp] | NDArray[np.bool_] | np.intp) -> Columns:
    return {name: np.asarray(values)[rows] for name, values in columns.items()}


def _replace(columns: Columns, rows: NDArray[np.intp] | np.intp, by: Columns) -> None:
    for name, values in columns.items():
        values[rows] = by[name]
