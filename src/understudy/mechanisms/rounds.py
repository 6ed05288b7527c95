"""The rounds of a summary: what is measured, in which order, given what was published before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from understudy.domain.skeleton import in_order
from understudy.inference import margins
from understudy.inference.allowance import Allowance
from understudy.inference.cells import coarse
from understudy.inference.contribution import TableContribution
from understudy.inference.directions import choose_scores
from understudy.inference.evidence import Evidence
from understudy.inference.measurement import Measurement
from understudy.inference.mode import RECORDS, find_mode
from understudy.inference.posterior import on_grid
from understudy.inference.start import middle_of_prior, starting_point
from understudy.mechanisms.one_round import Rounds, coordinates, measure_sum, population_of
from understudy.mechanisms.request import Request
from understudy.mechanisms.table_rounds import measure_tables


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
    measured = measure_sum(request, contribution, share, "Margins")
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
        table = measure_sum(request, contribution, share, "Table")
        evidence = Evidence(population, (table,))
        far = starting_point(evidence, source)
        mode = find_mode(evidence, far, source, records=RECORDS)
        point, precision = mode.point, mode.precision
    else:
        far = middle_of_prior(evidence)
        point = evidence.with_size(coordinates(model, anchor))
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
    last = measure_sum(request, scores, shares[-1], "Scores")
    return Rounds(population, (*evidence.measurements, last), point, far)
