"""All confidential columns of a table together, each given those before it.

    p(record) = p(x₁) p(x₂ | x₁) p(x₃ | x₁, x₂) …

in a declared order. Public columns are given and come before all others. Each column is coded
(`variables.py`): levels and few whole numbers as they are, other numbers by the narrow public
interval they lie in, evenly within it. The code c of a column has the log probability

    log p(c | before) = base(c) + Σₘ dₘ(c) (κₘ + Σᵢ λₘᵢ hᵢ + Σ_{i<j} μₘᵢⱼ hᵢ hⱼ) − constant,

where d are fixed directions (contrasts of levels, polynomials of few whole numbers, line, parabola
and smooth waves of other numbers) and h the features of the columns before: main effects and
pairs. Every coefficient is a fixed width times a parameter, and every parameter is standard normal
a priori. Widths and directions follow from the schema alone.

The shape of a number is therefore free, with several modes if need be, and may change with the
other columns. A mixture of lognormals per column would be free as well, but its components can
trade places and merge: a posterior with many peaks, between which no chain moves. The logarithm
of this likelihood is concave in the parameters, so the posterior has one peak.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from understudy._jax import jax, jnp
from understudy.domain.schema import Schema
from understudy.domain.tables import Columns
from understudy.errors import BadInput, nearest
from understudy.models.balance import evenly
from understudy.models.base import Balanced, Data, Model, Theta, host_generator
from understudy.models.table.effects import Effects, log_standard_normals
from understudy.models.table.variables import (
    Variable,
    check_columns,
    check_size,
    neighbours,
    variable,
)


def joint(schema: Schema, *, order: Sequence[str] | None = None) -> Model:
    """Return the model of all confidential columns.

    Args:
        schema: Declares the columns; public ones are given, confidential ones are modelled.
        order: Names each confidential column once, the first to be drawn first. By default columns
            with few values come first and other numbers last, each in the order of the schema:
            shapes that depend on a group are easier to learn than groups that depend on a number.

    Raises:
        BadInput: If there is no confidential column, the order is not one of all of them, or the
            model would have too many parameters.
    """
    # Each column has a constant, and an effect of every one before it.
    given, own = len(schema.public), len(schema.confidential)
    least = own + own * given + own * (own - 1) // 2
    check_columns("joint", schema, least)
    public = tuple(variable(column) for column in schema.public)
    modelled = _in_order(schema, order)
    terms = tuple(
        Effects(each, (*public, *modelled[:place])) for place, each in enumerate(modelled)
    )
    parameters = check_size("joint", tuple(p for term in terms for p in term.parameters))

    def log_prior(theta: Theta) -> jax.Array:
        return log_standard_normals(theta, parameters)

    def prepare(columns: Columns) -> Data:
        codes = {each.name: each.read(columns) for each in (*public, *modelled)}
        data: Data = {"unit": jnp.asarray(sum(v.unit[codes[v.name]] for v in modelled))}
        for term in terms:
            data |= term.prepare(codes)
        return data

    def record_loglik(theta: Theta, data: Data) -> jax.Array:
        total = data["unit"]
        for term in terms:
            total = total + term.loglik(theta, data)
        return total

    def record_slope(theta: Theta, data: Data) -> jax.Array:
        return jnp.concatenate([term.slope(theta, data) for term in terms], axis=1)

    def simulate(key: jax.Array, theta: Theta, columns: Columns, rows: int) -> Columns:
        generator = host_generator(key)
        codes = {each.name: each.read(columns) for each in public}
        for term in terms:
            codes[term.variable.name] = term.draw(generator, theta, codes, rows)
        return {each.name: each.write(generator, codes[each.name]) for each in modelled}

    return Model(
        title=f"joint model of {', '.join(each.name for each in modelled)}",
        schema=schema,
        parameters=parameters,
        log_prior=log_prior,
        prepare=prepare,
        record_loglik=record_loglik,
        simulate=simulate,
        balanced=_balancing(public, terms),
        spec={"name": "joint", "order": [each.name for each in modelled]},
        handles_missing=True,
        record_slope=record_slope,
        by_tables=True,
    )


def _balancing(public: Sequence[Variable], terms: Sequence[Effects]) -> Balanced:
    """Return what simulates evenly spread rows, each column among neighbours by those before."""

    def balanced(
        generator: np.random.Generator, theta: Theta, columns: Columns, rows: int
    ) -> Columns:
        codes = {each.name: each.read(columns) for each in public}
        values: Columns = {}
        for term in terms:
            # Orders and a shift of its own: no column depends on another but as the model has it.
            u = evenly(generator, rows, neighbours(codes, term.predictors))
            own, within = term.at(u, theta, codes)
            codes[term.variable.name] = own
            values[term.variable.name] = term.variable.values(own, within)
        return values

    return balanced


def _in_order(schema: Schema, order: Sequence[str] | None) -> tuple[Variable, ...]:
    names = [column.name for column in schema.confidential]
    if order is None:
        modelled = [variable(column) for column in schema.confidential]
        return tuple(sorted(modelled, key=lambda each: each.edges is not None))
    for name in order:
        if name not in names:
            hint = nearest(name, names)
            raise BadInput(f"the order of columns names '{name}', which is not confidential{hint}.")
    repeated = [name for name, times in Counter(order).items() if times > 1]
    if repeated:
        raise BadInput(f"the order of columns names '{repeated[0]}' more than once.")
    left_out = [name for name in names if name not in order]
    if left_out:
        raise BadInput(
            f"the order of columns leaves out {', '.join(left_out)}: name every confidential "
            f"column, or give it the role 'ignore'."
        )
    return tuple(variable(schema.column(name)) for name in order)
