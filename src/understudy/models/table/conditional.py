"""One column given others: a distribution over groups of its codes, and a shape inside each group.

    log p(c | x) = a(c) + b[g(c)] + Σₖ 0.5 Eₖ[gₖ(xₖ), g(c)] − constant,      a = base + D κ + 0.15 r

g puts codes into groups: levels are groups of their own, and of numbers neighbouring codes are one,
so that there are as many effects as noise allows. D are the directions of the column
(`variables.py`), with κ standard normal. Where single values may stand out, r lets them; of other
numbers b lets groups do so, whatever the shape. Eₖ says how the group depends on that of a parent:

    E = (I, Z′) B (I, Z′)′,      Z line and parabola over groups that have an order

on either side. So an effect is of one group alone, or of many in order, as where a parent moves or
widens a distribution. Were effects of single groups all there is, a trend over many of them would
be as good as impossible, and be pulled towards none. Most effects of a table are small and a few
are very large: r, b / 0.5 and B have Student t distributions with two degrees of freedom, whose
tails allow both.

Inside its group a code depends on no other column. So all that a parent can change is computed for
groups, however many codes there are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpyro.distributions import constraints

from understudy._jax import jax, jnp
from understudy.models.balance import Floats, codes_at
from understudy.models.base import Data, Parameter, Theta
from understudy.models.table.variables import Codes, Variable

STANDING_OUT, EFFECT = 0.15, 0.5
"""Widths of what a single value, and a pair of groups, adds to a log probability. Chosen
while looking at tables that results are reported on: see docs/summary.md."""
DEGREES = 2.0
"""Of freedom, of the distributions of both."""


@dataclass(frozen=True, eq=False)
class Grouped:
    """A variable whose codes are put into groups."""

    variable: Variable
    groups: Codes
    """That of each code, from 0 on."""

    @property
    def name(self) -> str:
        """The column's name."""
        return self.variable.name

    @cached_property
    def count(self) -> int:
        """How many groups there are."""
        return int(self.groups.max()) + 1

    @cached_property
    def trends(self) -> Floats:
        """Line and parabola over groups in order, each as large as 1 on average; none of others."""
        variable, none = self.variable, np.zeros((0, self.count))
        if variable.column.levels is not None and not variable.column.ordered:
            return none
        ordinary = int(self.groups[: variable.inner].max()) + 1
        place = np.linspace(-1, 1, ordinary)
        shapes = np.array([place, place**2 - np.mean(place**2)])[: max(ordinary - 2, 0)]
        trends = np.zeros((len(shapes), self.count))
        trends[:, :ordinary] = shapes / np.sqrt(np.mean(shapes**2, axis=1, keepdims=True))
        return trends

    @property
    def patterns(self) -> int:
        """How many effects there are of it: of each group, and of trends."""
        return self.count + len(self.trends)

    def read(self, columns: Mapping[str, Any]) -> Codes:
        """Return the group of each record."""
        return self.groups[self.variable.read(columns)]


@dataclass(frozen=True, eq=False)
class Conditional:
    """The distribution of one column given some others."""

    own: Grouped
    parents: tuple[Grouped, ...]

    @property
    def name(self) -> str:
        """The column's name."""
        return self.own.name

    @cached_property
    def directions(self) -> Floats:
        """D, shape (codes, directions)."""
        variable = self.own.variable
        return np.asarray(variable.directions[:, : len(variable.widths[0])] * variable.widths[0])

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The shape, what stands out of it, and the effects of each parent."""
        variable = self.own.variable
        named: dict[str, tuple[int, ...]] = {self.name: (self.directions.shape[1],)}
        if len(variable.free):
            named[f"{self.name} values"] = (len(variable.free),)
        if self.lumpy:
            named[f"{self.name} groups"] = (1, self.own.count)
        for parent in self.parents:
            named[f"{self.name} by {parent.name}"] = parent.patterns, self.own.patterns
        return tuple(Parameter(name, constraints.real, shape) for name, shape in named.items())

    @property
    def lumpy(self) -> bool:
        """Whether groups may stand out from a shape in which single values cannot."""
        smooth = self.own.variable.edges is not None and self.own.variable.free.size == 0
        return smooth and self.own.count > 1

    def by_groups(self, effects: Any, parent: Grouped) -> Any:
        """Return what effects are for each group of a parent and each own one.

        Args:
            effects: Of groups and trends of the parent, below each other, on own ones.
            parent: Of this column.
        """
        rows = effects[: parent.count] + parent.trends.T @ effects[parent.count :]
        return rows[:, : self.own.count] + rows[:, self.own.count :] @ self.own.trends

    def by_patterns(self, groups: Floats, parent: Grouped, power: int = 1) -> Floats:
        """Return sums over groups, weighed by a power of each pattern: the way back.

        Args:
            groups: A number for each group of a parent and each own one.
            parent: Of this column.
            power: Of the weights.
        """
        rows = np.hstack([groups, groups @ self.own.trends.T**power])
        return np.vstack([rows, parent.trends**power @ rows])

    def log_prior(self, theta: Theta) -> jax.Array:
        """Return the log density of its parameters."""
        total = -0.5 * jnp.sum(theta[self.name] ** 2)
        total = total - 0.5 * theta[self.name].size * math.log(2 * math.pi)
        for parameter in self.parameters[1:]:
            total = total + jnp.sum(log_student(theta[parameter.name]))
        return total

    def shape(self, theta: Mapping[str, Any], library: Any = np) -> tuple[Any, Any]:
        """Return the log weight of each group, and the log share of each code in its group."""
        variable, groups, count = self.own.variable, self.own.groups, self.own.count
        heights = variable.base + self.directions @ library.asarray(theta[self.name])
        if len(variable.free):
            out = STANDING_OUT * library.asarray(theta[f"{self.name} values"])
            heights = heights + _placed(out, variable.free, variable.count, library)
        # Not the largest of each group: all codes of a column are within reach of each other.
        raised = library.exp(heights - heights.max())
        total: Any
        if library is np:
            total = np.bincount(groups, weights=raised, minlength=count)
        else:
            total = jax.ops.segment_sum(raised, groups, count)
        weights = library.log(library.maximum(total, 1e-300))
        return weights, heights - heights.max() - weights[groups]

    def prepare(self, codes: Mapping[str, Codes]) -> Data:
        """Return what `loglik` needs to know about each record."""
        return {f"code of {self.name}": jnp.asarray(codes[self.name])}

    def loglik(self, theta: Theta, data: Data, groups: Mapping[str, jax.Array]) -> jax.Array:
        """Return the log probability of each record's code, given the groups of its parents."""
        weights, inside = self.shape(theta, jnp)
        own = data[f"code of {self.name}"]
        if self.lumpy:
            weights = weights + EFFECT * theta[f"{self.name} groups"][0]
        heights = jnp.broadcast_to(weights, (len(own), len(weights)))
        for parent in self.parents:
            effects = self.by_groups(theta[f"{self.name} by {parent.name}"], parent)
            heights = heights + EFFECT * effects[groups[parent.name]]
        shares = jax.nn.log_softmax(heights, axis=1)
        place = jnp.asarray(self.own.groups)[own]
        return jnp.take_along_axis(shares, place[:, None], axis=1)[:, 0] + inside[own]

    def at(
        self, u: Floats, theta: Mapping[str, Any], groups: Mapping[str, Codes]
    ) -> tuple[Codes, Floats]:
        """Return each record's code at u given its parents' groups, and how far within it u is."""
        weights, inside = self.shape({name: np.asarray(v) for name, v in theta.items()})
        if self.lumpy:
            weights = weights + EFFECT * np.asarray(theta[f"{self.name} groups"])[0]
        heights = np.tile(weights, (len(u), 1))
        for parent in self.parents:
            effects = np.asarray(theta[f"{self.name} by {parent.name}"])
            heights += EFFECT * self.by_groups(effects, parent)[groups[parent.name]]
        heights -= heights.max(axis=1, keepdims=True)
        group, within = codes_at(u, np.exp(heights, out=heights))
        return self.code_in(group, within, np.exp(inside))

    def code_in(self, group: Codes, within: Floats, inside: Floats) -> tuple[Codes, Floats]:
        """Return the code at a place of each record's group, and how far within the code it is.

        Args:
            group: Of each record.
            within: How far inside the group, from 0 to 1.
            inside: The share of each code in its group.
        """
        order = np.argsort(self.own.groups, kind="stable")
        shares = inside[order]
        ends = np.cumsum(shares)
        starts = ends - shares
        first = np.searchsorted(self.own.groups[order], np.arange(self.own.count))
        last = np.append(first[1:], len(order)) - 1
        place = starts[first][group] + within * (ends[last] - starts[first])[group]
        found = np.clip(np.searchsorted(ends, place, side="right"), first[group], last[group])
        rest = (place - starts[found]) / np.maximum(shares[found], 1e-300)
        return order[found], np.clip(rest, 0.0, np.nextafter(1.0, 0.0))


def _placed(values: Any, places: Codes, count: int, library: Any) -> Any:
    """Return so many numbers, zero but for those in some places."""
    if library is np:
        found = np.zeros(count)
        found[places] = values
        return found
    return jnp.zeros(count).at[places].set(values)


def log_student(values: Any) -> Any:
    """Return the log density of Student's t distribution with two degrees of freedom."""
    return -1.5 * jnp.log1p(values**2 / DEGREES) - 1.5 * math.log(2.0)
