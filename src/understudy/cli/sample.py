"""`understudy sample`: more rows from a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from understudy.cli.options import Balanced, Memory, Quiet, check_new, tell


def sample(
    public: Annotated[
        Path,
        typer.Argument(
            metavar="DIR/public",
            help="The public directory of a release, or one of several parameter files in it.",
        ),
    ],
    rows: Annotated[int, typer.Option(help="Rows to draw.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="File to write: .csv or .parquet.")],
    predictors: Annotated[
        Path | None, typer.Option(help="Public predictor rows; default: those of the release.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="path/to/file.py:function, if the release was made with it.")
    ] = None,
    balanced: Balanced = False,
    memory: Memory = "1GiB",
    seed: Annotated[int | None, typer.Option(help="Fix the randomness.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    quiet: Quiet = False,
) -> None:
    """Draw more rows from a release: free, and without the confidential table."""
    from understudy.domain import tables
    from understudy.support.files import written_atomically
    from understudy.support.progress import shown, stage
    from understudy.synthesis import simulation
    from understudy.synthesis.large import in_batches

    tables.check_writable(out)
    check_new(out, force=force, what="file")
    with shown(quiet=quiet) as progress, stage(progress, "Sampling"):
        table = simulation.sample_large(
            public,
            rows=rows,
            predictors=predictors,
            model=model,
            balanced=balanced,
            seed=seed,
            memory=memory,
        )
        with written_atomically(out) as file:
            tables.write_all(in_batches(table), file)
    if not quiet:
        tell(f"{rows:,} rows written to {out}, at no further cost.")
