"""A mixture over records of all columns, with nothing assumed of how columns hang together.

    p(record) = Σₖ πₖ Πⱼ pⱼₖ(xⱼ),      π ~ Dirichlet(a/K, …, a/K),      K = 24,  a = 48,

the truncation of a Dirichlet-process mixture whose limit for large K is the process itself
(Ishwaran and Zarepour 2002, doi:10.2307/3315951). Columns are coded as in the joint model
(`variables.py`), and within a component they are independent:

    log pⱼₖ(c) = base(c) + Σₘ dₘ(c) κⱼₘ + Σᵢ hᵢ(c) vₖⱼᵢ − constant.

κ is common to all components: it is the column's own shape, standard normal times fixed widths. v
is the component's place: it tilts the shape up or down. The places are **public**, spread evenly
over a normal distribution in an order of their own for each feature, and so is the base measure of
the process: a discrete one with K atoms. Only their shares π are learned. Components whose places
were learned as well could trade them without a change of the likelihood, and merge and split: a
posterior with many peaks, of which a chain finds one. Shares and shapes together can still have a
few, which the gate then sees.

Given public columns, the shares depend on them, as those of a mixture of experts do:

    πₖ(public) ∝ πₖ exp(Σ hᵢ(public) vₖᵢ).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from numpyro.distributions import constraints

from understudy._jax import jax, jnp
from understudy.domain.schema import Schema
from understudy.domain.tables import Columns
from understudy.models.balance import codes_at, evenly
from understudy.models.base import Data, Model, Parameter, Theta, host_generator
from understudy.models.table.coding import variable
from understudy.models.table.variables import (
    Variable,
    check_columns,
    check_names,
    draw_codes,
    neighbours,
    shares_of,
)

COMPONENTS = 24
CONCENTRATION = 48.0
MASSES = "log masses"
"""g, with πₖ ∝ exp(gₖ): logarithms of Gamma(a/K) variables have Dirichlet shares. On this scale no
share is ever zero, so that gradients stay finite."""
_PLACES_OF_LEVELS = 1.0
_PLACES_OF_NUMBERS = 1.5
_LARGEST_TABLE = 65_536
"""Up to so many different records are computed once each, instead of record by record."""
_SMALLEST = 1e-300


@dataclass(frozen=True)
class _Tilted:
    """A column, with the log probability of its codes in each component."""

    variable: Variable
    turn: int
    """Its number among all columns, from which the order of its places follows."""

    @cached_property
    def tilts(self) -> NDArray[np.float64]:
        """What each component's place adds to the log probabilities, shape (components, codes)."""
        from scipy.special import ndtri

        features, width = self.variable.features, _PLACES_OF_LEVELS
        if self.variable.edges is not None:
            features, width = self.variable.directions[:, :2], _PLACES_OF_NUMBERS
        orders = [
            np.argsort(np.random.PCG64([self.turn, feature]).random_raw(COMPONENTS))
            for feature in range(features.shape[1])
        ]
        places = width * ndtri((np.transpose(orders) + 0.5) / COMPONENTS)
        return np.asarray(places @ features.T)

    @cached_property
    def parameter(self) -> Parameter:
        """Its shape, common to all components."""
        return Parameter(self.variable.name, constraints.real, self.variable.widths[0].shape)

    def log_shares(self, theta: Theta) -> jax.Array:
        """Return the log probability of every code in every component."""
        coefficients = theta[self.variable.name] * self.variable.widths[0]
        shape = self.variable.base + self.variable.directions @ coefficients
        return jax.nn.log_softmax(shape + self.tilts, axis=1)


def mixture(schema: Schema) -> Model:
    """Return the mixture model of all confidential columns.

    Args:
        schema: Declares the columns; public ones are given, confidential ones are modelled.

    Raises:
        BadInput: If there is no confidential column, or there would be too many parameters.
    """
    check_columns("mixture", schema)
    columns = [
        _Tilted(variable(column), turn)
        for turn, column in enumerate((*schema.public, *schema.confidential))
    ]
    public = len(schema.public)
    built = _Mixture(tuple(columns[:public]), tuple(columns[public:]))
    check_names("mixture", built.parameters)
    return Model(
        title=f"mixture model of {', '.join(column.name for column in schema.confidential)}",
        schema=schema,
        parameters=built.parameters,
        log_prior=built.log_prior,
        prepare=built.prepare,
        record_loglik=built.record_loglik,
        simulate=built.simulate,
        balanced=built.balanced,
        spec={"name": "mixture"},
        handles_missing=True,
        handles_codes=True,
        by_tables=True,
    )


@dataclass(frozen=True, eq=False)
class _Mixture:
    """The functions of the model."""

    given: tuple[_Tilted, ...]
    modelled: tuple[_Tilted, ...]

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        masses = Parameter(MASSES, constraints.real, (COMPONENTS,))
        return (masses, *(each.parameter for each in self.modelled))

    @cached_property
    def counts(self) -> list[int]:
        """How many codes each column has."""
        return [each.variable.count for each in (*self.given, *self.modelled)]

    @cached_property
    def tabulated(self) -> bool:
        """Whether there are so few different records that each is computed once."""
        return math.prod(self.counts) <= _LARGEST_TABLE

    def log_prior(self, theta: Theta) -> jax.Array:
        each = CONCENTRATION / COMPONENTS
        gamma = jnp.sum(each * theta[MASSES] - jnp.exp(theta[MASSES]) - math.lgamma(each))
        return gamma + log_standard_normals(theta, self.parameters[1:])

    def prepare(self, columns: Columns) -> Data:
        codes = [each.variable.read(columns) for each in (*self.given, *self.modelled)]
        own = zip(self.modelled, codes[len(self.given) :], strict=True)
        unit = jnp.asarray(sum(each.variable.unit[code] for each, code in own))
        if self.tabulated:
            return {"unit": unit, "cell": jnp.asarray(np.ravel_multi_index(codes, self.counts))}
        return {"unit": unit, **{f"code {k}": jnp.asarray(each) for k, each in enumerate(codes)}}

    def record_loglik(self, theta: Theta, data: Data) -> jax.Array:
        if not self.tabulated:
            return self._log_probability(theta, data) + data["unit"]
        return self._log_table(theta)[data["cell"]] + data["unit"]

    def _log_table(self, theta: Theta) -> jax.Array:
        """Return the log probability of every different record, as one matrix product."""
        weights = jax.nn.log_softmax(theta[MASSES])[:, None]
        for each in self.given:
            tilted = weights[:, :, None] + each.tilts[:, None, :]
            weights = jnp.reshape(tilted, (COMPONENTS, -1))
        shares = jnp.exp(jax.nn.log_softmax(weights, axis=0))
        for each in self.modelled[:-1]:
            more = shares[:, :, None] * jnp.exp(each.log_shares(theta))[:, None, :]
            shares = jnp.reshape(more, (COMPONENTS, -1))
        table = shares.T @ jnp.exp(self.modelled[-1].log_shares(theta))
        return jnp.log(jnp.maximum(jnp.ravel(table), _SMALLEST))

    def _log_probability(self, theta: Theta, data: Data) -> jax.Array:
        before = jax.nn.log_softmax(theta[MASSES])
        for each in self.given:
            before = before + jnp.asarray(each.tilts.T)[data[f"code {each.turn}"]]
        after = before
        for each in self.modelled:
            after = after + each.log_shares(theta).T[data[f"code {each.turn}"]]
        return jax.nn.logsumexp(after, axis=-1) - jax.nn.logsumexp(before, axis=-1)

    def simulate(self, key: jax.Array, theta: Theta, columns: Columns, rows: int) -> Columns:
        generator = host_generator(key)
        component = draw_codes(generator, self._log_weights(theta, columns, rows), np.arange(rows))
        made: Columns = {}
        for each in self.modelled:
            codes = draw_codes(generator, each.log_shares(theta), component)
            made |= each.variable.write(generator, codes)
        return made

    def balanced(
        self, generator: np.random.Generator, theta: Theta, columns: Columns, rows: int
    ) -> Columns:
        """Simulate evenly spread rows: components among public neighbours, columns among both."""
        codes = {each.variable.name: each.variable.read(columns) for each in self.given}
        drawn = [each.variable for each in self.given]
        u = evenly(generator, rows, neighbours(codes, drawn))
        component, _ = codes_at(u, shares_of(self._log_weights(theta, columns, rows)))
        values: Columns = {}
        for each in self.modelled:
            u = evenly(generator, rows, [component, *neighbours(codes, drawn)])
            own, within = codes_at(u, jnp.exp(each.log_shares(theta)), component)
            values |= each.variable.values(own, within)
            codes[each.variable.name] = own
            drawn.append(each.variable)
        return values

    def _log_weights(self, theta: Theta, columns: Columns, rows: int) -> NDArray[np.float64]:
        """Return the log shares of the components in each row, up to a constant."""
        log_weights = np.tile(np.asarray(theta[MASSES]), (rows, 1))
        for each in self.given:
            log_weights += each.tilts.T[each.variable.read(columns)]
        return np.asarray(log_weights - log_weights.max(axis=1, keepdims=True))


def log_standard_normals(theta: Theta, parameters: Iterable[Parameter]) -> jax.Array:
    """Return the log density of the named parameters, independent standard normals all of them."""
    flat = jnp.concatenate([jnp.ravel(theta[parameter.name]) for parameter in parameters])
    return -0.5 * jnp.sum(flat**2) - 0.5 * flat.size * math.log(2 * math.pi)
