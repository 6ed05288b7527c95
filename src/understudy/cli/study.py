"""`understudy study`: the paper's simulation and its application, beside its printed numbers."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from understudy.cli.options import Quiet

app = typer.Typer(
    help="Reproduce the paper's simulation study; 'study application' its application.",
    invoke_without_command=True,
)

Out = Annotated[
    Path, typer.Option(help="Directory to write; a study application there is resumed.")
]
Seed = Annotated[int, typer.Option(help="The one seed from which all others derive.")]

OUT = Path("understudy-study")
SEED = 2026


@app.callback()
def study(
    context: typer.Context,
    replicates: Annotated[int, typer.Option(help="Simulated tables.")] = 100,
    seed: Seed = SEED,
    workers: Annotated[
        int | None, typer.Option(help="Processes on this machine; default: one for each core.")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, such as tcp://host:8786.")
    ] = None,
    sampler: Annotated[str, typer.Option(help="quadrature or nuts.")] = "quadrature",
    out: Out = OUT,
    quiet: Quiet = False,
) -> None:
    """Reproduce the paper's simulation: tables, figures and one page beside its numbers."""
    if context.invoked_subcommand is not None:
        return
    from understudy.study.page import write_outputs
    from understudy.study.run import StudySettings, run_study
    from understudy.support.progress import shown, stage

    started = time.monotonic()
    with shown(quiet=quiet) as progress:
        results = run_study(
            out,
            replicates=replicates,
            seed=seed,
            sampler=sampler,
            workers=workers,
            scheduler=scheduler,
            progress=progress,
        )
        with stage(progress, "Tables and figures"):
            settings = asdict(StudySettings(seed=seed, sampler=sampler)) | {
                "replicates": replicates
            }
            write_outputs(results, settings, out)
    if not quiet:
        took = time.monotonic() - started
        typer.echo(
            f"{replicates} replicates, with tables and figures, in {took:.0f} s.\n\n"
            f"page     {out / 'index.html'}\n"
            f"numbers  {out / 'results.parquet'}"
        )


@app.command()
def application(
    data: Annotated[
        str | None,
        typer.Option(
            help="epsd17 file of the Survey of Doctorate Recipients 2017, or 'cps'; default: the "
            "embedded, simulated survey."
        ),
    ] = None,
    seed: Seed = SEED,
    out: Out = OUT,
    quiet: Quiet = False,
) -> None:
    """Reproduce the paper's application to the Survey of Doctorate Recipients."""
    from understudy.study.application import run_application
    from understudy.study.application_output import as_text
    from understudy.study.page import write_index
    from understudy.support.progress import shown

    with shown(quiet=quiet) as progress:
        application = run_application(data, out, seed=seed, progress=progress)
        write_index(out)
    if not quiet:
        typer.echo(f"{as_text(application, out / 'application')}\n\npage  {out / 'index.html'}")
