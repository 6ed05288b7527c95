"""The rounds of a summary: what is measured, in which order, given what was published before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from understudy._jax import jnp
from understudy.domain.skeleton import count_records
from understudy.inference import margins
from understudy.inference.allowance import Allowance, together
from understudy.inference.cells import Cells, Pair, coarse
from understudy.inference.contribution import Contribution, TableContribution
from understudy.inference.directions import choose_scores
from understudy.inference.evidence import Evidence
from understudy.inference.measurement import Measurement
from understudy.inference.mode import find_mode
from understudy.inference.moments import Population
from understudy.inference.posterior import RECORDS, on_grid
from understudy.inference.start import middle_of_prior, starting_point
from understudy.inference.tables import group_count, grouped, one_way, pairs, standing_for, weighted
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

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """All that was measured, in order."""
        return (*self.margins, *self.evidence)


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
    contribution = margins.margins(model, skeleton.public, share.norm)
    measured = _measured(request, contribution, share, "Margins")
    rows = margins.as_population(measured, skeleton.public, request.source.generator())
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
    """Measure a table of each column, then of pairs over groups that these made public."""
    model, schema = request.model, request.schema
    assert model is not None
    population = population_of(request)
    whole, norm = together(shares), shares[0].norm
    size = population.size / population.most
    single, groups = one_way(schema, whole, size), group_count(schema, whole, size)
    measured: tuple[Measurement, ...] = ()
    tables: tuple[Cells | Pair, ...] = ()
    if anchor is None:
        first = _measured(request, weighted(model, single, norm), shares[0], "Tables")
        starts = np.cumsum([0, *(cells.count for cells in single)])
        counts = np.split(first.values, starts[1:-1])
        known = {
            cells.column.name: standing_for(cells, each)
            for cells, each in zip(single, counts, strict=True)
            if cells.column.numeric
        }
        measured = (first,)
    else:
        simulated = population.simulate(_at(model, anchor), request.source, RECORDS)
        known, tables = simulated.columns, single
    known = {**known, **population.public}
    cells = {
        column.name: grouped(column, known.get(column.name, np.empty(0)), groups)
        for column in (*schema.confidential, *schema.public)
    }
    tables = (*tables, *pairs(schema, cells))
    if tables:
        last = weighted(model, tables, norm)
        measured = (*measured, _measured(request, last, shares[-1], "Pairs"))
    far = Evidence(population, ()).with_size(prior_centre(model))
    return Rounds(population, measured, None, far)


def _at(model: Model, theta: Mapping[str, Any]) -> np.ndarray:
    """Return the unconstrained coordinates of θ."""
    return np.asarray(model.unconstrain({name: jnp.asarray(v) for name, v in theta.items()}))


def population_of(request: Request) -> Population:
    """Return whom the records are drawn from, as far as that is public."""
    assert request.model is not None
    skeleton = request.skeleton
    size = count_records(skeleton.public) if skeleton.copied else request.size
    return Population(request.model, skeleton.public, size, skeleton.copied)


def _measured(
    request: Request, contribution: Contribution, allowance: Allowance, name: str
) -> Measurement:
    """Sum over the confidential table and add noise: the only place that sees it."""
    with stage(request.progress, name):
        true, source = contribution.total(request.columns), request.source
        if contribution.norm != allowance.norm:
            raise ValueError("noise that does not fit the norm by which contributions are bounded")
        noisy, noise = with_noise(
            true, sensitivity=contribution.bound, allowance=allowance, source=source
        )
    return Measurement(contribution, noisy, noise, allowance.epsilon, allowance.rho)
