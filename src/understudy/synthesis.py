"""From a model, a table and a mechanism to a release.

    encode the table -> price -> charge the ledger -> draw θ (`drawing.py`)
        -> simulate from θ (`simulation.py`) -> Release

Everything after the draw of θ is post-processing: rows are simulated from the published θ and from
public predictors, and need no confidential value.
"""

from __future__ import annotations

import math
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy import __version__
from understudy.assumptions import Circumstances, assumptions
from understudy.charging import Charge, charged
from understudy.drawing import Drawn, Job, prepare_draw, resolve_sampler
from understudy.errors import BadInput, Refused
from understudy.guarantee import Guarantee
from understudy.identifiers import refuse_repeated_ids
from understudy.mechanisms import Anchored, Mechanism, PerturbedHistogram
from understudy.obedience import check_obeyable
from understudy.predictors import plan_predictors, with_public_size
from understudy.pricing import Price, price
from understudy.progress import Progress, silent, stage
from understudy.randomness import Source
from understudy.release import Release
from understudy.rules import check_table
from understudy.schema import Role, Schema
from understudy.simulation import check_theta, simulate
from understudy.tables import decode, encode, fingerprint, read

if TYPE_CHECKING:
    import pandas as pd

    from understudy.models.base import Model
    from understudy.tables import Columns

LARGEST_TABLES = 100


def synthesize(
    model: Model | Schema,
    table: pd.DataFrame | str | Path,
    mechanism: Mechanism,
    *,
    rows: int | None = None,
    tables: int = 1,
    predictors: pd.DataFrame | str | Path | None = None,
    sampler: str = "auto",
    ledger: str | Path | None = None,
    label: str = "release",
    seed: int | None = None,
    accept_poor_mixing: bool = False,
    progress: Progress = silent,
) -> Release:
    """Synthesise a table and say exactly what is guaranteed about it.

    `model` may be a bare schema for the perturbed histogram, which needs no model. Each of the
    `tables` takes a draw of its own and costs its own ε. `predictors` are public rows for the
    synthetic table; without them, public columns are copied from the table. A `ledger` is charged
    before anything is drawn, and told when the release is written.
    """
    started = time.monotonic()
    if isinstance(tables, bool) or not isinstance(tables, int) or not 1 <= tables <= LARGEST_TABLES:
        raise BadInput(f"tables must be a number from 1 to {LARGEST_TABLES}, not {tables!r}.")
    schema, built = (model, None) if isinstance(model, Schema) else (model.schema, model)
    if isinstance(mechanism, PerturbedHistogram):
        built = None
    if built is not None:
        from understudy.models.declared import as_declared

        built = as_declared(built)
    chosen = resolve_sampler(sampler, mechanism, built)
    if accept_poor_mixing and chosen != "nuts":
        raise BadInput(f"{mechanism.name} draws no chains here: leave out --accept-poor-mixing.")
    if isinstance(mechanism, Anchored) and mechanism.anchor is not None and built is not None:
        check_theta(dict(mechanism.anchor), built)
    source = Source(seed)
    with stage(progress, "Reading"):
        frame, called = _frame(table), _name(table, "the table")
        columns = encode(frame, schema, name=called)
        refuse_repeated_ids(frame, schema, name=called)
        check_table(schema.rules, columns, name=called)
        separate = None
        if predictors is not None:
            name = _name(predictors, "the predictors")
            separate = encode(_frame(predictors), schema, roles=(Role.PUBLIC,), name=name)
    reference = getattr(mechanism, "reference", None)
    if reference is not None and reference.fingerprint == fingerprint(columns):
        raise Refused(
            "the reference is the confidential table itself, so what is learned from it is "
            "learned from the table: use another one."
        )
    plan = plan_predictors(schema, columns, mechanism.adjacency, rows=rows, separate=separate)
    check_obeyable(schema, plan.public)
    size = 0
    if isinstance(mechanism, Anchored):
        plan, size = with_public_size(plan, schema, columns, mechanism.adjacency)
    job = Job(
        model=built,
        schema=schema,
        columns=columns,
        mechanism=mechanism,
        predictors=plan,
        size=size,
        source=source,
        count=tables,
        sampler=chosen,
        accept_poor_mixing=accept_poor_mixing,
        progress=progress,
    )
    draw, bounds = prepare_draw(job)
    cost = price(mechanism, draws=tables, bounds=bounds)
    charge = charged(
        ledger,
        cost,
        label=label,
        details={
            "schema_digest": schema.digest,
            "membership_protected": plan.membership,
            **({} if schema.unit is None else {"unit": schema.unit.name}),
        },
        seeded=source.seeded,
        waived=accept_poor_mixing,
    )
    drawn = draw()
    published = [_published(theta, drawn.spec, job) for theta in drawn.thetas]
    repaired: list[int] = []
    with stage(progress, "Simulating"):
        synthetic = [
            simulate(contents, plan, source, model=built, repaired=repaired.append)
            for contents in published
        ]
    if schema.rules:
        drawn.diagnostics["repaired_rows"] = repaired
    return _release(
        title=schema.confidential[0].name if built is None else built.title,
        schema=schema,
        columns=columns,
        guarantee=_guarantee(job, drawn, cost, charge),
        drawn=drawn,
        published=published,
        synthetic=synthetic,
        charge=charge,
        started=started,
    )


def _published(theta: dict[str, Any], spec: dict[str, Any], job: Job) -> dict[str, Any]:
    """Return the contents of `parameters.json`: what simulating, or anchoring at it, takes."""
    return {
        "parameters": theta,
        "model": spec,
        "schema": job.schema.to_dict(),
        "schema_digest": job.schema.digest,
        "mechanism": job.mechanism.name,
        "kind": str(job.mechanism.kind),
        "convergence_waived": job.accept_poor_mixing,
        "seeded": job.source.seeded,
        "understudy": __version__,
    }


def _guarantee(job: Job, drawn: Drawn, cost: Price | None, charge: Charge | None) -> Guarantee:
    mechanism, plan = job.mechanism, job.predictors
    unit = None if job.schema.unit is None else job.schema.unit.name
    weight = job.schema.survey_weight
    asked = Circumstances(
        mechanism=mechanism,
        draws=job.count,
        sampler=job.sampler,
        copied_predictors=plan.copied,
        separate_predictors=bool(plan.public) and not plan.copied,
        true_size=plan.true_size,
        poor_mixing_accepted=job.accept_poor_mixing,
        seeded=job.source.seeded,
        unit=unit,
        row_is_unit=job.schema.row_is_unit,
        survey_weight=None if weight is None else weight.name,
    )
    return Guarantee(
        mechanism=mechanism.name,
        kind=mechanism.kind,
        asked=mechanism.adjacency,
        epsilon=None if cost is None else {a: each.epsilon for a, each in cost.items()},
        rho=None if cost is None else {a: each.rho for a, each in cost.items()},
        draws=job.count,
        stages=drawn.stages,
        weights=mechanism.weights,
        sampler=job.sampler,
        assumptions=assumptions(asked),
        seeded=job.source.seeded,
        rows=plan.rows,
        membership=plan.membership,
        waived=job.accept_poor_mixing,
        charged=None if charge is None else charge.reference,
        unit=unit,
    )


def _release(
    *,
    title: str,
    schema: Schema,
    columns: Columns,
    guarantee: Guarantee,
    drawn: Drawn,
    published: list[dict[str, Any]],
    synthetic: list[pd.DataFrame],
    charge: Charge | None,
    started: float,
) -> Release:
    from understudy.report.page import Page
    from understudy.report.sections import outcome
    from understudy.utility import as_population, compare, measure_pairs

    sample = decode(columns, schema)
    weighed = as_population(columns, schema)
    confidential = sample if weighed is columns else decode(weighed, schema)
    units = None if schema.unit is None else columns[schema.unit.name]
    against = outcome(schema, sample, units)
    utility = compare(confidential, synthetic[0], schema)
    diagnostics = _finite_numbers(
        {
            **drawn.diagnostics,
            "n": len(against[1]),
            "rows": len(sample),
            "seconds": time.monotonic() - started,
            "utility": {name: measured.to_dict() for name, measured in utility.items()},
        }
    )
    page = partial(
        Page,
        title=title,
        guarantee=guarantee,
        schema=schema,
        confidential=confidential,
        synthetic=synthetic[0],
        utility=utility,
        diagnostics=diagnostics,
        alpha=drawn.alpha,
        largest_score=drawn.largest_score,
        bound=drawn.bound,
        outcome=against,
        rows=len(sample),
    )
    compared = schema.having(Role.CONFIDENTIAL, Role.PUBLIC)
    return Release(
        guarantee=guarantee,
        tables=tuple(synthetic),
        parameters=tuple(published),
        diagnostics=diagnostics,
        report=lambda: page(pairs=measure_pairs(confidential, synthetic[0], compared)).render(),
        charge=charge,
    )


def _frame(table: pd.DataFrame | str | Path) -> pd.DataFrame:
    return read(table) if isinstance(table, str | Path) else table


def _name(table: pd.DataFrame | str | Path, otherwise: str) -> str:
    """Return what sentences call a table: its file, or else its part in the work."""
    return str(table) if isinstance(table, str | Path) else otherwise


def _finite_numbers(value: Any) -> Any:
    """Replace numbers that JSON cannot hold by null."""
    if isinstance(value, dict):
        return {key: _finite_numbers(entry) for key, entry in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
