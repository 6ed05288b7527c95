"""The rounds of a summary: what is measured, in which order, given what was published before."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from understudy._jax import jnp
from understudy.domain.skeleton import in_order
from understudy.domain.tables import Columns, count_records
from understudy.inference import margins
from understudy.inference.allowance import Allowance, together
from understudy.inference.cells import Pair, coarse
from understudy.inference.columns import Fitted
from understudy.inference.contribution import Contribution, TableContribution
from understudy.inference.directions import choose_scores
from understudy.inference.evidence import Evidence
from understudy.inference.grouping import cells_of, grouped, public_groups, shares_of_codes
from understudy.inference.measurement import Measurement
from understudy.inference.mode import find_mode
from understudy.inference.moments import Population
from understudy.inference.noisy_tables import tables_of
from understudy.inference.posterior import RECORDS, on_grid
from understudy.inference.start import middle_of_prior, starting_point
from understudy.inference.tables import (
    TablePlan,
    one_way,
    paired,
    table_plan,
    two_way,
    variables_of,
    worth_pairing,
)
from understudy.inference.whole import Whole
from understudy.mechanisms.choosing import Choice, choose
from understudy.mechanisms.noise import with_noise
from understudy.mechanisms.request import Request
from understudy.models.base import Model
from understudy.samplers.proposals import prior_centre
from understudy.support.progress import stage


@dataclass(frozen=True, eq=False)
class Rounds:
    """What was measured, of whom, and where a fit may begin."""

    population: Population
    evidence: tuple[Measurement, ...]
    """What θ is inferred from."""
    near: np.ndarray | None
    """Where the last round was measured."""
    far: np.ndarray
    """Where a fit may begin if that leads nowhere."""
    margins: tuple[Measurement, ...] = ()
    """How public columns are weighted, where they are."""
    choices: tuple[Choice, ...] = ()
    """Which pairs were chosen, each before the measurement that followed from it."""

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """All that was measured, in order."""
        return (*self.margins, *self.evidence)

    @property
    def published(self) -> tuple[Measurement | Choice, ...]:
        """The same, with what was chosen in between."""
        if not self.choices:
            return self.measurements
        rest = zip(self.choices, self.evidence[1:], strict=True)
        return (*self.margins, self.evidence[0], *(each for pair in rest for each in pair))


def measure(
    request: Request, shares: Sequence[Allowance], anchor: Mapping[str, Any] | None
) -> Rounds:
    """Measure round by round, as it suits the model."""
    assert request.model is not None
    request, before = _with_margins(request, shares[0])
    by_tables = request.model.by_tables  # type: ignore[union-attr]
    rounds = (measure_tables if by_tables else measure_scores)(
        request, shares[len(before) :], anchor
    )
    return replace(rounds, margins=before)


def _with_margins(request: Request, share: Allowance) -> tuple[Request, tuple[Measurement, ...]]:
    """Measure how public columns are weighted, where they are, and let rows stand for all people.

    Returns the request with such public rows, and what was measured.
    """
    skeleton, model = request.skeleton, request.model
    assert model is not None
    if not margins.needed(request.schema):
        return request, ()
    public = in_order(skeleton.public)
    contribution = margins.margins(model, public, share.norm)
    measured = _measured(request, contribution, share, "Margins")
    rows = margins.as_population(measured, public, request.source.generator())
    standing = replace(skeleton, public=rows, copied=False)
    return replace(request, skeleton=standing), (measured,)


def measure_scores(
    request: Request, shares: Sequence[Allowance], anchor: Mapping[str, Any] | None
) -> Rounds:
    """Measure a coarse table of each outcome, then scores at the θ₀ that it points to."""
    model = request.model
    assert model is not None
    population, source = population_of(request), request.source
    evidence = Evidence(population, ())
    if anchor is None:
        share, columns = shares[0], request.schema.confidential
        rows = population.size / population.most
        information = share.information(rows, among=len(columns))
        tables = tuple(coarse(c, information) for c in columns)
        contribution = TableContribution(model, tables, norm=share.norm)
        table = _measured(request, contribution, share, "Table")
        evidence = Evidence(population, (table,))
        far = starting_point(evidence, source)
        mode = find_mode(evidence, far, source, records=RECORDS)
        point, precision = mode.point, mode.precision
    else:
        far = middle_of_prior(evidence)
        point = evidence.with_size(_at(model, anchor))
        precision = evidence.prior(point)[2]
    z = on_grid(evidence.position(point))
    known = np.linalg.inv(np.linalg.inv(precision)[: len(z), : len(z)])
    scores = choose_scores(
        population,
        z,
        known,
        source,
        allowance=shares[-1],
        records=RECORDS,
        counted=not (evidence.measurements or population.known),
    )
    last = _measured(request, scores, shares[-1], "Scores")
    return Rounds(population, (*evidence.measurements, last), point, far)


def measure_tables(
    request: Request, shares: Sequence[Allowance], anchor: Mapping[str, Any] | None
) -> Rounds:
    """Measure a table of each column, then of pairs over groups that these made public.

    A whole table is measured from the beginning: an anchor has nothing to say here.
    """
    model, schema = request.model, request.schema
    assert model is not None
    population, norm = population_of(request), shares[0].norm
    size = population.size / population.most
    plan = table_plan(model, together(shares), size)
    variables = variables_of(schema)
    own = [variables[column.name] for column in schema.confidential]
    first = _measured(request, one_way(model, own, norm), shares[0], "Tables")
    single = tables_of((first,)).single
    coded = {name: shares_of_codes(variables[name], table) for name, table in single.items()}
    groups = {name: grouped(variables[name], coded[name], plan.groups) for name in coded}
    for column in schema.public:
        groups[column.name] = public_groups(variables[column.name], population.public, plan.groups)
    cells = {name: cells_of(variables[name], each) for name, each in groups.items()}
    counts: dict[str, np.ndarray] = {n: np.bincount(groups[n], coded[n]) for n in coded}
    possible = tuple(Pair(cells[a], cells[b]) for a, b in paired(schema))
    far, measured = np.zeros(0), tuple[Measurement, ...]((first,))
    if model.in_turn is None:
        if possible:
            measured += (_measured(request, two_way(model, possible, norm), shares[1], "Pairs"),)
        far = Evidence(population, ()).with_size(prior_centre(model))
        return Rounds(population, measured, None, far)
    if plan.picks:
        return _measure_chosen(request, shares, plan, _Known(population, first, groups, possible))
    if possible:
        for column in schema.public:
            counts[column.name] = np.bincount(cells[column.name].codes(population.public))
        worth = worth_pairing(counts, possible, shares[1], size)
        kept = [p for p in possible if p.one.column.name in worth and p.other.column.name in worth]
        kept = kept or list(possible)
        measured += (_measured(request, two_way(model, kept, norm), shares[1], "Pairs"),)
    return Rounds(_refined(population, groups, measured), measured, None, far)


def _refined(
    population: Population, groups: Mapping[str, np.ndarray], measured: Sequence[Measurement]
) -> Population:
    """Return the population whose model has these groups, and effects of the pairs measured."""
    pairs = {frozenset(names) for names in tables_of(measured).pairs}
    model = population.model
    refined = model.in_turn.refined(groups, pairs).model()
    # What was declared beside the model, units and weights, goes on.
    return replace(population, model=replace(refined, as_declared=model.as_declared))


class _Known(NamedTuple):
    """What tables of single columns made public."""

    population: Population
    first: Measurement
    groups: Mapping[str, np.ndarray]
    pairs: Sequence[Pair]


def _measure_chosen(
    request: Request, shares: Sequence[Allowance], plan: TablePlan, known: _Known
) -> Rounds:
    """Measure pairs that are chosen in rounds, by how badly what is known explains them."""
    population, groups = known.population, known.groups
    norm, model = shares[0].norm, population.model
    left = {(p.one.column.name, p.other.column.name): p for p in known.pairs}
    measured: tuple[Measurement, ...] = (known.first,)
    choices = []
    for turn, count in enumerate(plan.picks):
        choosing, own = shares[1 + 2 * turn], shares[2 + 2 * turn]
        so_far = Whole(_refined(population, groups, measured), measured)
        fitted = so_far.estimated(request.source.generator())
        with stage(request.progress, "Choosing"):
            scores, sensitivity = _scores(request, left, fitted, own, picks=count)
            choice = choose(
                list(left),
                scores,
                min(count, len(left)),
                sensitivity=sensitivity,
                allowance=choosing,
                source=request.source,
            )
        choices.append(choice)
        picked = [left.pop(pair) for pair in choice.pairs]
        measured += (_measured(request, two_way(model, picked, norm), own, "Pairs"),)
    return Rounds(
        _refined(population, groups, measured), measured, None, np.zeros(0), choices=tuple(choices)
    )


def _scores(
    request: Request,
    pairs: Mapping[tuple[str, str], Pair],
    fitted: Fitted,
    allowance: Allowance,
    *,
    picks: int,
) -> tuple[np.ndarray, int]:
    """Return how badly each pair is explained, in whole units, and what a record can change."""
    model = request.model
    assert model is not None
    scores, sensitivity = [], 0
    rows = len(next(iter(fitted.codes.values())))
    own = [TableContribution(model, (pair,), norm=1) for pair in pairs.values()]
    totals = request.records.total(partial(_joined, own))
    ends = np.cumsum([alone.width for alone in own])
    parts = zip(pairs.items(), own, np.split(totals, ends[:-1]), strict=True)
    for ((one, other), pair), alone, true in parts:
        units = alone.units
        cell = fitted.groups[one] * pair.other.count + fitted.groups[other]
        expected = fitted.size / rows * np.bincount(cell, minlength=pair.count)
        # Other pairs that are picked are taken to be as large as this one.
        bound = float(picks) ** (1 / allowance.norm)
        noise = pair.count * bound / allowance.rate
        error = np.abs(true - np.rint(expected * units).astype(np.int64)).sum()
        scores.append(int(error) - round(noise * float(units[0])))
        sensitivity = max(sensitivity, math.ceil(alone.bound))
    return np.array(scores, dtype=np.int64), sensitivity


def _joined(contributions: Sequence[Contribution], columns: Columns) -> np.ndarray:
    """Return several sums, one after the other."""
    return np.concatenate([each.total(columns) for each in contributions])


def _at(model: Model, theta: Mapping[str, Any]) -> np.ndarray:
    """Return the unconstrained coordinates of θ."""
    return np.asarray(model.unconstrain({name: jnp.asarray(v) for name, v in theta.items()}))


def population_of(request: Request) -> Population:
    """Return whom the records are drawn from, as far as that is public."""
    assert request.model is not None
    skeleton = request.skeleton
    size = count_records(skeleton.public) if skeleton.copied else request.size
    return Population(request.model, in_order(skeleton.public), size, skeleton.copied)


def _measured(
    request: Request, contribution: Contribution, allowance: Allowance, name: str
) -> Measurement:
    """Sum over the confidential table and add noise: the only place that sees it."""
    with stage(request.progress, name):
        true, source = request.records.total(contribution.total), request.source
        if contribution.norm != allowance.norm:
            raise ValueError("noise that does not fit the norm by which contributions are bounded")
        noisy, noise = with_noise(
            true, sensitivity=contribution.bound, allowance=allowance, source=source
        )
    return Measurement(contribution, noisy, noise, allowance.epsilon, allowance.rho)
