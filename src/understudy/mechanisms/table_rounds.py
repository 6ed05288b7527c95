"""The rounds of a whole table: tables of single columns, then of pairs, or all at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from understudy._jax import jnp
from understudy.inference.allowance import Allowance, together
from understudy.inference.cells import Pair
from understudy.inference.evidence import Evidence
from understudy.inference.grouping import cells_of, grouped, public_groups, shares_of_codes
from understudy.inference.measurement import Measurement
from understudy.inference.moments import Population
from understudy.inference.noisy_tables import tables_of
from understudy.inference.tables import (
    TablePlan,
    paired,
    table_plan,
    variables_of,
    weighted,
    worth_pairing,
)
from understudy.inference.whole import Whole
from understudy.mechanisms.choosing import Choice, PairErrors, choose
from understudy.mechanisms.one_round import Rounds, coordinates, measure_sum, population_of
from understudy.mechanisms.published import place_of
from understudy.mechanisms.request import Request
from understudy.models.base import Model
from understudy.models.table.coding import variable
from understudy.models.table.variables import Variable
from understudy.samplers.proposals import prior_centre
from understudy.support.progress import stage
from understudy.support.randomness import Source

_SIMULATED = 2**16
"""Records at an anchor, from which groups are made."""


def measure_tables(
    request: Request, shares: Sequence[Allowance], anchor: Mapping[str, Any] | None
) -> Rounds:
    """Measure a table of each column, then of pairs over groups that these made public.

    With an anchor, groups are those of records simulated there, and all is measured at once.
    """
    model, population = request.model, population_of(request)
    assert model is not None
    plan = table_plan(model, together(shares), _rows(population))
    if anchor is not None:
        return _measure_at_once(request, shares[0], plan, place_of(anchor, model))
    variables, norm = variables_of(request.schema), shares[0].norm
    own = [variables[column.name] for column in request.schema.confidential]
    first = measure_sum(request, weighted(model, own, (), norm), shares[0], "Tables")
    single = tables_of((first,)).single
    coded = {name: shares_of_codes(variables[name], table) for name, table in single.items()}
    known = _Known.of(population, plan, coded)
    if plan.picks:
        return _measure_chosen(request, shares, plan, first, known)
    measured, kept = [first], known.worth_measuring(plan)
    if kept:
        pairs = weighted(model, (), kept, norm)
        measured.append(measure_sum(request, pairs, shares[1], "Pairs"))
    return known.rounds(measured)


def _rows(population: Population) -> float:
    """Return how many rows there are, as far as noise is concerned."""
    return population.size / population.most


def _measure_at_once(
    request: Request, share: Allowance, plan: TablePlan, place: tuple[Model, Mapping[str, Any]]
) -> Rounds:
    """Measure all tables in one round: groups are known from θ₀, and of many pairs which to take.

    Only where to look is taken from the anchor. What is measured there is this table's own.
    """
    model, population = request.model, population_of(request)
    assert model is not None
    own = [variable(column) for column in request.schema.confidential]
    known = _Known.of(population, plan, _shares_at(place, population, own, request.source))
    kept = known.paired_in(place[0]) if plan.picks else known.worth_measuring(plan)
    tables = weighted(model, own, kept, share.norm)
    return known.rounds([measure_sum(request, tables, share, "Tables")], place)


def _shares_at(
    place: tuple[Model, Mapping[str, Any]],
    population: Population,
    variables: Sequence[Variable],
    source: Source,
) -> dict[str, np.ndarray]:
    """Return how columns are distributed over their codes at θ₀, from simulated records."""
    model, public = place[0], population.public
    if public:
        available = len(next(iter(public.values())))
        chosen = source.generator().integers(available, size=_SIMULATED)
        public = {name: values[chosen] for name, values in public.items()}
    theta = {name: jnp.asarray(values) for name, values in place[1].items()}
    made = model.simulate(source.key(), theta, public, _SIMULATED)
    columns = model.schema.standing_alone({**public, **made})
    return {
        each.name: np.bincount(each.read(columns), minlength=each.count) / _SIMULATED
        for each in variables
    }


@dataclass(frozen=True, eq=False)
class _Known:
    """What is public of every column, before any pair of them is measured."""

    population: Population
    groups: Mapping[str, np.ndarray]
    """Of each column's codes."""
    pairs: tuple[Pair, ...]
    """All that could be measured."""
    counts: Mapping[str, np.ndarray]
    """How many records are in each group, or what share of them."""

    @classmethod
    def of(cls, population: Population, plan: TablePlan, coded: Mapping[str, np.ndarray]) -> _Known:
        """Return it, with groups of about equal mass.

        Args:
            population: Whom records are drawn from.
            plan: How many groups of a number there are to be.
            coded: How each confidential column is distributed over its codes.
        """
        schema = population.model.schema
        variables = variables_of(schema)
        groups = {n: grouped(variables[n], shares, plan.groups) for n, shares in coded.items()}
        counts = {name: np.bincount(groups[name], shares) for name, shares in coded.items()}
        for column in schema.public:
            own = public_groups(variables[column.name], population.public, plan.groups)
            codes = variables[column.name].read(population.public)
            groups[column.name], counts[column.name] = own, np.bincount(own[codes])
        cells = {name: cells_of(variables[name], each) for name, each in groups.items()}
        pairs = tuple(Pair(cells[one], cells[other]) for one, other in paired(schema))
        return cls(population, groups, pairs, counts)

    def worth_measuring(self, plan: TablePlan) -> Sequence[Pair]:
        """Return the pairs that there is something to learn about; all, if there are none."""
        if self.population.model.in_turn is None or not self.pairs:
            return self.pairs
        worth = worth_pairing(self.counts, self.pairs, plan.shares[1], _rows(self.population))
        return [p for p in self.pairs if _names(p) <= worth] or self.pairs

    def paired_in(self, model: Model) -> Sequence[Pair]:
        """Return the pairs of which one column is a parent of the other in a model."""
        parents = model.in_turn.structure.parents
        joined = {frozenset((name, each)) for name, above in parents.items() for each in above}
        return [pair for pair in self.pairs if _names(pair) in joined]

    def rounds(
        self,
        measured: Sequence[Measurement],
        place: tuple[Model, Mapping[str, Any]] | None = None,
        choices: Sequence[Choice] = (),
    ) -> Rounds:
        """Return what was measured, with the model that it is about."""
        if self.population.model.in_turn is not None:
            refined = self.refined(measured)
            return Rounds(refined, tuple(measured), None, np.zeros(0), choices=tuple(choices))
        evidence = Evidence(self.population, ())
        near = None if place is None else evidence.with_size(coordinates(*place))
        far = evidence.with_size(prior_centre(self.population.model))
        return Rounds(self.population, tuple(measured), near, far)

    def refined(self, measured: Sequence[Measurement]) -> Population:
        """Return the population whose model has these groups, and effects of what was measured."""
        pairs = {frozenset(names) for names in tables_of(measured).pairs}
        model = self.population.model
        refined = model.in_turn.refined(self.groups, pairs).model()
        # What was declared beside the model, units and weights, goes on.
        return replace(self.population, model=replace(refined, as_declared=model.as_declared))


def _names(pair: Pair) -> frozenset[str]:
    return frozenset((pair.one.column.name, pair.other.column.name))


def _measure_chosen(
    request: Request,
    shares: Sequence[Allowance],
    plan: TablePlan,
    first: Measurement,
    known: _Known,
) -> Rounds:
    """Measure pairs that are chosen in rounds, by how badly what is known explains them."""
    norm, model = shares[0].norm, known.population.model
    left = {(p.one.column.name, p.other.column.name): p for p in known.pairs}
    measured, choices = [first], []
    for turn, count in enumerate(plan.picks):
        choosing, own = shares[1 + 2 * turn], shares[2 + 2 * turn]
        so_far = Whole(known.refined(measured), tuple(measured))
        fitted = so_far.estimated(request.source.generator())
        with stage(request.progress, "Choosing"):
            # Other pairs that are picked are taken to be as large as each one.
            noise = float(count) ** (1 / norm) / own.rate
            pool = {name: each.astype(np.int32) for name, each in fitted.groups.items()}
            errors = PairErrors(model.schema, dict(left), pool, fitted.size, noise)
            choice = choose(
                errors,
                request.records.total(errors.counting),
                min(count, len(left)),
                allowance=choosing,
                source=request.source,
            )
        choices.append(choice)
        picked = [left.pop(pair) for pair in choice.pairs]
        measured.append(measure_sum(request, weighted(model, (), picked, norm), own, "Pairs"))
    return known.rounds(measured, choices=choices)
