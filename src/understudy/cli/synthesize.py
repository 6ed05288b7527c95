"""`understudy synthesize`: a table, a model and a mechanism in, a release out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from understudy.cli.options import (
    Balanced,
    Data,
    Family,
    Force,
    Memory,
    Parquet,
    Prior,
    Quiet,
    Scheduler,
    SchemaFile,
    Seed,
    load,
    say_where,
)
from understudy.errors import BadInput

if TYPE_CHECKING:
    from understudy.mechanisms import Mechanism
    from understudy.models.base import Model
    from understudy.synthesis.release import Release


def synthesize(
    table: Data,
    schema: SchemaFile,
    out: Annotated[Path, typer.Option(help="Directory to write the release to.")],
    model: Annotated[
        str | None,
        typer.Option(
            help="beta, joint (or joint:first,second,...), mixture, a formula such as "
            "'salary ~ gender + age', or path/to/file.py:function; ph needs none."
        ),
    ] = None,
    family: Family = None,
    prior: Prior = None,
    mechanism: Annotated[
        str,
        typer.Option(
            help="summary, anchored, censor-uw, censor-w, ph, weighted-e, weighted or unweighted."
        ),
    ] = "summary",
    epsilon: Annotated[
        float | None, typer.Option(help="ε; needed except by unweighted and weighted.")
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option(help="summary: δ at which ε holds, with normal noise; default: pure ε."),
    ] = None,
    adjacency: Annotated[
        str, typer.Option(help="What ε protects against: add-remove or replace-one.")
    ] = "add-remove",
    rows: Annotated[
        int | None,
        typer.Option(
            help="Rows of a table; default: the declared size, and ten times as many with several "
            "tables of summary, for understudy pool."
        ),
    ] = None,
    c1: Annotated[float | None, typer.Option(help="Scale of the weights; default 1.")] = None,
    c2: Annotated[float | None, typer.Option(help="Shift of the weights; default 0.")] = None,
    bins: Annotated[
        str | None, typer.Option(help="ph: sqrt (default) or ln of the declared size, or a number.")
    ] = None,
    reference: Annotated[
        Path | None,
        typer.Option(help="Another table (or an earlier parameters.json) to learn from."),
    ] = None,
    reference_is: Annotated[
        str | None, typer.Option(help="What the reference is: public or confidential.")
    ] = None,
    anchor: Annotated[
        Path | None, typer.Option(help="summary, anchored: parameters.json of an earlier release.")
    ] = None,
    carry: Annotated[
        bool,
        typer.Option(
            "--carry",
            help="summary: what the anchor's release knew is the prior, which assumes that θ has "
            "not changed and that the two tables tell of it independently; not under a policy.",
        ),
    ] = False,
    threshold: Annotated[
        float | None, typer.Option(help="anchored: T of the last stage; default 1 to 2.5.")
    ] = None,
    stages: Annotated[int | None, typer.Option(help="anchored: number of stages.")] = None,
    growth: Annotated[
        float | None, typer.Option(help="anchored: growth of the weight from stage to stage.")
    ] = None,
    candidates: Annotated[
        int | None, typer.Option(help="anchored: candidates of an exact draw.")
    ] = None,
    predictors: Annotated[
        Path | None, typer.Option(help="Public predictor rows for the synthetic table.")
    ] = None,
    sampler: Annotated[
        str,
        typer.Option(
            help="anchored, censor-uw: auto, exact (up to 10 parameters) or nuts; summary has none."
        ),
    ] = "auto",
    tables: Annotated[
        int, typer.Option(help="Tables to draw: free with summary, else each costs ε.")
    ] = 1,
    balanced: Balanced = False,
    ledger: Annotated[
        str | None, typer.Option(help="Ledger to charge before anything is drawn.")
    ] = None,
    memory: Memory = "1GiB",
    scheduler: Scheduler = None,
    parquet: Parquet = False,
    seed: Seed = None,
    accept_poor_mixing: Annotated[
        bool,
        typer.Option(
            "--accept-poor-mixing",
            help="Release even if the chains have not converged; the guarantee will say so.",
        ),
    ] = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Synthesise a table and write the release and its guarantee."""
    from understudy.domain.schema import Schema
    from understudy.mechanisms import make_mechanism
    from understudy.support.progress import shown, stage
    from understudy.synthesis import run
    from understudy.synthesis.release import check_destination

    chosen = make_mechanism(
        mechanism,
        epsilon=epsilon,
        delta=delta,
        adjacency=adjacency,
        c1=c1,
        c2=c2,
        bins=bins,
        threshold=threshold,
        stages=stages,
        growth=growth,
        candidates=candidates,
    )
    confidential = _check_reference(chosen, reference, reference_is, anchor, carry=carry)
    declared = Schema.load(schema)
    check_destination(out, force=force)
    if model is None and chosen.needs_model:
        raise BadInput(f"the mechanism {mechanism} needs `model`.")
    with shown(quiet=quiet) as progress:
        built = load(model, declared, family, prior, progress)
        if built is not None and anchor is not None:
            chosen = _anchored(chosen, anchor, built, carry=carry)
        if built is not None and reference is not None:
            from understudy.mechanisms.reference import reference as learn

            learned = learn(
                built, reference, confidential=confidential, seed=seed, progress=progress
            )
            chosen = replace(chosen, reference=learned)  # type: ignore[call-arg]
        release = run.synthesize(
            built or declared,
            table,
            chosen,
            rows=rows,
            tables=tables,
            balanced=balanced,
            predictors=predictors,
            sampler=sampler,
            ledger=ledger,
            label=out.name or "release",
            destination=out,
            seed=seed,
            accept_poor_mixing=accept_poor_mixing,
            memory=memory,
            scheduler=scheduler,
            progress=progress,
        )
        with stage(progress, "Writing"):
            release.write(out, force=force, parquet=parquet)
    if not quiet:
        _say(out, release, chosen, asked=rows)


def _anchored(mechanism: Mechanism, anchor: Path, model: Model, *, carry: bool) -> Mechanism:
    """Return the mechanism anchored at an earlier release, with what that knew if asked to."""
    from understudy.mechanisms.published import read_anchor, read_draws

    known: Any = {"anchor": read_anchor(anchor, model)}
    if carry:
        known["carried"] = read_draws(anchor, model)
    return replace(mechanism, **known)


def _say(directory: Path, release: Release, mechanism: Mechanism, *, asked: int | None) -> None:
    """Say what is guaranteed and where, and why there are many rows where nobody asked for them."""
    from understudy.domain.schema import Schema
    from understudy.synthesis.preparation import TIMES, to_be_combined

    published, tables = release.parameters[0], len(release.tables)
    schema, balanced = Schema.from_dict(published["schema"]), published["balanced"]
    if asked is None and to_be_combined(mechanism, schema, tables=tables, balanced=balanced):
        typer.echo(
            f"Each of the {tables} tables has {release.guarantee.rows:,} rows, "
            f"{TIMES} times the size, so that 'understudy pool' can tell what is not known about "
            f"the population from the chance of invented rows; --rows asks for another number.",
            err=True,
        )
    say_where(directory, release)


def _check_reference(
    mechanism: object,
    reference: Path | None,
    reference_is: str | None,
    anchor: Path | None,
    *,
    carry: bool,
) -> bool:
    """Return whether the reference is confidential, and refuse what does not go together."""
    options = {"reference": reference, "anchor": anchor}
    for name, given in options.items():
        if given is not None and not hasattr(mechanism, name):
            raise BadInput(f"`{name}` means nothing to this mechanism: leave it out.")
    if reference is not None and reference_is is None:
        raise BadInput(
            "whether `reference` is public or confidential decides what is promised: say which "
            "with `reference_is`."
        )
    if reference is None and reference_is is not None:
        raise BadInput("`reference_is` means nothing without a table: name it with `reference`.")
    if carry and (anchor is None or not hasattr(mechanism, "carried")):
        raise BadInput("`carry` is for summary with an `anchor`: leave it out, or give one.")
    if reference is not None and anchor is not None:
        raise BadInput("an anchor and a reference were both given: leave out one of them.")
    if reference_is not in (None, "public", "confidential"):
        raise BadInput(f"`reference_is` must be public or confidential, not '{reference_is}'.")
    return reference_is == "confidential"
