"""`understudy calibrate` and `understudy release`: settle once, release every period."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from understudy.cli.options import Exit, Quiet, SchemaFile, tell
from understudy.errors import BadInput
from understudy.privacy.rounding import plain


def calibrate(
    reference: Annotated[
        Path, typer.Argument(metavar="REFERENCE", help="Table to choose the settings on.")
    ],
    reference_is: Annotated[
        str, typer.Option(help="What the reference is: public or confidential.")
    ],
    schema: SchemaFile,
    population: Annotated[
        str, typer.Option(help="Who is protected, in the words of their ledger.")
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="Policy to write, such as POLICY.toml.")],
    model: Annotated[
        str | None, typer.Option(help="As for synthesize; without one, only ph is tried.")
    ] = None,
    family: Annotated[str | None, typer.Option(help="Family of a formula.")] = None,
    prior: Annotated[list[str] | None, typer.Option(help="Prior of a formula's parameter.")] = None,
    epsilon: Annotated[
        float | None, typer.Option(help="ε of each period; default: a choice among 0.1 to 5.")
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(help="Accuracy to reach, such as max_ecdf=0.03, with the smallest ε."),
    ] = None,
    mechanism: Annotated[
        list[str] | None,
        typer.Option(help="anchored, censor-uw, censor-w or ph; repeat for several. Default: all."),
    ] = None,
    adjacency: Annotated[str, typer.Option(help="add-remove or replace-one.")] = "add-remove",
    rows: Annotated[
        int | None, typer.Option(help="Rows of each release; default: the declared size.")
    ] = None,
    budget: Annotated[
        float | None, typer.Option(help="Budget of the ledger; default: ε times the periods.")
    ] = None,
    periods: Annotated[int, typer.Option(help="Periods that the budget pays for.")] = 12,
    draws: Annotated[int, typer.Option(help="Draws at each setting.")] = 5,
    seed: Annotated[int, typer.Option(help="Seed of the trials; nothing is released.")] = 0,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite the policy and its files.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Choose mechanism and settings on a reference table, and write a policy.

    POLICY.toml may be shared. POLICY.reference.json, by which release recognises the reference and
    refuses it, is written beside it and stays inside.
    """
    from understudy.periods.calibration import calibrate as run
    from understudy.periods.policy import reference_file
    from understudy.support.progress import shown

    if out.suffix != ".toml":
        raise BadInput(f"the policy must be a .toml file, and '{out}' is not.")
    for path in (out, out.with_suffix(".html"), reference_file(out)):
        if path.exists() and not force:
            raise BadInput(f"'{path}' exists already: name another policy, or add --force.")
    place = out.absolute().parent
    if not place.is_dir():
        raise BadInput(f"there is no directory '{out.parent}' for the policy.")
    if not os.access(place, os.W_OK | os.X_OK):
        raise BadInput(f"nothing can be written to '{place}': choose another directory.")
    with shown(quiet=quiet) as progress:
        found = run(
            reference,
            reference_is=reference_is,
            schema=schema,
            beside=place,
            model=model,
            family=family,
            priors=prior or (),
            epsilon=epsilon,
            target=target,
            mechanisms=mechanism,
            adjacency=adjacency,
            rows=rows,
            population=population,
            budget=budget,
            periods=periods,
            draws=draws,
            seed=seed,
            progress=progress,
        )
        page = found.write(out)
    if not quiet:
        from understudy.periods.calibration.words import cost

        if reference_is == "confidential":
            typer.echo("CONFIDENTIAL: accuracy computed from the reference; do not publish it.")
        shared, inside = [out], [reference_file(out)]
        (inside if reference_is == "confidential" else shared).append(page)
        typer.echo(
            f"{found.chosen.setting} at ε = {plain(found.policy.epsilon)}: {cost(found.chosen)}.\n"
            f"Policy: {out}\nRisk and utility: {page}\n"
            f"May be shared: {', '.join(map(str, shared))}\n"
            f"Stays inside: {', '.join(map(str, inside))}"
        )


def release(
    table: Annotated[Path, typer.Argument(metavar="DATA", help="Confidential table.")],
    policy: Annotated[Path, typer.Option(help="Policy that calibrate wrote.")],
    period: Annotated[str, typer.Option(help="Period of the table, such as 2026-02.")],
    ledger: Annotated[str, typer.Option(help="Ledger to charge before anything is drawn.")],
    out: Annotated[Path, typer.Option(help="Directory to write the release to.")],
    model: Annotated[
        str | None,
        typer.Option(
            help="The policy's model again, if it is in a file: path/to/file.py:function."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be spent, and do nothing.")
    ] = False,
    parquet: Annotated[bool, typer.Option("--parquet", help="Write Parquet beside CSV.")] = False,
    quiet: Quiet = False,
) -> None:
    """Release one period under a policy, charged to a ledger.

    Nothing that a policy names is executed: a model in a Python file has to be named with --model,
    and runs only if it is the file that the policy was calibrated with.
    """
    from understudy.periods.pending import PendingRelease
    from understudy.support.progress import shown, stage
    from understudy.synthesis.release import check_destination

    check_destination(out, force=None)
    with shown(quiet=quiet) as progress:
        issue = PendingRelease.of(policy, period, ledger, model=model, progress=progress)
        if dry_run:
            quote = issue.quote(table, progress=progress)
        else:
            made = issue.release(table, destination=out, progress=progress)
            with stage(progress, "Writing"):
                made.write(out, parquet=parquet)
    if dry_run:
        typer.echo(str(quote))
        raise typer.Exit(Exit.DONE if quote.fits else Exit.REFUSED)
    from understudy.ledger.statement import statement_of

    year = statement_of(issue.ledger)
    if not quiet:
        tell(
            f"{made.guarantee.headline}\n\nRelease: {out}\n"
            f"Left in the ledger: ε = {plain(year.left)}"
        )
    if year.warning is not None:
        typer.echo(year.warning, err=True)
