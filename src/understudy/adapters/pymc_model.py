"""A PyMC graph, wherever it comes from, as a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy._jax import jax, jnp
from understudy.adapters.checks import SIZES, Evaluation, check, example_table
from understudy.adapters.edges import with_finite_gradient
from understudy.adapters.functions import AS_GIVEN, user_code
from understudy.adapters.pymc_graph import Graph
from understudy.domain.schema import Schema
from understudy.domain.tables import Columns
from understudy.errors import BadInput
from understudy.models.base import Data, Model, Theta


def _unchanged(columns: Columns) -> Columns:
    return columns


@dataclass(frozen=True, eq=False)
class GraphProgram:
    """A way to a graph for any public table, and from columns to the arrays it takes."""

    title: str
    build: Callable[[Columns], Graph]
    encode: Callable[[Columns], Columns] = _unchanged
    """From columns to the graph's inputs."""
    decode: Callable[[Columns], Columns] = _unchanged
    """From simulated outcomes to columns."""

    def evaluate(self, thetas: Theta, table: Columns) -> Evaluation:
        """Build the graph afresh and evaluate it on the table."""
        graph = self.build(table)
        with user_code(self.title, f"evaluated on {len(next(iter(table.values())))} records"):
            return graph.evaluate(thetas, self.arrays(graph, table))

    def arrays(self, graph: Graph, columns: Columns) -> Columns:
        """Return a table as the graph's inputs, in their types."""
        encoded = self.encode(columns)
        return {
            name: np.asarray(encoded[name]).astype(variable.dtype)
            for name, variable in graph.inputs.items()
        }


def as_model(program: GraphProgram, *, schema: Schema, spec: dict[str, Any]) -> Model:
    """Return the model of a program, after all checks."""
    graph = program.build(example_table(schema, SIZES[0]))
    with user_code(program.title, "read as a model of records", AS_GIVEN):
        parameters = graph.parameters
        prior, loglik = graph.log_prior_function(), graph.loglik_function()
        simulator = graph.simulator()
    spare = program.arrays(graph, schema.public_points(1))

    def log_prior(theta: Theta) -> jax.Array:
        return prior(theta, spare)

    def prepare(columns: Columns) -> Data:
        arrays = program.arrays(graph, columns)
        return {name: jnp.asarray(values) for name, values in arrays.items()}

    def record_loglik(theta: Theta, data: Data) -> jax.Array:
        return with_finite_gradient(loglik, theta, data, spare)

    def simulate(
        key: jax.Array, theta: Theta, public: Columns, rows: int, place: int = 0
    ) -> Columns:
        points = schema.public_points(2)
        filling = {name: np.repeat(points[name][place], rows) for name in graph.observed}
        known = {column.name for column in schema.public}
        columns = {name: np.asarray(public[name]) for name in known if name in public}
        seed = [int(word) for word in np.ravel(jax.random.key_data(key))]
        with user_code(program.title, f"asked to simulate {rows} records"):
            arrays = program.arrays(graph, {**columns, **filling})
            return program.decode(simulator(seed, theta, arrays, rows))

    model = Model(
        title=program.title,
        schema=schema,
        parameters=parameters,
        log_prior=log_prior,
        prepare=prepare,
        record_loglik=record_loglik,
        simulate=simulate,
        spec=spec,
    )
    check(program, model)
    rows = 5
    table = example_table(schema, rows)
    theta = model.constrain(model.starting_points(jax.random.key(0), 1)[0])
    one, other = (simulate(jax.random.key(1), theta, table, rows, place) for place in (0, 1))
    for name in graph.observed:
        if not np.array_equal(one[name], other[name]):
            raise BadInput(
                f"in the model '{program.title}' the distribution of '{name}' uses the column "
                f"'{name}' itself or one that is observed later, so it cannot be simulated: let "
                f"each column depend on public columns and on those that are observed before it."
            )
    return model
