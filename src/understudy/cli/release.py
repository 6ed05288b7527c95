"""`understudy release`: one period under a policy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from understudy.cli.options import Exit, Memory, Parquet, Quiet, tell, warn
from understudy.privacy.rounding import plain


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
    memory: Memory = "1GiB",
    parquet: Parquet = False,
    quiet: Quiet = False,
) -> None:
    """Release one period under a policy, charged to a ledger.

    Nothing that a policy names is executed: a model in a Python file has to be named with --model,
    and runs only if it is the file that the policy was calibrated with.

    The θ of the period before says where to begin, and nothing about the answer: what that release
    knew is not carried over as a prior (--carry of synthesize), because θ may have changed.
    """
    from understudy.periods.pending import PendingRelease
    from understudy.support.progress import shown, stage
    from understudy.synthesis.release import check_destination

    check_destination(out, force=None)
    with shown(quiet=quiet) as progress:
        pending = PendingRelease.of(
            policy, period, ledger, model=model, memory=memory, progress=progress
        )
        if dry_run:
            quote = pending.quote(table, progress=progress)
        else:
            made = pending.release(table, destination=out, progress=progress)
            with stage(progress, "Writing"):
                made.write(out, parquet=parquet)
    if dry_run:
        typer.echo(str(quote))
        raise typer.Exit(Exit.DONE if quote.fits else Exit.REFUSED)
    from understudy.ledger.statement import statement_of

    statement = statement_of(pending.ledger)
    if not quiet:
        warn(made)
        tell(
            f"{made.guarantee.headline}\n\nRelease: {out}\n"
            f"Left in the ledger: ε = {plain(statement.left)}"
        )
    if statement.warning is not None:
        typer.echo(statement.warning, err=True)
