"""All confidential columns of a table together, each given some of those before it.

    p(record) = p(x₁) p(x₂ | x₁) p(x₃ | x₁, x₂) …

in a declared order. Public columns are given and come before all others. Each column is coded
(`variables.py`): levels and whole numbers with a few hundred values as they are, other numbers by
the narrow public interval they lie in, evenly within it. What a column depends on, and how
coarsely, is its *structure*: its parents, and the groups that their codes and its own are put into
(`conditional.py`). By default every column before is a parent, and numbers are in a few groups of
equal width. By `summary`, noisy tables of single columns say which groups have about equal mass,
and where there are many columns, which pairs of them are worth a table; both are published.

Effects are of pairs of columns, as the tables are that they are learned from. A log-linear model of
the same pairs over all combinations would be about as good and does not scale; in a sequence, each
column is fitted by itself, given those before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from understudy._jax import jax, jnp
from understudy.domain.schema import Schema
from understudy.domain.tables import Columns
from understudy.errors import BadInput, nearest
from understudy.models.balance import Floats, along
from understudy.models.base import Data, Model, Theta, host_generator
from understudy.models.table.coding import variable
from understudy.models.table.conditional import Conditional, Grouped
from understudy.models.table.variables import (
    Codes,
    Variable,
    check_columns,
    check_names,
    evenly_grouped,
)

_GROUPS = 8
"""Groups of a number, where nothing is known of it."""


@dataclass(frozen=True)
class Structure:
    """What each column depends on, and how coarsely: public, and part of a release."""

    order: tuple[str, ...]
    """Confidential columns, the first to be drawn first."""
    groups: Mapping[str, tuple[int, ...]]
    """The group of each code of a column; columns that are not named are grouped by default."""
    parents: Mapping[str, tuple[str, ...]]
    """Of each column in the order, columns before it or public ones."""

    def to_dict(self) -> dict[str, Any]:
        """Return what the spec of a model says of it."""
        groups = {name: list(each) for name, each in self.groups.items()}
        parents = {name: list(each) for name, each in self.parents.items()}
        return {"order": list(self.order), "groups": groups, "parents": parents}


def joint(
    schema: Schema,
    *,
    order: Sequence[str] | None = None,
    groups: Mapping[str, Sequence[int]] | None = None,
    parents: Mapping[str, Sequence[str]] | None = None,
) -> Model:
    """Return the model of all confidential columns.

    Args:
        schema: Declares the columns; public ones are given, confidential ones are modelled.
        order: Names each confidential column once, the first to be drawn first. By default columns
            with few values come first and other numbers last, each in the order of the schema:
            shapes that depend on a group are easier to learn than groups that depend on a number.
        groups: The group of each code of a column, by which others depend on it, as a release says.
        parents: The columns that each one depends on; by default all that come before it.

    Raises:
        BadInput: If there is no confidential column, the order is not one of all of them, or there
            are too many levels.
    """
    check_columns("joint", schema)
    variables = {c.name: variable(c) for c in (*schema.public, *schema.confidential)}
    named = _in_order(schema, variables, order)
    structure = Structure(
        named,
        _checked_groups(variables, groups or {}),
        _checked_parents(schema, named, parents),
    )
    return Sequential(schema, variables, structure).model()


@dataclass(frozen=True, eq=False)
class Sequential:
    """Columns in turn, and the functions of their model."""

    schema: Schema
    variables: Mapping[str, Variable]
    structure: Structure

    @cached_property
    def grouped(self) -> dict[str, Grouped]:
        """Every column, public ones included, with its groups."""
        known = self.structure.groups
        return {
            name: Grouped(
                each, np.asarray(known[name]) if name in known else evenly_grouped(each, _GROUPS)
            )
            for name, each in self.variables.items()
        }

    @cached_property
    def terms(self) -> tuple[Conditional, ...]:
        """The distribution of each column given its parents, in order."""
        parents = self.structure.parents
        return tuple(
            Conditional(self.grouped[name], tuple(self.grouped[each] for each in parents[name]))
            for name in self.structure.order
        )

    def refined(self, groups: Mapping[str, Codes], pairs: Iterable[frozenset[str]]) -> Sequential:
        """Return the same columns in other groups, each given those that it makes a pair with."""
        joined, names = set(pairs), list(self.variables)
        before = [*(name for name in names if name not in self.structure.order)]
        parents = {}
        for name in self.structure.order:
            parents[name] = tuple(each for each in before if frozenset((each, name)) in joined)
            before.append(name)
        coded = {name: tuple(map(int, each)) for name, each in groups.items()}
        return replace(self, structure=Structure(self.structure.order, coded, parents))

    def reaching(self, names: Iterable[str]) -> Sequential:
        """Return those of the columns that some depend on, these among them: all that they need.

        Args:
            names: Of columns; public ones are given anyway.
        """
        needed = set(names)
        for name in reversed(self.structure.order):
            if name in needed:
                needed |= set(self.structure.parents[name])
        order = tuple(name for name in self.structure.order if name in needed)
        parents = {name: self.structure.parents[name] for name in order}
        return replace(self, structure=replace(self.structure, order=order, parents=parents))

    def related(self, one: str, other: str) -> bool:
        """Whether two columns may depend on each other: both on some column, or on public ones.

        Args:
            one: The name of a column.
            other: That of another.
        """
        public = {column.name for column in self.schema.public}
        above = []
        for name in (one, other):
            within = self.reaching([name]).structure
            reached = {name, *within.order}.union(*within.parents.values())
            above.append({"" if each in public else each for each in reached})
        return not above[0].isdisjoint(above[1])

    def model(self) -> Model:
        """Return the model."""
        public = tuple(self.variables[column.name] for column in self.schema.public)
        parameters = tuple(p for term in self.terms for p in term.parameters)
        check_names("joint", parameters)
        spec = {"name": "joint", "order": list(self.structure.order)}
        every = _checked_parents(self.schema, self.structure.order, None)
        if self.structure.groups or self.structure.parents != every:
            spec |= self.structure.to_dict()
        return Model(
            title=f"joint model of {', '.join(self.structure.order)}",
            schema=self.schema,
            parameters=parameters,
            log_prior=self._log_prior,
            prepare=self._prepare,
            record_loglik=self._record_loglik,
            simulate=partial(self._simulate, public),
            balanced=partial(self._balanced, public),
            spec=spec,
            handles_missing=True,
            handles_codes=True,
            by_tables=True,
            in_turn=self,
        )

    def _log_prior(self, theta: Theta) -> jax.Array:
        return sum((term.log_prior(theta) for term in self.terms), jnp.zeros(()))

    def _prepare(self, columns: Columns) -> Data:
        codes = {name: each.read(columns) for name, each in self.variables.items()}
        own = [self.variables[name].unit[codes[name]] for name in self.structure.order]
        data: Data = {"unit": jnp.asarray(sum(own))}
        return data | {f"code of {name}": jnp.asarray(each) for name, each in codes.items()}

    def _record_loglik(self, theta: Theta, data: Data) -> jax.Array:
        groups = {
            name: jnp.asarray(each.groups)[data[f"code of {name}"]]
            for name, each in self.grouped.items()
        }
        total = data["unit"]
        for term in self.terms:
            total = total + term.loglik(theta, data, groups)
        return total

    def _simulate(
        self, public: Sequence[Variable], key: jax.Array, theta: Theta, given: Columns, rows: int
    ) -> Columns:
        generator = host_generator(key)
        return self._drawn(public, theta, given, lambda term, groups: generator.random(rows))

    def _balanced(
        self,
        public: Sequence[Variable],
        generator: np.random.Generator,
        theta: Theta,
        given: Columns,
        rows: int,
    ) -> Columns:
        """Simulate evenly spread rows, each column among neighbours by its parents."""

        def spread(term: Conditional, groups: Mapping[str, Codes]) -> Floats:
            few_first = sorted(term.parents, key=lambda parent: parent.count)
            by = [groups[parent.name] for parent in few_first]
            return along(generator, rows, by, self.structure.order.index(term.name))

        return self._drawn(public, theta, given, spread)

    def _drawn(
        self,
        public: Sequence[Variable],
        theta: Theta,
        given: Columns,
        spread: Callable[[Conditional, Mapping[str, Codes]], Floats],
    ) -> Columns:
        groups = {each.name: self.grouped[each.name].read(given) for each in public}
        values: Columns = {}
        for term in self.terms:
            codes, within = term.at(spread(term, groups), theta, groups)
            groups[term.name] = term.own.groups[codes]
            values |= term.own.variable.values(codes, within)
        return values


def _checked_groups(
    variables: Mapping[str, Variable], groups: Mapping[str, Sequence[int]]
) -> dict[str, tuple[int, ...]]:
    """Return the groups, unless they are none of these columns' codes."""
    checked = {}
    for name, each in groups.items():
        # They may come from a published file, in which there can be anything.
        fits = name in variables and isinstance(each, list | tuple)
        fits = fits and len(each) == variables[name].count and all(type(g) is int for g in each)
        if not fits or sorted(set(each)) != list(range(len(set(each)))):
            raise BadInput(f"the groups of '{name}' are not groups of its codes.")
        checked[name] = tuple(each)
    return checked


def _checked_parents(
    schema: Schema, order: tuple[str, ...], parents: Mapping[str, Sequence[str]] | None
) -> dict[str, tuple[str, ...]]:
    """Return the parents of each column, unless one of them comes after it."""
    before, checked = [column.name for column in schema.public], {}
    for name in order:
        own = before if parents is None else parents.get(name, ())
        fits = isinstance(own, list | tuple) and all(each in before for each in own)
        if not fits or len(set(own)) < len(own):
            raise BadInput(f"the parents of '{name}' are not columns before it.")
        checked[name] = tuple(own)
        before.append(name)
    if parents is not None and not parents.keys() <= set(order):
        raise BadInput("parents are given of a column that is not confidential.")
    return checked


def _in_order(
    schema: Schema, variables: Mapping[str, Variable], order: Sequence[str] | None
) -> tuple[str, ...]:
    names = [column.name for column in schema.confidential]
    if order is None:
        return tuple(
            sorted(names, key=lambda n: (variables[n].edges is not None, variables[n].count))
        )
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
    return tuple(order)
