"""Everything that can be checked, read and priced before anything is charged or drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.domain.identifiers import refuse_repeated_ids
from understudy.domain.rules import check_table
from understudy.domain.satisfying import check_satisfiable
from understudy.domain.schema import Role, Schema
from understudy.domain.skeleton import skeleton_for, with_public_size
from understudy.domain.tables import encode, read
from understudy.errors import BadInput, Refused
from understudy.mechanisms import Anchored, Mechanism, PerturbedHistogram
from understudy.mechanisms.drawing import Drawn, Job, prepare_draw, resolve_sampler
from understudy.mechanisms.pricing import Price
from understudy.support.confidential import Confidential
from understudy.support.progress import Progress, silent, stage
from understudy.support.randomness import Source
from understudy.synthesis.simulation import check_theta

if TYPE_CHECKING:
    import pandas as pd

    from understudy.models.base import Model

LARGEST_TABLES = 100


@dataclass(frozen=True, eq=False, repr=False)
class Prepared(Confidential):
    """A synthesis of which nothing has been drawn yet, and its price."""

    job: Job
    draw: Callable[[], Drawn]
    cost: Price | None


def prepare(
    model: Model | Schema,
    table: pd.DataFrame | str | Path,
    mechanism: Mechanism,
    *,
    rows: int | None = None,
    tables: int = 1,
    predictors: pd.DataFrame | str | Path | None = None,
    sampler: str = "auto",
    seed: int | None = None,
    accept_poor_mixing: bool = False,
    progress: Progress = silent,
) -> Prepared:
    """Check everything that can be checked before anything is charged or drawn."""
    if isinstance(tables, bool) or not isinstance(tables, int) or not 1 <= tables <= LARGEST_TABLES:
        raise BadInput(f"tables must be a number from 1 to {LARGEST_TABLES}, not {tables!r}.")
    schema, built = (model, None) if isinstance(model, Schema) else (model.schema, model)
    if isinstance(mechanism, PerturbedHistogram):
        built = None
    if built is not None:
        from understudy._jax import jnp
        from understudy.models.record.declared import as_declared

        if jnp.result_type(float) != jnp.float64:
            raise BadInput(
                "JAX was set to single precision, whose error no guarantee allows for: leave the "
                "setting jax_enable_x64 as understudy makes it."
            )
        built = as_declared(built)
    chosen = resolve_sampler(sampler, mechanism, built)
    if accept_poor_mixing and chosen != "nuts":
        raise BadInput(f"{mechanism.name} draws no chains here: leave out `accept_poor_mixing`.")
    if isinstance(mechanism, Anchored) and mechanism.anchor is not None and built is not None:
        check_theta(dict(mechanism.anchor), built)
    source = Source(seed)
    with stage(progress, "Reading"):
        frame, called = frame_of(table), name_of(table, "the table")
        columns = encode(frame, schema, name=called)
        refuse_repeated_ids(frame, schema, name=called)
        check_table(schema.rules, columns, name=called)
        separate = None
        if predictors is not None:
            name = name_of(predictors, "the predictors")
            separate = encode(frame_of(predictors), schema, roles=(Role.PUBLIC,), name=name)
    known = getattr(getattr(mechanism, "reference", None), "fingerprint", None)
    if known is not None and known.fits(columns, schema):
        raise Refused(
            "the reference is the confidential table itself, so what is learned from it is "
            "learned from the table: use another one."
        )
    plan = skeleton_for(schema, columns, mechanism.adjacency, rows=rows, separate=separate)
    check_satisfiable(schema, plan.public)
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
    draw, planned = prepare_draw(job)
    return Prepared(job, draw, planned.cost)


def frame_of(table: pd.DataFrame | str | Path) -> pd.DataFrame:
    """Return a table that may be in a file."""
    return read(table) if isinstance(table, str | Path) else table


def name_of(table: pd.DataFrame | str | Path, otherwise: str) -> str:
    """Return what sentences call a table: its file, or else its part in the work."""
    return str(table) if isinstance(table, str | Path) else otherwise
