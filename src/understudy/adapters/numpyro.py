"""Any NumPyro function with one plate over records, as a model.

The function takes columns of the schema by argument name, and `n`, the number of records, if it
asks for it. A confidential column is the observed value when fitting and None when simulating; its
observed site bears the column's name and stands in the record plate. Several observed sites add up
to one record log-likelihood. A discrete variable in the record plate is summed out: its values are
enumerated for all records at once. Everything else that is sampled is a parameter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from threading import RLock
from typing import Any

import numpy as np
from numpyro import handlers
from numpyro.distributions.distribution import validation_enabled
from numpyro.infer import init_to_uniform

from understudy._jax import jax, jnp
from understudy.adapters.checks import SIZES, Evaluation, check, example_table
from understudy.adapters.edges import log_sum, with_finite_gradient
from understudy.adapters.functions import AS_GIVEN, arguments, digest, title_of, user_code
from understudy.adapters.numpyro_sites import Site, Sites
from understudy.domain.schema import Schema
from understudy.domain.tables import Columns
from understudy.errors import BadInput
from understudy.models.base import Data, Model, Theta

_ONE_AT_A_TIME = RLock()
"""All threads share NumPyro's stack of handlers: two functions at once would mix their sites."""


def from_numpyro(
    function: Callable[..., Any], *, schema: Schema, spec: dict[str, Any] | None = None
) -> Model:
    """Turn a NumPyro function into a model of the schema's confidential columns.

    Args:
        function: Takes columns of the schema by argument name, and `n`, the number of records, if
            it asks for it; observes each confidential column at a site of that name, in one plate
            over the records.
        schema: Declares the columns that it may take, and the domain of public trial tables.
        spec: What a release says about the model; by default its name and a digest of its source.

    Raises:
        BadInput: If prior or record log-likelihood depend on what they must not depend on, or the
            function holds something that was computed; the sentence says what to change.
    """
    program = _Program(function, schema, arguments(function, schema))
    parameters, combinations = program.sites.parameters, program.sites.combinations
    names = {parameter.name for parameter in parameters}
    small = schema.public_points(1)

    def log_prior(theta: Theta) -> jax.Array:
        return sum(program.log_priors(theta, small).values(), start=jnp.zeros(()))

    def prepare(columns: Columns) -> Data:
        return {name: jnp.asarray(columns[name]) for name in program.columns}

    def record_loglik(theta: Theta, data: Data) -> jax.Array:
        def term(values: dict[str, jax.Array]) -> jax.Array:
            def alone(theta: Theta, data: Data) -> jax.Array:
                return program.alone(theta, data, values)

            return with_finite_gradient(alone, theta, data, small)

        if not combinations:
            return term({})
        return log_sum(jax.vmap(term)(jax.tree.map(jnp.asarray, combinations)))

    def simulate(key: jax.Array, theta: Theta, public: Columns, rows: int) -> Columns:
        return program.simulate(key, {name: theta[name] for name in names}, public, rows)

    model = Model(
        title=program.title,
        schema=schema,
        parameters=parameters,
        log_prior=log_prior,
        prepare=prepare,
        record_loglik=record_loglik,
        simulate=simulate,
        spec=spec or {"numpyro": program.title, "digest": digest(function)},
    )
    check(program, model)
    return model


@dataclass(frozen=True, eq=False)
class _Program:
    """The user's function, run on columns by name."""

    function: Callable[..., Any]
    schema: Schema
    arguments: tuple[str, ...]

    @cached_property
    def sites(self) -> Sites:
        """The function's sites on two public tables of different sizes."""
        tables = example_table(self.schema, SIZES[0]), example_table(self.schema, SIZES[1])

        def example(table: Columns, rows: int) -> list[Site]:
            # Near the origin, rather than from the prior, so that an improper one gets this far.
            seeded = handlers.seed(self.function, rng_seed=jax.random.key(rows))
            started = handlers.substitute(seeded, substitute_fn=init_to_uniform)
            return list(self.trace(table, rows, started).values())

        examples = example(tables[0], SIZES[0]), example(tables[1], SIZES[1])
        return Sites(self.title, self.schema, examples, tables)

    @property
    def title(self) -> str:
        return title_of(self.function)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(name for name in self.arguments if name != "n")

    @property
    def outcomes(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.schema.confidential)

    def trace(
        self, columns: Columns | Data, rows: int, handled: Callable[..., Any]
    ) -> dict[str, Site]:
        """Run the function, inside effect handlers, on columns by name and return its sites."""
        inputs: dict[str, Any] = {
            name: None if columns.get(name) is None else jnp.asarray(columns[name])
            for name in self.columns
        }
        if "n" in self.arguments:
            inputs["n"] = rows
        doing, advice = f"given a public table of {rows} records", AS_GIVEN
        if any(inputs[name] is None for name in self.outcomes):
            doing = f"asked to simulate {rows} records, with None for the confidential columns"
            advice = "go on with what numpyro.sample returns"
        tracer = handlers.trace(handled)
        try:
            # What is wrong with a prior is found later, where the parameter can be named.
            with (
                _ONE_AT_A_TIME,
                user_code(self.title, doing, advice),
                validation_enabled(is_validate=False),
            ):
                sites: dict[str, Site] = tracer.get_trace(**inputs)
        except BadInput as fault:
            plates = [site for site in tracer.trace.values() if site["type"] == "plate"]
            unlike = all(site["args"][0] != rows for site in plates)
            if plates and unlike and "shapes" in str(fault):
                sizes = " and ".join(f"'{site['name']}' ({site['args'][0]})" for site in plates)
                raise BadInput(
                    f"the model '{self.title}' mixes lengths: none of its plates, {sizes}, has as "
                    f"many entries as there are records: write numpyro.plate(..., n)."
                ) from None
            raise
        return sites

    def at(self, theta: Theta) -> Callable[..., Any]:
        """Return the function with its parameters fixed."""
        return handlers.substitute(self.function, data=theta)

    def log_priors(self, theta: Theta, columns: Columns | Data) -> Theta:
        """Return the log density of each parameter, and of whatever else is not of a record."""
        rows = len(columns[self.outcomes[0]])
        spare = {
            name: jnp.full(rows, values[0]) for name, values in self.sites.combinations.items()
        }
        of_records = {*self.outcomes, *spare}
        return {
            name: jnp.sum(_log_prob(site))
            for name, site in self.trace(columns, rows, self.at({**theta, **spare})).items()
            if site["type"] == "sample" and name not in of_records
        }

    def table_terms(
        self, theta: Theta, columns: Columns | Data, values: dict[str, jax.Array]
    ) -> jax.Array:
        """Return each record's log density, at given values of the discrete variables."""
        rows = len(columns[self.outcomes[0]])
        fixed = {name: jnp.full(rows, value) for name, value in values.items()}
        sites = self.trace(columns, rows, self.at({**theta, **fixed}))
        total = jnp.zeros(rows)
        for name in (*self.outcomes, *values):
            site = sites[name]
            density = jnp.broadcast_to(_log_prob(site), _batch_shape(site))
            others = tuple(k for k in range(-density.ndim, 0) if k != self.sites.axis(site))
            total = total + jnp.sum(density, axis=others)
        return total

    def alone(self, theta: Theta, data: Data, values: dict[str, jax.Array]) -> jax.Array:
        """Return the same with each record as a table of its own."""

        def one(record: Data) -> jax.Array:
            table = {name: jnp.reshape(value, (1,)) for name, value in record.items()}
            return self.table_terms(theta, table, values)[0]

        return jax.vmap(one)(data)

    def evaluate(self, thetas: Theta, table: Columns) -> Evaluation:
        """Run the function on a table, traced afresh."""
        data = {name: jnp.asarray(table[name]) for name in self.columns}
        combinations = jax.tree.map(jnp.asarray, self.sites.combinations)

        def at(theta: Theta, data: Data) -> tuple[Theta, jax.Array]:
            if not combinations:
                return self.log_priors(theta, data), self.table_terms(theta, data, {})
            terms = jax.vmap(lambda values: self.table_terms(theta, data, values))(combinations)
            return self.log_priors(theta, data), log_sum(terms)

        run = jax.jit(lambda data: jax.lax.map(lambda theta: at(theta, data), thetas))
        priors, loglik = run(data)
        return Evaluation(jax.tree.map(np.asarray, priors), np.asarray(loglik))

    def simulate(self, key: jax.Array, theta: Theta, public: Columns, rows: int) -> Columns:
        known = {column.name for column in self.schema.public}
        columns = {name: values for name, values in public.items() if name in known}
        sites = self.trace(columns, rows, handlers.seed(self.at(theta), rng_seed=key))
        return {name: np.asarray(sites[name]["value"]) for name in self.outcomes}


def _batch_shape(site: Site) -> tuple[int, ...]:
    """Return the shape of a site's log density, of which a plate may be a broadcast axis."""
    depth = max(-frame.dim for frame in site["cond_indep_stack"])
    shape = [1] * depth
    for frame in site["cond_indep_stack"]:
        shape[frame.dim] = frame.size
    return tuple(jnp.broadcast_shapes(tuple(shape), jnp.shape(_log_prob(site))))


def _log_prob(site: Site) -> jax.Array:
    value = site["fn"].log_prob(site["value"])
    scale = site["scale"]
    return value if scale is None else scale * value
