"""`understudy demo`: a synthesis of the embedded survey."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from understudy.cli.options import Force, Quiet, Seed, say_where


def demo(
    out: Annotated[
        Path | None, typer.Option(help="Directory to write; default: understudy-demo.")
    ] = None,
    seed: Seed = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Synthesise the embedded, simulated survey of doctorate recipients."""
    from understudy import data
    from understudy.domain.schema import Schema
    from understudy.mechanisms import Summary
    from understudy.models.formula import formula
    from understudy.support.progress import shown, stage
    from understudy.synthesis.release import check_destination, released_schema
    from understudy.synthesis.run import synthesize

    schema = Schema.load(data.survey_schema())
    destination = out or Path("understudy-demo")
    # An earlier demo holds nothing confidential and may be made again; another release may not.
    replace = force or released_schema(destination) == schema.digest
    check_destination(destination, force=replace)
    with shown(quiet=quiet) as progress:
        with stage(progress, "Model"):
            model = formula("salary ~ gender + age + weeks", family="beta", schema=schema)
        release = synthesize(
            model, data.survey_table(), Summary(epsilon=1.0), seed=seed, progress=progress
        )
        with stage(progress, "Writing"):
            release.write(destination, force=replace)
    if not quiet:
        typer.echo("The demo's survey is simulated: no record in it belongs to a person.\n")
        say_where(destination, release.guarantee.headline)
