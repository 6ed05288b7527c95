"""`understudy audit`: try to break a mechanism's claim."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from understudy.cli.options import Exit, Family, Prior, Quiet, load
from understudy.errors import BadInput


def audit(
    mechanism: Annotated[str, typer.Option(help="Mechanism to break.")],
    epsilon: Annotated[float, typer.Option(help="ε that was asked for.")],
    model: Annotated[
        str | None,
        typer.Option(
            help="summary: any model that synthesize takes; by default beta, on [0, 1] without "
            "--schema."
        ),
    ] = None,
    schema: Annotated[
        Path | None, typer.Option(help="summary: schema that declares the domain to search.")
    ] = None,
    family: Family = None,
    prior: Prior = None,
    adjacency: Annotated[str, typer.Option(help="add-remove or replace-one.")] = "add-remove",
    n: Annotated[int, typer.Option(help="Records of the simulated tables.")] = 2000,
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
        Path | None, typer.Option(help="SVG file for a picture of both posteriors, or noisy sums.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    quiet: Quiet = False,
) -> None:
    """Search for neighbouring tables that a mechanism tells apart by more than ε.

    Runs on simulated tables. Of a mechanism that draws parameters it compares posteriors, with the
    beta model. Of summary, with any model, it searches the declared domain for the record that
    moves the sums most, computes the sums again bit for bit with it and without, and compares what
    the noise then tells with the claim, exactly. The exit code is 1 if more than the ε asked for
    was found.
    """
    from understudy.audit import run
    from understudy.domain.schema import Schema
    from understudy.mechanisms import make_mechanism
    from understudy.support.files import check_place, written_atomically
    from understudy.support.progress import shown, stage

    if no_unit and rows_per_unit == 1:
        raise BadInput("--no-unit means nothing without --rows-per-unit: give both.")
    if figure is not None:
        check_place(figure)
    chosen = make_mechanism(mechanism, epsilon=epsilon, adjacency=adjacency)
    if model not in (None, "beta") or schema is not None:
        run.check_takes_models(chosen)
    _check_model(model, schema, family, prior)
    with shown(quiet=quiet or as_json) as progress:
        declared = None if schema is None else Schema.load(schema)
        built = None if declared is None else load(model, declared, family, prior, progress)
        with stage(progress, "Audit"):
            if record_weights:
                chosen = run.with_record_weights(chosen)
            result = run.audit(
                chosen,
                n=n,
                adjacency=adjacency,
                epsilon=epsilon,
                rows_per_unit=rows_per_unit,
                unit=not no_unit,
                model=built,
            )
        if figure is not None:
            with written_atomically(figure) as file:
                file.write_text(result.figure(), encoding="utf-8")
    if as_json or not quiet:
        typer.echo(json.dumps(result.to_dict(), indent=2) if as_json else str(result))
    raise typer.Exit(Exit.VIOLATION if result.exceeds else Exit.DONE)


def _check_model(
    model: str | None, schema: Path | None, family: str | None, prior: list[str] | None
) -> None:
    """Refuse a model without the schema that it is of, and the other way round."""
    if schema is not None and model is None:
        raise BadInput("`schema` declares the columns of a model: name it with `model`.")
    if schema is None and (family is not None or prior):
        raise BadInput("`family` and `prior` belong to a formula, which needs `schema`.")
    if schema is None and model not in (None, "beta"):
        raise BadInput(f"the model '{model}' needs `schema`; without, beta on [0, 1] is audited.")
