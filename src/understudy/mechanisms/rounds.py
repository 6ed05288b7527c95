"""The rounds of a summary: what is measured, in which order, given what was published before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from understudy._jax import jnp
from understudy.domain.skeleton import count_records
from understudy.inference import margins
from understudy.inference.cells import Cells, Pair, coarse
from understudy.inference.contribution import Contribution, TableContribution
from understudy.inference.directions import choose_scores
from understudy.inference.evidence import Evidence
from understudy.inference.measurement import Measurement, Noise
from understudy.inference.mode import find_mode
from understudy.inference.moments import Population
from understudy.inference.posterior import RECORDS
from understudy.inference.start import starting_point
from understudy.inference.tables import group_count, grouped, one_way, pairs, standing_for, weighted
from understudy.mechanisms.noise import with_laplace
from understudy.mechanisms.request import Request
from understudy.models.base import Model
from understudy.samplers.proposals import prior_centre
from understudy.support.progress import stage


@dataclass(frozen=True, eq=False)
class Rounds:
    """What was measured, and where a fit may begin."""

    measurements: tuple[Measurement, ...]
    near: np.ndarray | None
    """Where the last round was measured."""
    far: np.ndarray
    """The prior's centre."""


def measure_margins(
    request: Request, shares: Sequence[float]
) -> tuple[Request, tuple[Measurement, ...], Sequence[float]]:
    """Measure how public columns are weighted, where they are, and let rows stand for all people.

    Returns the request with such public rows, what was measured, and ε of the rounds that are left.
    """
    skeleton, model = request.skeleton, request.model
    assert model is not None
    if not margins.needed(request.schema):
        return request, (), shares
    measured = _measured(request, margins.margins(model, skeleton.public), shares[0], "Margins")
    rows = margins.as_population(measured, skeleton.public, request.source.generator())
    standing = replace(skeleton, public=rows, copied=False)
    return replace(request, skeleton=standing), (measured,), shares[1:]


def measure_scores(
    request: Request, shares: Sequence[float], anchor: Mapping[str, Any] | None
) -> Rounds:
    """Measure a coarse table of each outcome, then scores at the θ₀ that it points to."""
    model = request.model
    assert model is not None
    population, source = population_of(request), request.source
    evidence = Evidence(population, ())
    if anchor is None:
        share, columns = shares[0], request.schema.confidential
        information = share / len(columns) * population.size / population.most
        tables = tuple(coarse(column, information) for column in columns)
        table = _measured(request, TableContribution(model, tables), share, "Table")
        evidence = Evidence(population, (table,))
        mode = find_mode(evidence, starting_point(evidence, source), source, records=RECORDS)
        point, precision = mode.point, mode.precision
    else:
        point = evidence.with_size(_at(model, anchor))
        precision = evidence.prior(point)[1]
    z = np.asarray(model.round_to_grid(jnp.asarray(evidence.position(point))))
    known = np.linalg.inv(np.linalg.inv(precision)[: len(z), : len(z)])
    scores = choose_scores(
        population,
        z,
        known,
        source,
        epsilon=shares[-1],
        records=RECORDS,
        counted=not (evidence.measurements or population.known),
    )
    last = _measured(request, scores, shares[-1], "Scores")
    far = evidence.with_size(prior_centre(model))
    return Rounds((*evidence.measurements, last), point, far)


def measure_tables(
    request: Request, shares: Sequence[float], anchor: Mapping[str, Any] | None
) -> Rounds:
    """Measure a table of each column, then of pairs over groups that these made public."""
    model, schema = request.model, request.schema
    assert model is not None
    population = population_of(request)
    information = sum(shares) * population.size
    single, groups = one_way(schema, information), group_count(schema, information)
    measured: tuple[Measurement, ...] = ()
    tables: tuple[Cells | Pair, ...] = ()
    if anchor is None:
        first = _measured(request, weighted(model, single), shares[0], "Tables")
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
        measured = (*measured, _measured(request, weighted(model, tables), shares[-1], "Pairs"))
    far = Evidence(population, ()).with_size(prior_centre(model))
    return Rounds(measured, None, far)


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
    request: Request, contribution: Contribution, epsilon: float, name: str
) -> Measurement:
    """Sum over the confidential table and add noise: the only place that sees it."""
    with stage(request.progress, name):
        true, source = contribution.total(request.columns), request.source
        noisy, scale = with_laplace(
            true, sensitivity=contribution.bound, epsilon=epsilon, source=source
        )
    return Measurement(contribution, noisy, Noise(scale), epsilon)
