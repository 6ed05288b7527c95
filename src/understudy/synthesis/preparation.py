"""Everything that can be checked, read and settled before anything is charged or drawn."""

from __future__ import annotations

import time
from dataclasses import replace

from understudy._jax import jnp
from understudy.domain.frames import Tabular, frame_of, name_of
from understudy.domain.reading import MEMORY, Reading
from understudy.domain.records import Records
from understudy.domain.satisfying import check_satisfiable
from understudy.domain.schema import Role, Schema
from understudy.domain.skeleton import skeleton_for, with_public_size
from understudy.domain.tables import Columns, encode
from understudy.errors import BadInput, Refused
from understudy.mechanisms import Mechanism
from understudy.mechanisms.base import check_balanced
from understudy.mechanisms.registry import resolve_sampler
from understudy.mechanisms.request import Request
from understudy.models.base import Model
from understudy.models.record.declared import as_declared
from understudy.privacy.assumptions import CALIBRATED_ON
from understudy.support.progress import Progress, silent, stage
from understudy.support.randomness import Source

LARGEST_TABLES = 100
TIMES = 10
"""Rows of a table, over the size, where analyses of several are to be combined: the chance of the
rows is then a tenth of what the table leaves open, and can be subtracted from it."""


def prepare(
    model: Model | Schema,
    table: Tabular,
    mechanism: Mechanism,
    *,
    rows: int | None = None,
    tables: int = 1,
    balanced: bool = False,
    predictors: Tabular | None = None,
    sampler: str = "auto",
    seed: int | None = None,
    accept_poor_mixing: bool = False,
    calibrated_on: str | None = None,
    period: str | None = None,
    memory: int | str = MEMORY,
    scheduler: str | None = None,
    progress: Progress = silent,
) -> Request:
    """Check everything that can be checked, and return what was asked for as one value."""
    started = time.monotonic()
    check_given(model, mechanism)
    if isinstance(tables, bool) or not isinstance(tables, int) or not 1 <= tables <= LARGEST_TABLES:
        raise BadInput(f"`tables` must be a number from 1 to {LARGEST_TABLES}, not {tables!r}.")
    if calibrated_on is not None and calibrated_on not in CALIBRATED_ON:
        raise BadInput(f"`calibrated_on` must be public or confidential, not {calibrated_on!r}.")
    schema, built = (model, None) if isinstance(model, Schema) else (model.schema, model)
    built = _declared(built) if mechanism.needs_model and built is not None else None
    check_balanced(balanced, schema, built)
    chosen = resolve_sampler(sampler, mechanism, built)
    if accept_poor_mixing and chosen != "nuts":
        raise BadInput(
            f"leave out `accept_poor_mixing`: it is about Markov chains that have not converged, "
            f"and this release by {mechanism.name} draws none."
        )
    source, reading = Source(seed), Reading.within(memory, scheduler)
    with stage(progress, "Reading"):
        if scheduler is not None:
            reading.check_workers(built)
        reason = _needs_all(schema, mechanism)
        records = reading.records(table, schema, reason=reason, seed=seed)
        separate = None if predictors is None else public_rows(predictors, schema)
        if separate is None:
            reading.check_public(records, schema)
    _refuse_own_reference(mechanism, records, schema)
    combined = to_be_combined(mechanism, schema, tables=tables, balanced=balanced)
    times = TIMES if combined else 1
    skeleton = replace(
        skeleton_for(
            schema, records, mechanism.adjacency, rows=rows, separate=separate, times=times
        ),
        reweighted=combined,
    )
    check_satisfiable(schema, skeleton.public)
    if built is not None and built.check_public is not None and skeleton.public:
        built.check_public(skeleton.public)
    size = 0
    if mechanism.needs_size:
        skeleton, size = with_public_size(skeleton, schema, records, mechanism.adjacency)
    return Request(
        mechanism=mechanism,
        model=built,
        schema=schema,
        records=records,
        skeleton=skeleton,
        size=size,
        sampler=chosen,
        tables=tables,
        balanced=balanced,
        source=source,
        accept_poor_mixing=accept_poor_mixing,
        calibrated_on=calibrated_on,
        period=period,
        memory=reading.memory,
        progress=progress,
        started=started,
    )


def _needs_all(schema: Schema, mechanism: Mechanism) -> str | None:
    """Return why all of a table is needed at once; None where it can be streamed."""
    if not mechanism.by_sums:
        return f"{mechanism.name} needs all of it at once, unlike summary"
    if schema.unit is not None:
        return f"the rows of each {schema.unit.name!r} have to be brought together"
    return None


def to_be_combined(mechanism: Mechanism, schema: Schema, *, tables: int, balanced: bool) -> bool:
    """Whether several tables cost what one does, and are drawn for analyses to be combined."""
    several = tables > 1 and not balanced and mechanism.measures_once
    return several and mechanism.no_combining(schema) is None


def check_given(model: object, mechanism: object) -> None:
    """Refuse what is no model or no mechanism, such as the name of one."""
    # Only their types are told: in the wrong order, one of them is the confidential table.
    if not isinstance(model, Model | Schema):
        kind = type(model).__name__
        raise BadInput(f"`model` must be a model such as beta(schema), or a schema, not a {kind}.")
    if not isinstance(mechanism, Mechanism):
        kind = type(mechanism).__name__
        raise BadInput(f"`mechanism` must be one such as Summary(epsilon=1.0), not a {kind}.")


def _declared(model: Model) -> Model:
    """Return the model as the schema declares it, in the precision that a guarantee needs."""
    if jnp.result_type(float) != jnp.float64:
        raise BadInput(
            "JAX was set to single precision, whose error no guarantee allows for: leave the "
            "setting jax_enable_x64 as understudy makes it."
        )
    return as_declared(model)


def public_rows(predictors: Tabular, schema: Schema) -> Columns:
    """Read predictors for the synthetic rows."""
    name = name_of(predictors, "the predictors")
    return encode(frame_of(predictors), schema, roles=(Role.PUBLIC,), name=name)


def _refuse_own_reference(mechanism: Mechanism, records: Records, schema: Schema) -> None:
    for reference in mechanism.references:
        known = reference.fingerprint
        if known is not None and known.fits(records, schema):
            raise Refused(
                "the reference is the confidential table itself, so what is learned from it is "
                "learned from the table: use another one."
            )
