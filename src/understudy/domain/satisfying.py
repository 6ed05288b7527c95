"""Rows that obey the schema's rules, drawn from a model that does not know them.

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
from typing import TYPE_CHECKING

import numpy as np

from understudy.domain.rules import enforce, holds, moved
from understudy.domain.tables import within_domain
from understudy.errors import BadInput

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from understudy.domain.schema import Schema
    from understudy.domain.tables import Columns

_TRIES = 100
"""Draws for each row: below one good draw in a hundred, repair takes over."""
_BLOCK = 1024
_POINTS = 1024
_SWEEPS = 16
"""Points that are tried on all rows at once, before each row that is left tries all of them."""


@dataclass(frozen=True)
class Satisfying:
    """Confidential columns of rows that obey every rule."""

    columns: Columns
    repaired: int
    """How many of them no draw made right."""


def draw_satisfying(
    draw: Callable[[Columns, int], Columns], public: Columns, rows: int, schema: Schema
) -> Satisfying:
    """Return rows beside the given public ones, drawn until they obey the rules."""
    found, good = _settled(draw(public, rows), public, schema)
    drawn = rows
    while not good.all() and drawn < _TRIES * (rows + _BLOCK):
        pending = np.flatnonzero(~good)
        # Blocks of few sizes, so that few kernels are compiled; a row may stand in one repeatedly.
        block = max(_BLOCK, 1 << (len(pending) - 1).bit_length())
        chosen = np.resize(pending, block)
        beside = _taken(public, chosen)
        new, obeys = _settled(draw(beside, block), beside, schema)
        drawn += block
        # Of several good draws for one row the last is kept, which is as random as the first.
        for name, values in found.items():
            values[chosen[obeys]] = new[name][obeys]
        good[chosen[obeys]] = True
    pending = np.flatnonzero(~good)
    if pending.size:
        repaired = _repaired(_taken(found, pending), _taken(public, pending), schema)
        for name, values in found.items():
            values[pending] = repaired[name]
    return Satisfying(found, len(pending))


def check_satisfiable(schema: Schema, public: Columns) -> None:
    """Refuse rules that no record of the declared domain obeys, beside some public row."""
    if schema.rules:
        rows = len(next(iter(public.values()))) if public else 1
        _points_obeying(public, rows, schema)


def _settled(drawn: Columns, public: Columns, schema: Schema) -> tuple[Columns, NDArray[np.bool_]]:
    """Return the confidential columns with all that rules fix, and which rows obey the rules."""
    everything = {**public, **within_domain(drawn, schema)}
    return _kept(enforce(schema.rules, everything), drawn, public, schema)


def _moved(drawn: Columns, public: Columns, schema: Schema) -> tuple[Columns, NDArray[np.bool_]]:
    """Return the same, with columns moved onto the limits that they overstep."""
    declared = {column.name: column for column in schema.columns}
    fixed = enforce(schema.rules, {**public, **within_domain(drawn, schema)})
    return _kept(moved(schema.rules, fixed, declared), drawn, public, schema)


def _kept(
    fixed: Columns, drawn: Columns, public: Columns, schema: Schema
) -> tuple[Columns, NDArray[np.bool_]]:
    # A value that a rule puts outside the domain would be brought back inside, and break the rule.
    inside = within_domain({name: fixed[name] for name in drawn}, schema)
    return inside, holds(schema.rules, {**public, **inside})


def _repaired(drawn: Columns, public: Columns, schema: Schema) -> Columns:
    found, good = _moved(drawn, public, schema)
    left = np.flatnonzero(~good)
    if left.size:
        points = _points_obeying(_taken(public, left), len(left), schema)
        for name, values in found.items():
            values[left] = points[name]
    return found


def _points_obeying(public: Columns, rows: int, schema: Schema) -> Columns:
    """Return a point of the domain for each public row that obeys the rules beside it."""
    names = [column.name for column in schema.confidential]
    domain = {name: schema.public_points(_POINTS)[name] for name in names}
    found = {name: np.repeat(values[:1], rows) for name, values in domain.items()}
    left = np.arange(rows)
    for point in range(_SWEEPS):
        drawn = {name: np.repeat(values[point], len(left)) for name, values in domain.items()}
        new, good = _moved(drawn, _taken(public, left), schema)
        for name in names:
            found[name][left[good]] = new[name][good]
        left = left[~good]
        if not left.size:
            return found
    for row in left:
        new, good = _moved(domain, _taken(public, np.full(_POINTS, row)), schema)
        if not good.any():
            beside = f" beside the public values in row {row + 1}" if public else ""
            raise BadInput(
                f"no record was found in the declared domain that obeys all rules of the schema"
                f"{beside}: do they contradict each other?"
            )
        for name in names:
            found[name][row] = new[name][np.argmax(good)]
    return found


def _taken(columns: Columns, rows: NDArray[np.intp]) -> Columns:
    return {name: np.asarray(values)[rows] for name, values in columns.items()}
