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
from understudy.domain.column import writable
from understudy.domain.schema import Role, Schema
from understudy.domain.tables import decode, encode
from understudy.errors import BadInput
from understudy.ledger.statement import statement_of
from understudy.mechanisms import Mechanism
from understudy.mechanisms.drawing import Drawn, Job
from understudy.mechanisms.pricing import Price
from understudy.privacy.assumptions import CALIBRATED_ON, Circumstances, assumptions
from understudy.privacy.guarantee import Guarantee
from understudy.support.progress import Progress, silent, stage
from understudy.synthesis.charging import Account, Charge, charged
from understudy.synthesis.preparation import frame_of, name_of, prepare
from understudy.synthesis.release import Internal, Release
from understudy.synthesis.simulation import simulate

if TYPE_CHECKING:
    import pandas as pd

    from understudy.domain.tables import Columns
    from understudy.models.base import Model
    from understudy.report.drift import Earlier


def synthesize(
    model: Model | Schema,
    table: pd.DataFrame | str | Path,
    mechanism: Mechanism,
    *,
    rows: int | None = None,
    tables: int = 1,
    predictors: pd.DataFrame | str | Path | None = None,
    sampler: str = "auto",
    ledger: str | Path | Account | None = None,
    label: str = "release",
    period: str | None = None,
    earlier: tuple[str, pd.DataFrame | str | Path] | None = None,
    calibrated_on: str | None = None,
    destination: str | Path | None = None,
    seed: int | None = None,
    accept_poor_mixing: bool = False,
    progress: Progress = silent,
) -> Release:
    """Synthesise a table and say exactly what is guaranteed about it.

    `model` may be a bare schema for the perturbed histogram, which needs no model. Each of the
    `tables` takes a draw of its own and costs its own ε. `predictors` are public rows for the
    synthetic table; without them, public columns are copied from the table. A `ledger` is charged
    before anything is drawn, and told when the release is written. Of repeated releases, `period`
    is what time this one is about, and `earlier` the label and the synthetic table of the one
    before: the report shows what moved since. Where the settings were chosen on a reference table,
    `calibrated_on` says whether that was public or confidential, and so will the guarantee.
    `destination` is where the release will be written; the ledger keeps it, to name what a run that
    is killed leaves there.
    """
    if calibrated_on is not None and calibrated_on not in CALIBRATED_ON:
        raise BadInput(f"calibrated_on must be public or confidential, not {calibrated_on!r}.")
    started = time.monotonic()
    prepared = prepare(
        model,
        table,
        mechanism,
        rows=rows,
        tables=tables,
        predictors=predictors,
        sampler=sampler,
        seed=seed,
        accept_poor_mixing=accept_poor_mixing,
        progress=progress,
    )
    job, cost, plan = prepared.job, prepared.cost, prepared.job.predictors
    schema, built = job.schema, job.model
    before = None if earlier is None else _earlier(*earlier, schema)
    charge = charged(
        ledger,
        cost,
        label=label,
        details={"schema_digest": schema.digest, **_whereabouts(destination)},
        kind=job.kind,
        unit=None if schema.unit is None else schema.unit.name,
        membership=plan.membership,
        seeded=job.source.seeded,
        waived=accept_poor_mixing,
    )
    drawn = prepared.draw()
    published = [_published(theta, drawn.spec, job) for theta in drawn.thetas]
    repaired: list[int] = []
    with stage(progress, "Simulating"):
        synthetic = [
            simulate(contents, plan, job.source, model=built, repaired=repaired.append)
            for contents in published
        ]
    if schema.rules:
        drawn.diagnostics["repaired_rows"] = repaired
    return _release(
        title=schema.confidential[0].name if built is None else built.title,
        schema=schema,
        columns=job.columns,
        guarantee=_guarantee(job, drawn, cost, charge, period=period, calibrated_on=calibrated_on),
        drawn=drawn,
        published=published,
        synthetic=synthetic,
        charge=charge,
        earlier=before,
        started=started,
    )


def _whereabouts(destination: str | Path | None) -> dict[str, str]:
    """Return where a release will be written as the ledger keeps it, if that is a line of text."""
    text = "" if destination is None else str(Path(destination).absolute())
    return {"destination": text} if text and writable(text) else {}


def _earlier(label: str, table: pd.DataFrame | str | Path, schema: Schema) -> Earlier:
    """Return an earlier release as the report compares it, or refuse a table of another schema."""
    from understudy.report.drift import Earlier

    name = name_of(table, "the earlier release")
    coded = encode(frame_of(table), schema, roles=(Role.CONFIDENTIAL,), name=name)
    return Earlier(label, decode(coded, schema))


def _published(theta: dict[str, Any], spec: dict[str, Any], job: Job) -> dict[str, Any]:
    """Return the contents of `parameters.json`: what simulating, or anchoring at it, takes."""
    return {
        "parameters": theta,
        "model": spec,
        "schema": job.schema.to_dict(),
        "schema_digest": job.schema.digest,
        "mechanism": job.mechanism.name,
        "kind": str(job.kind),
        "convergence_waived": job.accept_poor_mixing,
        "seeded": job.source.seeded,
        "understudy": __version__,
    }


def _guarantee(
    job: Job,
    drawn: Drawn,
    cost: Price | None,
    charge: Charge | None,
    *,
    period: str | None,
    calibrated_on: str | None,
) -> Guarantee:
    mechanism, plan = job.mechanism, job.predictors
    unit = None if job.schema.unit is None else job.schema.unit.name
    weight = job.schema.survey_weight
    asked = Circumstances(
        mechanism=mechanism,
        kind=job.kind,
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
        calibrated_on=calibrated_on,
    )
    return Guarantee(
        mechanism=mechanism.name,
        kind=job.kind,
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
        period=period,
        population=None if charge is None else charge.ledger.settings.population or None,
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
    earlier: Earlier | None,
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
        earlier=earlier,
    )
    compared = schema.having(Role.CONFIDENTIAL, Role.PUBLIC)

    def report() -> str:
        year = None if charge is None else statement_of(charge.ledger, until=charge.entry)
        pairs = measure_pairs(confidential, synthetic[0], compared)
        return page(pairs=pairs, statement=year).render()

    return Release.of(
        guarantee,
        tuple(synthetic),
        tuple(published),
        internal=Internal(diagnostics, report, charge),
    )


def _finite_numbers(value: Any) -> Any:
    """Replace numbers that JSON cannot hold by null."""
    if isinstance(value, dict):
        return {key: _finite_numbers(entry) for key, entry in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
