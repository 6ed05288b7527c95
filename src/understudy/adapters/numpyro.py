"""Any NumPyro function with one plate over records, as a model.

The function takes columns of the schema by argument name, and `n`, the number of records, if it
asks for it. A confidential column is the observed value when fitting and None when simulating; its
observed site bears the column's name and stands in the record plate. Several observed sites add up
to one record log-likelihood. Everything else that is sampled is a parameter.

The guarantee needs a prior that ignores the table and a record log-likelihood that ignores the
other records. Both hold here by construction: the prior is evaluated on a fixed public table, and
each record is evaluated alone, as a table of one. A function that relied on anything else would
silently mean something different, so it is compared with its own evaluation on whole public tables
first and refused where the two differ.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpyro.distributions as dist
from numpyro import handlers
from numpyro.infer import init_to_uniform

from understudy._jax import jax, jnp
from understudy.errors import BadInput
from understudy.models.base import Data, Model, Parameter, Theta
from understudy.schema import Role

if TYPE_CHECKING:
    from understudy.schema import Schema
    from understudy.tables import Columns

Site = dict[str, Any]
Sites = dict[str, Site]

_SIZES = (101, 103)
"""Sizes of the public example tables: a plate of these sizes in turn is the record plate."""


def from_numpyro(
    function: Callable[..., Any], *, schema: Schema, spec: dict[str, Any] | None = None
) -> Model:
    """Turn a NumPyro function into a model of the schema's confidential columns."""
    program = _Program(function, schema, _arguments(function, schema))
    parameters = program.parameters()
    names = {parameter.name for parameter in parameters}
    small = schema.public_points(1)

    def log_prior(theta: Theta) -> jax.Array:
        return program.log_prior(theta, small)

    def prepare(columns: Columns) -> Data:
        return {name: jnp.asarray(columns[name]) for name in program.columns}

    def record_loglik(theta: Theta, data: Data) -> jax.Array:
        return _with_finite_gradient(program, theta, data, small)

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
        spec=spec or {"numpyro": program.title, "digest": _digest(function)},
    )
    _check_records_stand_alone(program, model)
    _check_simulation(program, model)
    return model


@dataclass(frozen=True, eq=False)
class _Program:
    """The user's function, run on columns by name."""

    function: Callable[..., Any]
    schema: Schema
    arguments: tuple[str, ...]

    @cached_property
    def examples(self) -> tuple[list[Site], list[Site]]:
        """The function's sites on two public tables of different sizes."""

        def example(rows: int, seed: int) -> list[Site]:
            table = _example_table(self.schema, rows)
            # Near the origin, rather than from the prior, so that an improper one gets this far.
            seeded = handlers.seed(self.function, rng_seed=jax.random.key(seed))
            started = handlers.substitute(seeded, substitute_fn=init_to_uniform)
            return list(self.trace(table, rows, started).values())

        return example(_SIZES[0], 0), example(_SIZES[1], 1)

    @cached_property
    def plates(self) -> frozenset[str]:
        """Names of the plates that have one entry for each record, whatever their number."""
        found = []
        for sites, rows in zip(self.examples, _SIZES, strict=True):
            plates = {site["name"]: site["args"] for site in sites if site["type"] == "plate"}
            found.append({name for name, (size, _) in plates.items() if size == rows})
            for name in found[-1]:
                if plates[name][1] not in (None, rows):
                    raise BadInput(
                        f"in the model '{self.title}' the plate '{name}' takes a subsample, but "
                        f"every record must count."
                    )
        return frozenset(found[0] & found[1])

    def axis(self, site: Site) -> int | None:
        """Return the axis of the record plate, or None if the site is outside it."""
        axes = [frame.dim for frame in site["cond_indep_stack"] if frame.name in self.plates]
        if len(axes) > 1:
            raise BadInput(
                f"in the model '{self.title}' the site '{site['name']}' is in two record plates."
            )
        return axes[0] if axes else None

    @property
    def title(self) -> str:
        return getattr(self.function, "__name__", "model")

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(name for name in self.arguments if name != "n")

    @property
    def outcomes(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.schema.confidential)

    def parameters(self) -> tuple[Parameter, ...]:
        """Check the function's shape on the two public tables and return its parameters."""
        seen = []
        for sites, rows in zip(self.examples, _SIZES, strict=True):
            _check_kinds(self, sites)
            samples = [site for site in sites if site["type"] == "sample"]
            _check_observed(self, samples, _example_table(self.schema, rows))
            latent = [site for site in samples if not site["is_observed"]]
            for site in latent:
                _check_latent(self, site)
            seen.append({site["name"]: _parameter(site) for site in latent})
        first, second = seen
        if not first:
            raise BadInput(f"the model '{self.title}' has no parameter to draw.")
        for name in first.keys() | second.keys():
            if first.get(name) != second.get(name):
                raise BadInput(
                    f"in the model '{self.title}' the shape or range of the parameter '{name}' "
                    f"depends on the table or on another parameter: give it a fixed one."
                )
        return tuple(first.values())

    def trace(self, columns: Columns | Data, rows: int, handled: Callable[..., Any]) -> Sites:
        """Run the function, inside effect handlers, on columns by name and return its sites."""
        inputs: dict[str, Any] = {name: columns.get(name) for name in self.columns}
        if "n" in self.arguments:
            inputs["n"] = rows
        with _user_code(self.title):
            sites: Sites = handlers.trace(handled).get_trace(**inputs)
        return sites

    def at(self, theta: Theta) -> Callable[..., Any]:
        """Return the function with its parameters fixed."""
        return handlers.substitute(self.function, data=theta)

    def log_prior(self, theta: Theta, columns: Columns | Data) -> jax.Array:
        """Return the log density of everything that is not an outcome."""
        rows = len(columns[self.outcomes[0]])
        total = jnp.zeros(())
        for site in self.trace(columns, rows, self.at(theta)).values():
            if site["type"] == "sample" and site["name"] not in self.outcomes:
                total = total + jnp.sum(_log_prob(site))
        return total

    def table_loglik(self, theta: Theta, columns: Columns | Data) -> jax.Array:
        """Return the record log-likelihoods as the function itself computes them on a table."""
        rows = len(columns[self.outcomes[0]])
        sites = self.trace(columns, rows, self.at(theta))
        total = jnp.zeros(rows)
        for name in self.outcomes:
            site = sites[name]
            axis = self.axis(site)
            values = jnp.broadcast_to(_log_prob(site), _batch_shape(site))
            others = tuple(k for k in range(-values.ndim, 0) if k != axis)
            total = total + jnp.sum(values, axis=others)
        return total

    def record_loglik(self, theta: Theta, data: Data) -> jax.Array:
        """Return the record log-likelihoods with each record as a table of its own."""

        def alone(record: Data) -> jax.Array:
            table = {name: jnp.reshape(value, (1,)) for name, value in record.items()}
            return self.table_loglik(theta, table)[0]

        return jax.vmap(alone)(data)

    def simulate(self, key: jax.Array, theta: Theta, public: Columns, rows: int) -> Columns:
        known = {column.name for column in self.schema.public}
        columns = {name: jnp.asarray(values) for name, values in public.items() if name in known}
        sites = self.trace(columns, rows, handlers.seed(self.at(theta), rng_seed=key))
        return {name: np.asarray(sites[name]["value"]) for name in self.outcomes}


def _with_finite_gradient(
    program: _Program, theta: Theta, data: Data, public_record: Columns
) -> jax.Array:
    """Return f, whose gradient is zero instead of undefined for records where f is not finite.

    Those records are swapped for a public one before differentiation: masking f afterwards would
    come too late, because the chain rule would still meet 0 · ∞ inside the user's function.
    """
    fixed = jax.tree.map(jax.lax.stop_gradient, theta)
    value = program.record_loglik(fixed, data)
    finite = jnp.isfinite(value)
    safe = {name: jnp.where(finite, data[name], public_record[name][0]) for name in data}
    return jnp.where(finite, program.record_loglik(theta, safe), value)


def _arguments(function: Callable[..., Any], schema: Schema) -> tuple[str, ...]:
    roles = {column.name: column.role for column in schema.columns}
    arguments = []
    for parameter in inspect.signature(function).parameters.values():
        name = parameter.name
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise BadInput(
                f"the model takes '*{name}', but its arguments must be names of columns and 'n'."
            )
        if name != "n" and roles.get(name) not in (Role.CONFIDENTIAL, Role.PUBLIC):
            raise BadInput(
                f"the model asks for '{name}', which is neither a confidential or public column "
                f"of the schema nor 'n', the number of records."
            )
        arguments.append(name)
    for column in schema.confidential:
        if column.name not in arguments:
            raise BadInput(
                f"the model does not take the confidential column '{column.name}': add it as an "
                f"argument, or give it the role 'ignore'."
            )
    return tuple(arguments)


def _parameter(site: Site) -> Parameter:
    return Parameter(site["name"], site["fn"].support, tuple(jnp.shape(site["value"])))


def _check_kinds(program: _Program, sites: list[Site]) -> None:
    for site in sites:
        name = site["name"]
        if site["type"] == "param":
            raise BadInput(
                f"in the model '{program.title}' '{name}' is a numpyro.param, which has no prior: "
                f"sample it."
            )
        if site["type"] == "sample" and isinstance(site["fn"], dist.Unit):
            raise BadInput(
                f"in the model '{program.title}' the numpyro.factor '{name}' is neither a prior "
                f"nor the density of a column: use numpyro.sample."
            )


def _check_observed(program: _Program, samples: list[Site], table: Columns) -> None:
    observed = {site["name"]: site for site in samples if site["is_observed"]}
    if all(program.axis(site) is None for site in observed.values()):
        raise BadInput(
            f"the model '{program.title}' has no record plate: put the observed sites into "
            f'numpyro.plate("records", n), so that each record has a log-likelihood of its own.'
        )
    for name in program.outcomes:
        if name not in observed:
            raise BadInput(
                f"the model '{program.title}' has no observed site called '{name}': sample the "
                f'confidential column with numpyro.sample("{name}", ..., obs={name}).'
            )
        if program.axis(observed[name]) is None:
            raise BadInput(
                f"in the model '{program.title}' the observed site '{name}' is outside the record "
                f"plate, so its likelihood does not split by record."
            )
        if not np.array_equal(np.ravel(observed[name]["value"]), table[name]):
            raise BadInput(
                f"in the model '{program.title}' the site '{name}' observes something other than "
                f"the column itself: transform the distribution instead, or simulated values "
                f"would be on another scale."
            )
    for name, site in observed.items():
        if name not in program.outcomes and program.axis(site) is not None:
            raise BadInput(
                f"in the model '{program.title}' the site '{name}' is observed in the record plate "
                f"but is not a confidential column of the schema."
            )


def _check_latent(program: _Program, site: Site) -> None:
    name, distribution = site["name"], site["fn"]
    if program.axis(site) is not None:
        raise BadInput(
            f"in the model '{program.title}' the parameter '{name}' is in the record plate, one "
            f"for each record: integrate it out, so that a record has one log-likelihood."
        )
    if distribution.support.is_discrete:
        raise BadInput(
            f"in the model '{program.title}' the parameter '{name}' is discrete: sum it out, "
            f"with a mixture distribution for example."
        )
    innermost = distribution
    while hasattr(innermost, "base_dist"):
        innermost = innermost.base_dist
    if isinstance(innermost, dist.ImproperUniform):
        raise BadInput(
            f"in the model '{program.title}' the prior of '{name}' is improper; a censored "
            f"likelihood needs a proper prior."
        )


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


def _random_table(schema: Schema, rows: int, seed: int) -> Columns:
    """Return records drawn evenly from the declared domain: public by construction."""
    generator = np.random.default_rng(seed)
    points = schema.public_points(97)
    return {name: generator.choice(values, rows) for name, values in points.items()}


def _example_table(schema: Schema, rows: int) -> Columns:
    return _random_table(schema, rows, rows)


def _check_records_stand_alone(program: _Program, model: Model) -> None:
    """Compare the function on whole public tables with the same records one by one."""
    thetas = jax.vmap(model.constrain)(model.starting_points(jax.random.key(0), 3))

    @jax.jit
    def evaluate(table: Data) -> tuple[jax.Array, jax.Array, jax.Array]:
        def at(theta: Theta) -> tuple[jax.Array, jax.Array, jax.Array]:
            return (
                program.log_prior(theta, table),
                program.table_loglik(theta, table),
                program.record_loglik(theta, table),
            )

        return jax.lax.map(at, thetas)

    tables = [model.prepare(_example_table(program.schema, rows)) for rows in _SIZES]
    (prior, *_), (other_prior, *_) = results = [evaluate(table) for table in tables]
    if not np.array_equal(prior, other_prior, equal_nan=True):
        raise BadInput(
            f"the prior of the model '{program.title}' depends on the table; it must be fixed "
            f"before the table is seen."
        )
    for _, whole, alone in results:
        if not np.allclose(whole, alone, rtol=1e-9, atol=1e-9, equal_nan=True):
            raise BadInput(
                f"in the model '{program.title}' the likelihood of a record depends on other "
                f"records (a mean or a scale taken over the table, for example): records must be "
                f"conditionally independent given the parameters."
            )


def _check_simulation(program: _Program, model: Model) -> None:
    """Simulate a few records from public predictors and check what comes out."""
    rows = 5
    public = {
        name: values
        for name, values in _random_table(program.schema, rows, 0).items()
        if name not in program.outcomes
    }
    theta = model.constrain(model.starting_points(jax.random.key(0), 1)[0])
    simulated = model.simulate(jax.random.key(1), theta, public, rows)
    for column in program.schema.confidential:
        shape = simulated[column.name].shape
        if shape != (rows,):
            raise BadInput(
                f"the model '{program.title}' simulated '{column.name}' with the shape {shape} "
                f"for {rows} records: let the record plate's size be 'n' or the length of a "
                f"public column."
            )


def _digest(function: Callable[..., Any]) -> str | None:
    try:
        source = inspect.getsource(function)
    except (OSError, TypeError):
        return None
    return hashlib.sha256(source.encode()).hexdigest()


@contextmanager
def _user_code(title: str) -> Iterator[None]:
    """Report whatever the user's function raises as one sentence.

    The function only ever sees public tables or abstract values, so its messages can hold nothing
    confidential; and it may raise anything, which is why the net is wide.
    """
    try:
        yield
    except (Exception, SystemExit) as error:  # noqa: BLE001
        lines = str(error).strip().splitlines()
        reason = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
        raise BadInput(f"the model '{title}' raised {reason}") from None
