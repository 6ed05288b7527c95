"""`understudy demo`: a synthesis of the embedded survey."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from understudy.cli.options import Force, Quiet, Seed, say_where
from understudy.errors import BadInput

_MARK = "demo"
"""What the diagnostics of a demo hold and those of no other release."""


def demo(
    out: Annotated[
        Path | None, typer.Option(help="Directory to write; default: understudy-demo.")
    ] = None,
    seed: Seed = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Synthesise the embedded, simulated survey of doctorate recipients.

    An earlier demo is made again in the same place. A release that was charged to a ledger is never
    replaced.
    """
    from understudy import data
    from understudy.domain.schema import Schema
    from understudy.mechanisms import Summary
    from understudy.models.formula import formula
    from understudy.support.progress import shown, stage
    from understudy.synthesis.release import check_destination
    from understudy.synthesis.run import synthesize

    schema = Schema.load(data.survey_schema())
    destination = out or Path("understudy-demo")
    replace = _may_replace(destination, force=force)
    check_destination(destination, force=replace)
    with shown(quiet=quiet) as progress:
        with stage(progress, "Model"):
            model = formula("salary ~ gender + age + weeks", family="beta", schema=schema)
        release = synthesize(
            model, data.survey_table(), Summary(epsilon=1.0), seed=seed, progress=progress
        )
        release.internal.diagnostics[_MARK] = True
        with stage(progress, "Writing"):
            release.write(destination, force=replace)
    if not quiet:
        typer.echo("The demo's survey is simulated: no record in it belongs to a person.\n")
        say_where(destination, release)


def _may_replace(destination: Path, *, force: bool) -> bool:
    """Whether what is in a place may be replaced: an earlier demo, or by force what cost nothing.

    A demo is known by its mark, not by its schema, which is installed for everybody to use.
    """
    from understudy.synthesis.release import held

    guarantee = held(destination, "public/guarantee.json")
    if guarantee.get("charged") is not None:
        raise BadInput(
            f"'{destination}' holds a release that was charged to a ledger, which a demo never "
            f"replaces: choose another `out`."
        )
    made_here = held(destination, "internal/diagnostics.json").get(_MARK) is True
    return force or (made_here and "charged" in guarantee)
