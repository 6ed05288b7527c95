"""`understudy audit`: try to break a mechanism's claim."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from understudy.cli.options import Exit, Quiet
from understudy.errors import BadInput


def audit(
    mechanism: Annotated[str, typer.Option(help="Mechanism to break.")],
    epsilon: Annotated[float, typer.Option(help="ε that was asked for.")],
    model: Annotated[str, typer.Option(help="beta.")] = "beta",
    adjacency: Annotated[str, typer.Option(help="add-remove or replace-one.")] = "add-remove",
    n: Annotated[int, typer.Option(help="Records of the simulated table.")] = 2000,
    record_weights: Annotated[
        bool,
        typer.Option("--record-weights", help="censor-w: weights from a simulated reference."),
    ] = False,
    rows_per_unit: Annotated[
        int, typer.Option(help="Rows of each person; neighbours then differ by a person.")
    ] = 1,
    no_unit: Annotated[
        bool, typer.Option("--no-unit", help="Take each of a person's rows for a record.")
    ] = False,
    figure: Annotated[
        Path | None, typer.Option(help="SVG file for a picture of the two posteriors.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    quiet: Quiet = False,
) -> None:
    """Search for neighbouring tables that a mechanism tells apart by more than ε.

    Runs on simulated tables. The exit code is 1 if more than the ε asked for was found.
    """
    from understudy.audit import run
    from understudy.mechanisms import make_mechanism
    from understudy.support.files import check_place, written_atomically
    from understudy.support.progress import shown, stage

    if model != "beta":
        raise BadInput(f"the audit on a grid serves the beta model, not '{model}'.")
    if no_unit and rows_per_unit == 1:
        raise BadInput("--no-unit means nothing without --rows-per-unit: give both.")
    if figure is not None:
        check_place(figure)
    chosen = make_mechanism(mechanism, epsilon=epsilon, adjacency=adjacency)
    with shown(quiet=quiet or as_json) as progress, stage(progress, "Audit"):
        if record_weights:
            chosen = run.with_record_weights(chosen)
        result = run.audit(
            chosen,
            n=n,
            adjacency=adjacency,
            epsilon=epsilon,
            rows_per_unit=rows_per_unit,
            unit=not no_unit,
        )
        if figure is not None:
            with written_atomically(figure) as file:
                file.write_text(result.figure(), encoding="utf-8")
    if as_json or not quiet:
        typer.echo(json.dumps(result.to_dict(), indent=2) if as_json else str(result))
    raise typer.Exit(Exit.VIOLATION if result.exceeds else Exit.DONE)
