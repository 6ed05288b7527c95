"""What a model is: a prior, a record log-likelihood, and a way to simulate.

θ is a dictionary of parameters by name, each on its natural scale. Samplers move on the real line
instead: `constrain` maps an unconstrained vector z to θ, one transform per parameter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from textwrap import shorten
from typing import Any

import numpy as np
from numpyro.distributions import biject_to, constraints

from understudy._jax import jax, jnp
from understudy.domain.schema import Schema
from understudy.domain.tables import Columns
from understudy.support.parallel import in_threads

Theta = dict[str, jax.Array]
Data = dict[str, jax.Array]
Balanced = Callable[[np.random.Generator, Theta, Columns, int], Columns]
"""Simulates evenly spread rows, from a generator, θ, public columns and a number of rows."""

GRID = 2.0**-20
"""Released parameters are multiples of this on the unconstrained scale: a public grid, so that no
low-order bit of a floating-point sum over records can be read from them."""

_BLOCK = 65_536
"""Rows that are drawn together, from a generator of their own."""
_LONGEST_TITLE, _NAMED_COLUMNS = 60, 4
"""Characters of a title, and columns, that a model shows of itself."""


def host_generator(key: jax.Array) -> np.random.Generator:
    """Return a NumPy generator for simulation, which draws Beta variables many times faster."""
    return np.random.default_rng(np.asarray(jax.random.key_data(key)))


def drawn_in_blocks(
    key: jax.Array, rows: int, draw: Callable[[np.random.Generator, slice], np.ndarray]
) -> np.ndarray:
    """Return what is drawn for each row, blocks of rows at once on all cores.

    Each block has a generator of its own, and blocks are equal whatever the machine: so are rows.

    Args:
        key: Where chance comes from.
        rows: How many there are.
        draw: Draws for some consecutive rows, by NumPy, which leaves the interpreter to others.
    """
    if rows <= _BLOCK:
        return draw(host_generator(key), slice(0, rows))
    blocks = [slice(start, min(start + _BLOCK, rows)) for start in range(0, rows, _BLOCK)]
    own = np.random.SeedSequence(np.asarray(jax.random.key_data(key)).tolist()).spawn(len(blocks))
    drawn = np.empty(rows)

    def fill(number: int) -> None:
        drawn[blocks[number]] = draw(np.random.default_rng(own[number]), blocks[number])

    for _ in in_threads(fill, range(len(blocks))):
        pass
    return drawn


def extended(data: Data, name: str, values: jax.Array | np.ndarray) -> Data:
    """Return prepared data with one more array, whose name must not be taken."""
    if name in data:
        raise ValueError(f"the prepared data already holds an array called '{name}'")
    return {**data, name: jnp.asarray(values)}


def without(data: Data, name: str) -> Data:
    """Return prepared data without that array: what the model inside a changed one prepared."""
    return {key: values for key, values in data.items() if key != name}


def _few(names: Sequence[str]) -> str:
    """Join names with commas; of many, only the first."""
    if len(names) <= _NAMED_COLUMNS:
        return ", ".join(names)
    shown = names[: _NAMED_COLUMNS - 1]
    return f"{', '.join(shown)} and {len(names) - len(shown)} more"


@dataclass(frozen=True)
class Parameter:
    """A named parameter with its support, from which its transform to the real line follows."""

    name: str
    """What releases and priors call it."""
    support: constraints.Constraint
    """Where it lies: one of `numpyro.distributions.constraints`."""
    shape: tuple[int, ...] = ()
    """Its shape on the natural scale; a number has the shape ()."""

    @cached_property
    def transform(self) -> Any:
        """The bijection from the real line (or space) to the support."""
        return biject_to(self.support)

    @property
    def unconstrained_shape(self) -> tuple[int, ...]:
        """Shape on the real scale; it differs from `shape` for a simplex, for example."""
        return tuple(self.transform.inverse_shape(self.shape))

    @property
    def element_names(self) -> tuple[str, ...]:
        """One name per scalar element: `lambda`, or `mean[0]`, `mean[1]`."""
        if not self.shape:
            return (self.name,)
        return tuple(
            f"{self.name}[{','.join(map(str, index))}]" for index in np.ndindex(*self.shape)
        )


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """A synthesising model, as pure functions that JAX can trace.

    Neither the prior nor a record's log-likelihood may depend on other records: the guarantee
    rests on it. A log-likelihood may be infinite, but its gradient may not.
    """

    title: str
    """What people call it in reports."""
    schema: Schema
    """The declared domain, whose confidential columns it synthesises."""
    parameters: tuple[Parameter, ...]
    """Everything that is drawn, in the order of the unconstrained coordinates."""
    log_prior: Callable[[Theta], jax.Array]
    """Log density of θ on its natural scale."""
    prepare: Callable[[Columns], Data]
    """What is computed from a table once, before any θ is seen (logarithms, design matrices)."""
    record_loglik: Callable[[Theta, Data], jax.Array]
    """f_θ(x) for each record of a prepared table, shape (n,)."""
    simulate: Callable[[jax.Array, Theta, Columns, int], Columns]
    """Confidential columns of new records, from a key, θ, public columns and a number of rows."""
    spec: dict[str, Any]
    """What `parameters.json` says about the model, enough to build it again."""
    handles_missing: bool = False
    """Whether the model itself makes sense of missing values, which arrive as NaN and as −1.
    Otherwise `record/missing.py` does, for a model of one confidential column."""
    handles_codes: bool = False
    """Whether it also tells several kinds of missing values apart, as `domain/kinds.py` codes
    them. Whoever does not is refused where a column declares more than one code."""
    record_slope: Callable[[Theta, Data], jax.Array] | None = None
    """The gradient of each f_θ(x) by unconstrained coordinates, shape (n, dimension), where there
    is a cheaper way to it than automatic differentiation; then f_θ is finite for every record."""
    balanced: Balanced | None = None
    """The same as `simulate`, with rows that are evenly spread (`balance.py`), where it can."""
    check_public: Callable[[Columns], None] | None = None
    """Refuses public rows beside which nothing can be simulated, before anything is charged."""
    by_tables: bool = False
    """Whether tables of its columns say more about it than scores do: a model of whole tables."""
    in_turn: Any = None
    """The columns of a model that are drawn one after the other, and so can be fitted one after the
    other (`table/joint.py`); None for any other model."""
    rows_per_record: int = 1
    """Rows of the table that a record may have: several where it is a unit (`record/units.py`)."""
    as_declared: bool = False
    """Whether units, survey weights and missing values are accounted for (`record/declared.py`)."""
    row: Model | None = None
    """The model of one row, where a record is a unit of several or counts by its survey weight."""
    normal_prior: tuple[np.ndarray, np.ndarray] | None = None
    """Mean and covariance of a prior on the unconstrained scale, which replaces the other one."""

    @property
    def dimension(self) -> int:
        """Number of unconstrained coordinates."""
        return sum(math.prod(parameter.unconstrained_shape) for parameter in self.parameters)

    def __repr__(self) -> str:
        """Name the model, how many numbers are drawn, and its columns."""
        columns = f"synthesises {_few([each.name for each in self.schema.confidential])}"
        if self.schema.public:
            columns += f" beside the public {_few([each.name for each in self.schema.public])}"
        title = shorten(self.title, _LONGEST_TITLE, placeholder=" ...")
        plural = "s" * (self.dimension != 1)
        return f"<Model '{title}': {self.dimension:,} parameter{plural}; {columns}>"

    def _pieces(self, z: jax.Array) -> list[tuple[Parameter, jax.Array]]:
        pieces, start = [], 0
        for parameter in self.parameters:
            shape = parameter.unconstrained_shape
            stop = start + math.prod(shape)
            pieces.append((parameter, jnp.reshape(z[start:stop], shape)))
            start = stop
        return pieces

    def constrain(self, z: jax.Array) -> Theta:
        """Map unconstrained coordinates to θ.

        Args:
            z: The coordinates, shape (dimension,).

        Returns:
            The parameters by name, each on its natural scale.
        """
        return {parameter.name: parameter.transform(u) for parameter, u in self._pieces(z)}

    def unconstrain(self, theta: Theta) -> jax.Array:
        """Map θ to unconstrained coordinates.

        Args:
            theta: The parameters by name, each inside its support.

        Returns:
            The coordinates, shape (dimension,).
        """
        return jnp.concatenate(
            [jnp.ravel(p.transform.inv(jnp.asarray(theta[p.name]))) for p in self.parameters]
        )

    def log_prior_unconstrained(self, z: jax.Array) -> jax.Array:
        """Return the log prior density of z: that of θ, and the log of the transform's Jacobian.

        Args:
            z: Unconstrained coordinates, shape (dimension,).
        """
        if self.normal_prior is not None:
            mean, covariance = self.normal_prior
            return -0.5 * (z - mean) @ jnp.asarray(np.linalg.inv(covariance)) @ (z - mean)
        total = self.log_prior(self.constrain(z))
        for parameter, u in self._pieces(z):
            transform = parameter.transform
            total = total + jnp.sum(transform.log_abs_det_jacobian(u, transform(u)))
        return total

    def starting_points(self, key: jax.Array, count: int) -> jax.Array:
        """Return points spread evenly around the origin of the unconstrained scale.

        Args:
            key: A JAX key.
            count: How many points, one for each row of the result.
        """
        return jax.random.uniform(key, (count, self.dimension), minval=-2.0, maxval=2.0)

    def round_to_grid(self, z: jax.Array) -> jax.Array:
        """Round unconstrained coordinates to the public grid, on which all releases lie.

        Args:
            z: The coordinates, of any shape.
        """
        return jnp.round(z / GRID) * GRID
