"""A PyMC graph, wherever it comes from, as a model.

It is read as functions of its parameters and of arrays with one entry for each record.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pymc.distributions.continuous import Flat, HalfFlat
from pymc.logprob.basic import conditional_logp
from pytensor.graph.replace import clone_replace

from understudy._jax import jax, jnp
from understudy.adapters.checks import (
    INDEPENDENT,
    SIZES,
    Evaluation,
    check,
    example_table,
    scored_alone,
)
from understudy.adapters.functions import AS_GIVEN, user_code
from understudy.adapters.pymc_jax import (
    constant_shape,
    named,
    to_draws,
    to_jax,
    to_numpy,
    widened,
)
from understudy.adapters.pymc_support import support_of
from understudy.domain.schema import Schema
from understudy.domain.tables import Columns
from understudy.errors import BadInput
from understudy.models.base import Data, Model, Parameter, Theta

Density = Callable[[Theta, Any], jax.Array]

_IMPROPER = (type(Flat.rv_op), type(HalfFlat.rv_op))


@dataclass(frozen=True, eq=False, kw_only=True)
class Graph:
    """The random variables of a model, and the variables that stand for what records hold."""

    title: str
    inputs: dict[str, Any]
    """Variables with one entry for each record along their first axis, by name."""
    lengths: list[Any]
    """Variables that hold the number of records."""
    free: dict[str, Any]
    """The variables that are not observed, by name."""
    transforms: dict[str, Any]
    """PyMC's transform of each of these."""
    observed: dict[str, Any]
    """The variable that observes each confidential column, in the order of the model."""
    values: dict[str, Any]
    """What each of these observes."""

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters, after all checks of the model's form."""
        if not self.free:
            raise BadInput(f"the model '{self.title}' has no parameter to draw.")
        return tuple(self._parameter(name, variable) for name, variable in self.free.items())

    def _parameter(self, name: str, variable: Any) -> Parameter:
        if variable.dtype == "float32":
            raise self._fault(
                f"the variable '{name}' is computed in single precision, whose error grows with "
                f"the table: leave out float32, and set pytensor.config.floatX to float64."
            )
        if np.dtype(variable.dtype).kind in "iub":
            raise self._fault(
                f"the variable '{name}' is discrete: sum it out, with pm.Mixture for example."
            )
        if isinstance(variable.owner.op, _IMPROPER):
            raise self._fault(
                f"the prior of '{name}' is improper; a censored likelihood needs a proper prior: "
                f"give it a wide Normal, for example."
            )
        shape, other = (self._shape(variable, rows) for rows in SIZES)
        if shape is None or shape != other:
            raise self._fault(
                f"the size of the variable '{name}' depends on the table: a variable for each "
                f"record must be integrated out, so that a record has one log-likelihood; "
                f"{INDEPENDENT}."
            )
        records = [*self.inputs.values(), *self.lengths]
        support = support_of(self.title, variable, self.transforms[name], shape, records)
        return Parameter(name, support, shape)

    def _shape(self, variable: Any, rows: int) -> tuple[int, ...] | None:
        """Return a variable's shape for a table of that size, or None where values decide it."""
        _, (placed,) = self._placed([variable], rows)
        try:
            return constant_shape(placed)
        except (ValueError, TypeError):
            return None

    # Densities.

    @cached_property
    def _theta(self) -> dict[Any, Any]:
        """An input for each free variable, on its natural scale."""
        return {
            self.free[each.name]: named(each.name, self.free[each.name].dtype, each.shape)
            for each in self.parameters
        }

    @cached_property
    def _densities(self) -> tuple[list[Any], list[Any]]:
        """Log densities of the parameters, and of the observed columns record by record."""
        known = {self.observed[name]: self.values[name] for name in self.observed}
        by_value = conditional_logp({**self._theta, **known})
        # Before they are added up, because a sum keeps the type that it was built with.
        densities = widened([by_value[value] for value in (*self._theta.values(), *known.values())])
        split = len(self._theta)
        return [density.sum() for density in densities[:split]], densities[split:]

    def log_densities(self) -> tuple[Density, Density]:
        """Return log prior and log-likelihood as JAX functions of θ and a table of one record."""

        def compiled(densities: list[Any]) -> Density:
            inputs, outputs = self._placed([pt.add(*densities, 0.0)], 1)
            function = to_jax([*self._theta.values(), *inputs], outputs)
            return lambda theta, table: function(*self._ordered(theta, table))[0]

        prior = compiled(self._densities[0])
        self._check_splits(1)
        return prior, compiled(self._densities[1])

    def evaluate(self, thetas: Theta, arrays: Columns) -> Evaluation:
        """Return what the model itself computes on a table."""
        rows = len(next(iter(arrays.values())))
        self._check_splits(rows)
        self._check_observes(arrays, rows)
        priors, logliks = self._densities
        inputs, outputs = self._placed([*priors, pt.add(*logliks, 0.0)], rows)
        function = to_numpy([*self._theta.values(), *inputs], outputs)
        evaluated = [
            function(*self._ordered({name: np.asarray(v[k]) for name, v in thetas.items()}, arrays))
            for k in range(len(next(iter(thetas.values()))))
        ]
        *densities, loglik = map(np.array, zip(*evaluated, strict=True))
        return Evaluation(dict(zip(self.free, densities, strict=True)), loglik)

    def _check_splits(self, rows: int) -> None:
        """Refuse a model whose log-likelihood is not one number for each record."""
        _, outputs = self._placed(self._densities[1], rows)
        for name, density in zip(self.observed, outputs, strict=True):
            if density.ndim != 1:
                raise self._fault(
                    f"the likelihood of '{name}' does not split by record: {INDEPENDENT}."
                )
            (length,) = constant_shape(density)
            if length != rows:
                raise self._fault(
                    f"the likelihood of '{name}' has {length} entries for a table of {rows} "
                    f"records, so a size or a table is baked in: use the columns that the function "
                    f"is given, and their length."
                )

    def _check_observes(self, arrays: Columns, rows: int) -> None:
        """Refuse a variable that observes anything but its column."""
        inputs, outputs = self._placed(list(self.values.values()), rows)
        observed = to_numpy(inputs, outputs)(*(arrays[name] for name in self.inputs))
        for name, value in zip(self.values, observed, strict=True):
            if not np.array_equal(value, arrays[name]):
                raise self._fault(
                    f"'{name}' observes something other than the column itself (a transform of it, "
                    f"or another table): pass the column, and transform the distribution instead, "
                    f"or simulated values would be on another scale."
                )

    # Simulation.

    def simulator(self) -> Callable[[list[int], Theta, Columns, int], Columns]:
        """Return a function that draws the observed columns, in the order of the model.

        Each is drawn given those before it, whether the model refers to them by the variable or by
        the column: what comes before is put into both places.
        """
        steps = {}
        for name, variable in self.observed.items():
            rows = pt.scalar("rows", dtype="int64")
            others = {each: other for other, each in self.observed.items() if other != name}
            inputs, outputs = self._placed([variable], rows, others)
            steps[name] = to_draws([*self._theta.values(), *inputs, rows], outputs)

        def simulate(seed: list[int], theta: Theta, arrays: Columns, rows: int) -> Columns:
            drawn = dict(arrays)
            values = {name: np.asarray(value) for name, value in theta.items()}
            for step, (name, draw) in enumerate(steps.items()):
                drawn[name] = draw([*seed, step], *self._ordered(values, drawn), rows)[0]
            return {name: drawn[name] for name in self.observed}

        return simulate

    # Placing arrays into the graph.

    def _ordered(self, theta: Any, arrays: Any) -> list[Any]:
        return [*(theta[name] for name in self.free), *(arrays[name] for name in self.inputs)]

    def _placed(
        self, outputs: list[Any], rows: Any, drawn: dict[Any, str] | None = None
    ) -> tuple[list[Any], list[Any]]:
        """Return fresh inputs, and the outputs with these for what is known of the records.

        With a plain number of rows, shapes become constants, which JAX needs. For simulation the
        rows are a variable, observed variables that are `drawn` already become inputs, and free
        ones the parameters.
        """
        first = rows if isinstance(rows, int) else None
        fresh = {
            name: named(name, variable.dtype, (first, *variable.type.shape[1:]))
            for name, variable in self.inputs.items()
        }
        replacements = {variable: fresh[name] for name, variable in self.inputs.items()}
        for length in self.lengths:
            replacements[length] = pt.as_tensor(rows).astype(length.dtype)
        if drawn is not None:
            replacements |= self._theta
            replacements |= {each: fresh[name].astype(each.dtype) for each, name in drawn.items()}
        placed = clone_replace(outputs, replace=replacements, rebuild_strict=False)
        return list(fresh.values()), placed

    def _fault(self, sentence: str) -> BadInput:
        return BadInput(f"in the model '{self.title}' {sentence}")


def as_model(
    title: str,
    build: Callable[[Columns], Graph],
    *,
    schema: Schema,
    spec: dict[str, Any],
    encode: Callable[[Columns], Columns] = dict,
    decode: Callable[[Columns], Columns] = dict,
) -> Model:
    """Return the model of a graph, after all checks.

    `build` makes the graph for any public table. `encode` leads from columns to what the graph
    takes, and `decode` from simulated outcomes to columns.
    """
    graph = build(example_table(schema, SIZES[0]))
    with user_code(title, "read as a model of records", AS_GIVEN):
        parameters = graph.parameters
        prior, loglik = graph.log_densities()
        simulator = graph.simulator()

    def arrays(columns: Columns, graph: Graph = graph) -> Columns:
        encoded = encode(columns)
        return {
            name: np.asarray(encoded[name]).astype(variable.dtype)
            for name, variable in graph.inputs.items()
        }

    spare = arrays(schema.public_points(1))

    def prepare(columns: Columns) -> Data:
        return {name: jnp.asarray(values) for name, values in arrays(columns).items()}

    def evaluate(thetas: Theta, table: Columns) -> Evaluation:
        afresh = build(table)
        with user_code(title, f"evaluated on {len(next(iter(table.values())))} records"):
            return afresh.evaluate(thetas, arrays(table, afresh))

    def simulate(
        key: jax.Array, theta: Theta, public: Columns, rows: int, place: int = 0
    ) -> Columns:
        points = schema.public_points(2)
        filling = {name: np.repeat(points[name][place], rows) for name in graph.observed}
        known = [column.name for column in schema.public if column.name in public]
        columns = {name: np.asarray(public[name]) for name in known}
        seed = [int(word) for word in np.ravel(jax.random.key_data(key))]
        with user_code(title, f"asked to simulate {rows} records"):
            return decode(simulator(seed, theta, arrays({**columns, **filling}), rows))

    model = Model(
        title=title,
        schema=schema,
        parameters=parameters,
        log_prior=lambda theta: prior(theta, spare),
        prepare=prepare,
        record_loglik=lambda theta, data: scored_alone(loglik, theta, data, spare),
        simulate=simulate,
        spec=spec,
    )
    check(model, evaluate)
    rows = 5
    table = example_table(schema, rows)
    theta = model.constrain(model.starting_points(jax.random.key(0), 1)[0])
    one, other = (simulate(jax.random.key(1), theta, table, rows, place) for place in (0, 1))
    for name in graph.observed:
        if not np.array_equal(one[name], other[name]):
            raise BadInput(
                f"in the model '{title}' the distribution of '{name}' uses the column '{name}' "
                f"itself or one that is observed later, so it cannot be simulated: let each column "
                f"depend on public columns and on those that are observed before it."
            )
    return model
