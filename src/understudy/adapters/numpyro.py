"""Any NumPyro function with one plate over records, as a model.

The function takes columns of the schema by argument name, and `n`, the number of records, if it
asks for it. A confidential column is the observed value when fitting and None when simulating; its
observed site bears the column's name and stands in the record plate. Several observed sites add up
to one record log-likelihood. A discrete variable in the record plate is summed out: its values are
enumerated for all records at once. Everything else that is sampled is a parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from threading import RLock
from typing import Any

import numpy as np
from numpyro import handlers
from numpyro.distributions.distribution import validation_enabled
from numpyro.infer import init_to_uniform

from understudy._jax import jax, jnp
from understudy.adapters.checks import SIZES, Evaluation, check, example_table, scored_alone
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
    parameters, _ = program.sites.checked
    model = Model(
        title=program.title,
        schema=schema,
        parameters=parameters,
        log_prior=program.log_prior,
        prepare=program.prepare,
        record_loglik=program.record_loglik,
        simulate=program.simulate,
        spec=spec or {"numpyro": program.title, "digest": digest(function)},
    )
    check(model, program.evaluate)
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

        def example(rows: int) -> list[Site]:
            # Near the origin, rather than from the prior, so that an improper one gets this far.
            seeded = handlers.seed(self.function, rng_seed=jax.random.key(rows))
            started = handlers.substitute(seeded, substitute_fn=init_to_uniform)
            return list(self.trace(example_table(self.schema, rows), rows, started).values())

        return Sites(self.title, self.schema, [example(rows) for rows in SIZES])

    @property
    def title(self) -> str:
        return title_of(self.function)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(name for name in self.arguments if name != "n")

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
        if any(inputs[column.name] is None for column in self.schema.confidential):
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

    def sites_at(self, theta: Theta, data: Data, values: Mapping[str, Any]) -> dict[str, Site]:
        """Return the sites at θ, with the same values of the discrete variables in every record."""
        rows = len(data[self.schema.confidential[0].name])
        fixed = {name: jnp.full(rows, value) for name, value in values.items()}
        return self.trace(data, rows, handlers.substitute(self.function, data={**theta, **fixed}))

    def log_priors(self, theta: Theta, data: Data) -> Theta:
        """Return the log density of each parameter, and of whatever else is not of a record."""
        spare = {name: values[0] for name, values in self.sites.checked[1].items()}
        return {
            name: jnp.sum(_log_prob(site))
            for name, site in self.sites_at(theta, data, spare).items()
            if site["type"] == "sample" and name not in (*self.sites.outcomes, *spare)
        }

    def log_prior(self, theta: Theta) -> jax.Array:
        """Return the log density of θ, on a fixed table of one public record."""
        spare = self.prepare(self.schema.public_points(1))
        return sum(self.log_priors(theta, spare).values(), start=jnp.zeros(()))

    def prepare(self, columns: Columns) -> Data:
        return {name: jnp.asarray(columns[name]) for name in self.columns}

    def table_terms(self, theta: Theta, data: Data, values: dict[str, jax.Array]) -> jax.Array:
        """Return each record's log density, at given values of the discrete variables."""
        sites = self.sites_at(theta, data, values)
        total = jnp.zeros(len(data[self.sites.outcomes[0]]))
        for name in (*self.sites.outcomes, *values):
            # A plate may be an axis of the log density that is still to be broadcast.
            plates = {frame.dim: frame.size for frame in sites[name]["cond_indep_stack"]}
            shape = [plates.get(axis, 1) for axis in range(min(plates), 0)]
            density, _ = jnp.broadcast_arrays(_log_prob(sites[name]), jnp.zeros(shape))
            records = self.sites.axis(sites[name])
            others = tuple(k for k in range(-density.ndim, 0) if k != records)
            total = total + jnp.sum(density, axis=others)
        return total

    def summed(self, term: Callable[[dict[str, jax.Array]], jax.Array]) -> jax.Array:
        """Return the log of a sum over all values of the discrete variables, if there are any."""
        values = jax.tree.map(jnp.asarray, self.sites.checked[1])
        return log_sum(jax.vmap(term)(values)) if values else term({})

    def record_loglik(self, theta: Theta, data: Data) -> jax.Array:
        spare = self.schema.public_points(1)

        def term(values: dict[str, jax.Array]) -> jax.Array:
            return scored_alone(partial(self.table_terms, values=values), theta, data, spare)

        return self.summed(term)

    def evaluate(self, thetas: Theta, table: Columns) -> Evaluation:
        """Run the function on a table, traced afresh."""

        def at(theta: Theta, data: Data) -> tuple[Theta, jax.Array]:
            terms = partial(self.table_terms, theta, data)
            return self.log_priors(theta, data), self.summed(terms)

        run = jax.jit(lambda data: jax.lax.map(lambda theta: at(theta, data), thetas))
        return Evaluation(*jax.tree.map(np.asarray, run(self.prepare(table))))

    def simulate(self, key: jax.Array, theta: Theta, public: Columns, rows: int) -> Columns:
        columns = {
            each.name: public[each.name] for each in self.schema.public if each.name in public
        }
        drawn = {each.name: theta[each.name] for each in self.sites.checked[0]}
        fixed = handlers.substitute(self.function, data=drawn)
        sites = self.trace(columns, rows, handlers.seed(fixed, rng_seed=key))
        return {name: np.asarray(sites[name]["value"]) for name in self.sites.outcomes}


def log_sum(terms: jax.Array) -> jax.Array:
    """Return log Σ exp over the first axis, whose gradient is zero where the sum is not finite."""
    value = jax.nn.logsumexp(jax.lax.stop_gradient(terms), axis=0)
    finite = jnp.isfinite(value)
    return jnp.where(finite, jax.nn.logsumexp(jnp.where(finite, terms, 0.0), axis=0), value)


def _log_prob(site: Site) -> jax.Array:
    value = site["fn"].log_prob(site["value"])
    return value if site["scale"] is None else site["scale"] * value
