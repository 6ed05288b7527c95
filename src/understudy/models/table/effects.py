"""How some variables bear on another: a constant, main effects and pairs of them.

Predictors are seen by their features, and by the products of these for every two predictors. Each
coefficient is a standard normal times a fixed width, smaller for pairs than for main effects.
Parameters are the standard normals: zero says nothing, one is as much as was to be expected.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpyro.distributions import constraints

from understudy._jax import jax, jnp
from understudy.models.balance import Floats, codes_at
from understudy.models.base import Data, Parameter, Theta
from understudy.models.table.variables import Codes, Variable, shares_of

CodesOf = dict[str, Codes]

LARGEST_WIDTH = 64
"""Pairs are left out where they would make a matrix wider than this."""
LARGEST_GRID = 1024
"""Up to so many combinations of predictors are computed once, instead of record by record."""


@dataclass(frozen=True)
class Block:
    """Neighbouring columns of the matrix of features: the constant, one variable, or two."""

    name: str
    """That of the parameter with its coefficients."""
    width: int
    order: int
    """How many variables it is of."""


@dataclass(frozen=True)
class Effects:
    """Coefficients of one variable's directions, as functions of its predictors' features."""

    variable: Variable
    predictors: tuple[Variable, ...]

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The constant first, then main effects, then pairs if there is room for them."""
        own, widths = self.variable.name, {v.name: v.features.shape[1] for v in self.predictors}
        mains = (Block(f"{own} by {name}", width, 1) for name, width in widths.items())
        blocks = (Block(own, 1, 0), *mains)
        if sum(block.width for block in blocks) > LARGEST_WIDTH:
            return blocks
        pairs = tuple(
            Block(f"{own} by {one}:{other}", widths[one] * widths[other], 2)
            for one, other in itertools.combinations(widths, 2)
        )
        room = sum(block.width for block in blocks + pairs) <= LARGEST_WIDTH
        return blocks + pairs if room else blocks

    @cached_property
    def grid(self) -> Floats | None:
        """The matrix of every combination of predictors; None if there are too many."""
        counts = [v.count for v in self.predictors]
        cells = math.prod(counts)
        if cells > LARGEST_GRID:
            return None
        codes = np.indices(counts).reshape(len(counts), cells)
        return self.matrix({v.name: c for v, c in zip(self.predictors, codes, strict=True)}, cells)

    def cells(self, codes: CodesOf, records: int) -> Codes:
        """Return each record's row of the grid."""
        cell = np.zeros(records, dtype=np.int64)
        for predictor in self.predictors:
            cell = cell * predictor.count + codes[predictor.name]
        return cell

    def matrix(self, codes: CodesOf, records: int) -> Floats:
        """Return the features of each record, shape (records, width)."""
        mains = [v.features[codes[v.name]] for v in self.predictors]
        columns = [np.ones((records, 1)), *mains]
        if self.blocks[-1].order == 2:
            columns += [
                (one[:, :, None] * other[:, None, :]).reshape(records, -1)
                for one, other in itertools.combinations(mains, 2)
            ]
        return np.column_stack(columns)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """One parameter for each block of features, named after it."""
        return tuple(
            Parameter(
                block.name,
                constraints.real,
                ((block.width,) if block.order else ()) + self.variable.widths[block.order].shape,
            )
            for block in self.blocks
        )

    def heights(self, theta: Mapping[str, Any], matrix: Any) -> Any:
        """Return the log probability of every code for every row of features, up to a constant.

        With NumPy's arrays it is computed by NumPy, which compiles nothing.
        """
        directions = self.variable.directions
        start, total = 0, self.variable.base
        for block in self.blocks:
            widths = self.variable.widths[block.order]
            coefficients = theta[block.name].reshape((block.width, -1)) * widths
            columns = matrix[:, start : start + block.width]
            total = total + (columns @ coefficients) @ directions[:, : len(widths)].T
            start += block.width
        return total

    def log_shares(self, theta: Theta, matrix: jax.Array | Floats) -> jax.Array:
        """Return the log probability of every code for every row of a matrix of features."""
        return jax.nn.log_softmax(self.heights(theta, matrix), axis=1)

    def prepare(self, codes: CodesOf) -> Data:
        """Return what `loglik` needs to know about each record."""
        own = codes[self.variable.name]
        if self.grid is None:
            matrix = jnp.asarray(self.matrix(codes, len(own)))
            return {self._code: jnp.asarray(own), self._features: matrix}
        cells = self.cells(codes, len(own))
        return {self._code: jnp.asarray(cells * self.variable.count + own)}

    def loglik(self, theta: Theta, data: Data) -> jax.Array:
        """Return the log probability of each record's code, given the predictors."""
        codes = data[self._code]
        if self.grid is not None:
            return jnp.ravel(self.log_shares(theta, self.grid))[codes]
        shares = self.log_shares(theta, data[self._features])
        return jnp.take_along_axis(shares, codes[:, None], axis=1)[:, 0]

    def slope(self, theta: Theta, data: Data) -> jax.Array:
        """Return the gradient of each record's `loglik`, in the order of the parameters.

        The derivative of a log probability by a coefficient of a direction is the direction at the
        code, less its mean over all codes, times the feature: no automatic differentiation is as
        cheap.
        """
        variable, codes = self.variable, data[self._code]
        if self.grid is None:
            matrix = data[self._features]
            shares = jnp.exp(self.log_shares(theta, matrix))
            means, own = shares @ variable.directions, codes
        else:
            cells, own = codes // variable.count, codes % variable.count
            shares = jnp.exp(self.log_shares(theta, self.grid))
            means, matrix = (shares @ variable.directions)[cells], jnp.asarray(self.grid)[cells]
        rest = jnp.asarray(variable.directions)[own] - means
        parts, start = [], 0
        for block in self.blocks:
            widths = variable.widths[block.order]
            columns = matrix[:, start : start + block.width, None]
            parts.append(columns * (rest[:, : len(widths)] * widths)[:, None, :])
            start += block.width
        return jnp.concatenate([jnp.reshape(part, (len(rest), -1)) for part in parts], axis=1)

    def draw(
        self, generator: np.random.Generator, theta: Theta, codes: CodesOf, rows: int
    ) -> Codes:
        """Draw a code for each record, given the predictors."""
        return self.at(generator.uniform(size=rows), theta, codes)[0]

    def at(self, u: Floats, theta: Theta, codes: CodesOf) -> tuple[Codes, Floats]:
        """Return each record's code at u given the predictors, and how far within it u lies."""
        values = {block.name: np.asarray(theta[block.name]) for block in self.blocks}
        if self.grid is not None:
            shares = shares_of(self.heights(values, self.grid))
            return codes_at(u, shares, self.cells(codes, len(u)))
        return codes_at(u, shares_of(self.heights(values, self.matrix(codes, len(u)))))

    @property
    def _code(self) -> str:
        return f"code of {self.variable.name}"

    @property
    def _features(self) -> str:
        return f"features for {self.variable.name}"


def log_standard_normals(theta: Theta, parameters: Iterable[Parameter]) -> jax.Array:
    """Return the log density of the named parameters, independent standard normals all of them."""
    flat = jnp.concatenate([jnp.ravel(theta[parameter.name]) for parameter in parameters])
    return -0.5 * jnp.sum(flat**2) - 0.5 * flat.size * math.log(2 * math.pi)
